/**
 * Differences that a change did not make: values that differ whenever a run is repeated, and values that depend on the
 * time or on n8n's state. The version before the change, replayed twice, shows them. Pure.
 *
 * 1. A value at a path of a node is **volatile** if it differs between two replays of the version before the change.
 * 2. A volatile value is the same if it has the shape of that version's values: those of the record and of its replays.
 * 3. A difference is **stale** if the version before the change, replayed, differs from the record in exactly the same way.
 * 4. What is learned of values in sampled runs counts in the others too, but not what the change made in a sampled run;
 *    of anything else than values (counts, order, failures), only the run's own replays say something.
 */
import * as Shape from "../../base/Shape.ts"
import type * as RunComparison from "./RunComparison.ts"
import { type Difference, type Kind, parseIgnored, restPath } from "./runDifferences.ts"

type Differences = ReadonlyArray<Difference>

/** Knowledge from sampled runs, by node, path and aspect. */
export interface Learned {
  /** Shapes of the values of volatile paths; `undefined` where only presence, type or another aspect differs. */
  readonly volatile: ReadonlyMap<string, Shape.Shape | undefined>
  readonly stale: ReadonlySet<string>
  /** Differences that the change made in a sampled run, which therefore are never stale. */
  readonly real: ReadonlySet<string>
}

export const empty: Learned = { volatile: new Map(), stale: new Set(), real: new Set() }

/** Differences of one recorded run and replays of the version before the change. */
export interface Base {
  /** Of the record and a replay. */
  readonly first: Differences
  /** Of two replays. */
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

const valueKey = (difference: Difference) => key({ ...difference, isRetyped: false })

const shapesBy = (all: ReadonlyArray<readonly [string, Shape.Shape | undefined]>) => {
  const shapes = new Map<string, Shape.Shape | undefined>()
  for (const [name, shape] of all) {
    shapes.set(name, shape === undefined ? shapes.get(name) : Shape.merge(shape, shapes.get(name)))
  }
  return shapes
}

/** Shapes of what differs between two replays, with those of the record. */
const volatileOf = ({ first, second }: Base) => {
  const shapes = shapesBy(
    second.flatMap((each) => {
      const shape = each.shapes && Shape.merge(each.shapes.before, each.shapes.after)
      return [[key(each), shape] as const, [valueKey(each), shape] as const]
    })
  )
  for (const each of first) {
    const name = valueKey(each)
    const shape = shapes.get(name)
    if (shape === undefined || each.shapes === undefined) continue
    shapes.set(name, Shape.merge(Shape.merge(shape, each.shapes.before), each.shapes.after))
  }
  return shapes
}

/** Whether the changed version differs from the record exactly as the base does. */
const isSame = (one: Difference, other: Difference | undefined) =>
  other !== undefined && one.kind === other.kind && one.count === other.count && one.digest === other.digest &&
  (one.isRetyped === true) === (other.isRetyped === true)

/** Volatile and stale values, by which a comparison must not recognize items. */
export const unstable = ({ real, stale, volatile }: Learned): ReadonlyArray<RunComparison.Ignored> =>
  [...volatile.keys(), ...[...stale].filter((name) => !real.has(name))].flatMap((name) => {
    const [node, path, aspect]: ReadonlyArray<string> = JSON.parse(name)
    const steps = aspect === "altered" && path !== undefined ? parseIgnored(path)?.steps : undefined
    return node === undefined || steps === undefined ? [] : [{ node, steps }]
  })

/** Whether a difference is one of a volatile path, and its values have the shape that they had. */
const isVolatile = (volatile: Learned["volatile"], difference: Difference) => {
  const name = key(difference)
  if (!volatile.has(name)) return false
  const known = volatile.get(name)
  const { shapes } = difference
  return known === undefined || shapes === undefined ||
    Shape.includes(Shape.merge(known, shapes.before), shapes.after)
}

const classify = (changed: Differences, base: Base) => {
  const volatile = volatileOf(base)
  const first = new Map(base.first.map((each) => [`${each.kind} ${key(each)}`, each]))
  return changed.map((difference) => ({
    difference,
    as: isVolatile(volatile, difference)
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
    volatile: shapesBy([...learned.volatile, ...volatileOf(base)]),
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
    if (isVolatile(learned.volatile, difference)) return { difference, as: "volatile" as const }
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
