/** Differences of many runs, equal ones as one group, the cause first. Pure. */
import * as Schema from "effect/Schema"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import { merged } from "./RunComparison.ts"
import type { Difference } from "./runDifferences.ts"
import type { Ignored } from "./Volatility.ts"

/** Replayed run with its real differences. */
export interface Run {
  readonly execution: string
  readonly order: ReadonlyArray<string>
  readonly differences: ReadonlyArray<Difference>
}

/** Both sides of a difference; absent on a side that has no value. */
export const Value = Schema.Struct({
  path: Schema.String,
  before: Schema.optionalKey(Schema.Json),
  after: Schema.optionalKey(Schema.Json),
  /** Number of items that differ, if there are several, in a run. */
  items: Schema.optionalKey(Schema.Int)
})

/** Differences of a node that the same runs have. */
export const Group = Schema.Struct({
  node: Schema.String,
  paths: Schema.Array(Schema.String),
  runs: Schema.Int,
  executions: Schema.Array(Schema.String),
  /** Both sides of each difference that has values, as in the first of the executions. */
  values: Schema.optionalKey(Schema.Array(Value)),
  /** Later nodes with the same differences, or that ran differently because of them. */
  also: Schema.optionalKey(Schema.Array(Schema.String))
})
export type Group = typeof Group.Type

const NotReplayed = Schema.Struct({
  node: Schema.optionalKey(Schema.String),
  execution: Schema.optionalKey(Schema.String),
  why: Schema.String,
  /** Number of runs, if there are several. */
  runs: Schema.optionalKey(Schema.Int)
})
export type NotReplayed = typeof NotReplayed.Type

/** Comparison of replayed runs with their records. */
export const Result = Schema.Struct({
  verdict: Schema.String,
  runs: Schema.Int,
  same: Schema.Int,
  /** Number of runs that failed, no longer do, and are otherwise the same for others. */
  fixed: Schema.optionalKey(Schema.Int),
  /** Line about the parts that were compared. */
  compared: Schema.optionalKey(Schema.String),
  groups: Schema.Array(Group),
  ignored: Schema.Array(
    Schema.Struct({
      node: Schema.String,
      paths: Schema.Array(Schema.String),
      why: Schema.optionalKey(Schema.String),
      /** Number of later nodes with the same paths. */
      also: Schema.optionalKey(Schema.Int)
    })
  ),
  notReplayed: Schema.Array(NotReplayed)
})
export type Result = typeof Result.Type

/** Exit code of a command: 0 the same, or fixed where that is allowed; 2 differences, 1 nothing was replayed. */
export const exitCode = (
  { fixed = 0, runs, same }: Pick<Result, "fixed" | "runs" | "same">,
  allowsFixed = false
): 0 | 1 | 2 => runs === 0 ? 1 : same + (allowsFixed ? fixed : 0) < runs ? 2 : 0

interface Cluster {
  readonly node: string
  readonly keys: ReadonlyMap<string, Difference>
  readonly runs: ReadonlyMap<string, ReadonlyMap<string, Difference>>
  readonly folded: Set<string>
}

const isLoss = ({ after, before }: Difference) => Number(after) < Number(before)

const keyOf = (difference: Difference) =>
  JSON.stringify([
    difference.path,
    difference.kind,
    difference.kind === "count" && isLoss(difference),
    // A value that is lost now and then must not hide among rounded ones.
    difference.kind === "altered" && [difference.isRounding === true, difference.isRetyped === true]
  ])

/** Kinds by which a node changes whether later nodes run, and with how many items. */
const flow: ReadonlySet<string> = new Set(["failed", "succeeded", "notRun", "ran", "count", "output"])
const consequences: ReadonlySet<string> = new Set(["notRun", "ran", "count"])

/**
 * Differences of a cluster that an earlier one does not explain: it has the same in the same runs, or leads to nodes that
 * run differently.
 */
