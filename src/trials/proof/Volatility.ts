/**
 * Differences that a change did not make: values that differ whenever a run is repeated, and values that depend on the
 * time or on n8n's state. The version that ran then, replayed twice, shows them. Pure.
 */
import { type Difference, type Kind, parseIgnored, restPath } from "./differences.ts"
import type * as RunComparison from "./RunComparison.ts"

type Differences = ReadonlyArray<Difference>

/**
 * Knowledge from sampled runs, by node, path and aspect: `volatile` ones differ between two replays of one version;
 * `stale` ones differ from the record in every replay, and were the same in the replay of the changed version.
 */
export interface Learned {
  readonly volatile: ReadonlySet<string>
  readonly stale: ReadonlySet<string>
  /** Differences that the change made in a sampled run, which therefore are never stale. */
  readonly real: ReadonlySet<string>
}

export const empty: Learned = { volatile: new Set(), stale: new Set(), real: new Set() }

/** Differences of one recorded run and replays of the version that ran then. */
export interface Base {
  readonly first: Differences
  readonly second: Differences
}

/** Ignored path of a node, with the reason unless it is volatile. */
export interface Ignored {
  readonly node: string
  readonly path: string
  readonly why?: string
}

export const staleReason = "differs from the record without the change too"

/** Kinds that are the two directions of one aspect. */
const aspects: { readonly [kind in Kind]?: string } = {
  added: "presence",
  removed: "presence",
  ran: "run",
  notRun: "run",
  failed: "end",
  succeeded: "end"
}

const isValue = ({ kind, path }: Difference) =>
  (kind === "altered" || kind === "added" || kind === "removed") && path !== restPath

const key = ({ isRetyped, kind, node, path }: Difference) =>
  JSON.stringify([node, path, isRetyped === true ? "type" : aspects[kind] ?? kind])

const keys = (differences: Differences) =>
  new Set(differences.flatMap((each) => [key(each), key({ ...each, isRetyped: false })]))

/** Whether the changed version differs from the record exactly as the base does. */
const isSame = (one: Difference, other: Difference | undefined) =>
  other !== undefined && one.kind === other.kind && one.count === other.count && one.digest === other.digest &&
  (one.isRetyped === true) === (other.isRetyped === true)

/** Volatile and stale values, by which a comparison must not recognize items. */
export const unstable = ({ real, stale, volatile }: Learned): ReadonlyArray<RunComparison.Ignored> =>
  [...volatile, ...[...stale].filter((name) => !real.has(name))].flatMap((name) => {
    const [node, path, aspect]: ReadonlyArray<string> = JSON.parse(name)
    const steps = aspect === "altered" && path !== undefined ? parseIgnored(path)?.steps : undefined
    return node === undefined || steps === undefined ? [] : [{ node, steps }]
  })

const classify = (changed: Differences, base: Base) => {
  const volatile = keys(base.second)
  const first = new Map(base.first.map((each) => [`${each.kind} ${key(each)}`, each]))
  return changed.map((difference) => ({
    difference,
    as: volatile.has(key(difference))
      ? "volatile" as const
      : isSame(difference, first.get(`${difference.kind} ${key(difference)}`))
      ? "stale" as const
      : "real" as const
  }))
}

/** Learns from a sampled run: the differences of its record and the changed version, and those of the base. */
export const learn = (learned: Learned, changed: Differences, base: Base): Learned => {
  const all = classify(changed, base)
  const as = (what: (typeof all)[number]["as"]) => all.flatMap((each) => each.as === what ? [key(each.difference)] : [])
  return {
    volatile: new Set([...learned.volatile, ...keys(base.second)]),
    stale: new Set([...learned.stale, ...as("stale")]),
    real: new Set([...learned.real, ...as("real")])
  }
}

/** Separates the real differences of a record and the changed version, by the run's own base if it was sampled. */
export const judge = (learned: Learned, changed: Differences, base?: Base) => {
  const own = base === undefined ? undefined : classify(changed, base)
  const all = changed.map((difference, index) => {
    const as = own?.[index]?.as ?? "real"
    const name = key(difference)
    if (as !== "real" || !isValue(difference)) return { difference, as }
    // In a sampled run, a volatile value may have been equal twice by chance; a stale one cannot.
    if (learned.volatile.has(name)) return { difference, as: "volatile" as const }
    const isStale = own === undefined && learned.stale.has(name) && !learned.real.has(name)
    return { difference, as: isStale ? "stale" as const : as }
  })
  const real = all.flatMap(({ as, difference }) => as === "real" ? [difference] : [])
  return {
    real,
    ignored: all.flatMap(({ as, difference }) => {
      const { kind, node, path } = difference
      const what = isValue(difference) && path !== "" ? path : [path, kind].filter(Boolean).join(" ")
      return as === "real" ? [] : [{ node, path: what, ...(as === "stale" ? { why: staleReason } : {}) }]
    }),
    isWorthSampling: base === undefined &&
      real.some((each) => learned.volatile.has(key(each)) || learned.stale.has(key(each)))
  }
}