const unexplained = (cluster: Cluster, earlier: Cluster): Cluster["keys"] => {
  if (earlier.node === cluster.node || [...cluster.runs.keys()].some((each) => !earlier.runs.has(each))) {
    return cluster.keys
  }
  const isFlow = [...earlier.keys.values()].some(({ kind }) => flow.has(kind))
  const rest = [...cluster.keys].filter(([key, { kind }]) =>
    !earlier.keys.has(key) && !(isFlow && consequences.has(kind))
  )
  return rest.length === cluster.keys.size ? cluster.keys : new Map(rest)
}

const causesOf = (runs: ReadonlyArray<Run>): ReadonlyArray<Cluster> => {
  const order = runs.reduce<ReadonlyArray<string>>((all, run) => merged(all, run.order), [])
  const places = new Map(order.map((name, index) => [name, index]))
  const parts = runs.flatMap(({ differences, execution }) =>
    [...Map.groupBy(differences, ({ node }) => node)].map(([node, own]) => {
      const keys = new Map(own.map((each) => [keyOf(each), each]))
      return { node, keys, id: JSON.stringify([node, ...[...keys.keys()].toSorted()]), execution }
    })
  )
  const all = [...Map.groupBy(parts, ({ id }) => id).values()].flatMap((alike): ReadonlyArray<Cluster> => {
    const [first] = alike
    const runs = new Map(alike.map(({ execution, keys }) => [execution, keys]))
    return first === undefined ? [] : [{ node: first.node, keys: first.keys, runs, folded: new Set() }]
  }).toSorted((a, b) =>
    (places.get(a.node) ?? order.length) - (places.get(b.node) ?? order.length) || b.runs.size - a.runs.size
  )
  const causes: Array<Cluster> = []
  const byExecution = new Map<string, Array<Cluster>>()
  for (const cluster of all) {
    const [execution = ""] = cluster.runs.keys()
    let { keys } = cluster
    for (const cause of byExecution.get(execution) ?? []) {
      const left = unexplained({ ...cluster, keys }, cause)
      if (left.size < keys.size) cause.folded.add(cluster.node)
      keys = left
      if (keys.size === 0) break
    }
    if (keys.size === 0) continue
    const rest = { ...cluster, keys }
    causes.push(rest)
    for (const each of rest.runs.keys()) {
      const own = byExecution.get(each)
      if (own === undefined) byExecution.set(each, [rest])
      else own.push(rest)
    }
  }
  return causes
}

const words = ({ after, before, isRetyped, isRounding, kind, path }: Difference, numbers: boolean): string => {
  const name = path === "" ? "item" : path
  switch (kind) {
    case "altered":
      return isRounding === true ? `${name} rounded` : isRetyped === true ? `${name} of another type` : name
    case "added":
    case "removed":
      return `${name} ${kind}`
    case "count": {
      const [old, current] = [Number(before), Number(after)]
      const what = current < old
        ? numbers ? `${old - current} of ${counted(old, "item")} lost` : "items lost"
        : numbers
        ? `${counted(current - old, "item")} more than ${old}`
        : "more items"
      return path === "" ? what : `${path}: ${what}`
    }
    case "order":
      return "order"
    case "output":
      return "items at another output"
    case "ran":
    case "notRun":
      return before === "did not run"
        ? "ran"
        : after === "did not run"
        ? "did not run"
        : kind === "ran"
        ? "more runs"
        : "fewer runs"
    case "failed":
      return before === undefined ? "failed" : "ended differently"
    case "succeeded":
      return "no longer failed"
    case "unknown":
      return `nothing compared after it: ${path}`
  }
}

const hasValues = ({ kind }: Difference) => kind !== "count" && kind !== "order" && kind !== "unknown"

const isOfItem = ({ kind }: Difference) => kind === "altered" || kind === "added" || kind === "removed"

const groupOf = ({ folded, keys, node, runs }: Cluster): Group => {
  const executions = [...runs.keys()]
  const values = [...keys.values()].filter((each) => hasValues(each) && (each.before ?? each.after) !== undefined)
    .map((each) => ({
      path: each.path === "" || !isOfItem(each) ? words(each, true) : each.path,
      before: each.before as Schema.Json,
      after: each.after as Schema.Json,
      items: each.count > 1 && isOfItem(each) ? each.count : undefined
    }))
  const paths = [...keys].map(([key, difference]) => {
    const isEqual = [...runs.values()].every((own) => {
      const other = own.get(key)
      return other?.before === difference.before && other?.after === difference.after
    })
    return words(difference, isEqual)
  })
  return defined({
    node,
    paths,
    runs: runs.size,
    executions,
    values: values.length === 0 ? undefined : values.map((each) => defined(each)),
    also: folded.size === 0 ? undefined : [...folded]
  })
}

/** Sentence about some runs, such as "2 lose `email` at 'Map contact'". */
const phrase = ({ keys, node, runs }: Cluster): string => {
  const [difference] = keys.values()
  if (difference === undefined) return ""
  const isOne = runs.size === 1
  const verb = (many: string, one = `${many}s`) => isOne ? one : many
  const path = difference.path === "" ? "items" : `\`${Visible.label(difference.path, 60)}\``
  const at = `at ${Rows.quote(node)}`
  const what = words(difference, false)
  const sentences: { readonly [kind in Difference["kind"]]: string } = {
    altered: `${verb("change")} ${path} ${at}`,
    added: `${verb("gain")} ${path} ${at}`,
    removed: `${verb("lose")} ${path} ${at}`,
    count: `${isLoss(difference) ? verb("lose") : verb("gain")} items ${at}`,
    order: `${verb("change")} the order ${at}`,
    output: `${verb("send")} items to another output ${at}`,
    ran: what === "ran"
      ? `newly ${verb("run")} ${Rows.quote(node)}`
      : `${verb("run")} ${Rows.quote(node)} more often`,
    notRun: what === "did not run"
      ? `no longer ${verb("run")} ${Rows.quote(node)}`
      : `${verb("run")} ${Rows.quote(node)} less often`,
    failed: `${verb("fail")} ${difference.before === undefined ? "" : "differently "}${at}`,
    succeeded: `no longer ${verb("fail")} ${at}`,
    unknown: `cannot be compared after ${Rows.quote(node)}: ${difference.path}`
  }
  return `${runs.size} ${sentences[difference.kind]}`
}

const verdictOf = (runs: number, same: number, clusters: ReadonlyArray<Cluster>): string => {
  if (runs === 0) return "nothing was replayed"
  return [`${same} same`, ...clusters.length === 0 ? [] : [Rows.listed(clusters.map(phrase), 3, "; ")]].join("; ")
}

const byReason = (all: ReadonlyArray<NotReplayed>): ReadonlyArray<NotReplayed> =>
  Rows.grouped(all, ({ node, why }) => [node, why]).map(({ first, rows }) => {
    const runs = new Set(rows.flatMap(({ execution }) => execution ?? [])).size
    return runs > 1 ? { ...first, runs } : first
  })

const ignoredGroups = (all: ReadonlyArray<Ignored>) => {
  const byNode = Rows.grouped(all, ({ node, why }) => [node, why]).map(({ first: { node, why }, rows }) => ({
    node,
    why,
    paths: [...new Set(rows.map(({ path }) => path))].toSorted()
  }))
  return Rows.grouped(byNode, ({ paths, why }) => [paths, why]).map(({ count, first }) => ({
    ...first,
    also: count > 1 ? count - 1 : undefined
  }))
}

/** Groups the differences of runs; nothing is left out. */
export const group = (
  runs: ReadonlyArray<Run>,
  ignored: ReadonlyArray<Ignored>,
  notReplayed: ReadonlyArray<NotReplayed>
): Result => {
  const clusters = causesOf(runs)
  const same = runs.filter(({ differences }) => differences.length === 0).length
  return {
    verdict: verdictOf(runs.length, same, clusters),
    runs: runs.length,
    same,
    groups: clusters.map(groupOf),
    ignored: ignoredGroups(ignored).map((each) => defined(each)),
    notReplayed: byReason(notReplayed)
  }
}
