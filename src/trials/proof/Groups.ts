/** Differences of many runs, equal ones as one group, the cause first. Pure. */
import * as Schema from "effect/Schema"
import { countTokens } from "../../base/TokenBound.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Visible from "../../base/Visible.ts"
import { merged } from "./RunComparison.ts"
import type { Difference } from "./tally.ts"
import type { Ignored } from "./Volatility.ts"

/** Replayed run with its real differences. */
export interface Run {
  readonly execution: string
  readonly order: ReadonlyArray<string>
  readonly differences: ReadonlyArray<Difference>
}

/** Differences of a node that the same runs have; executions are the first ones. */
export const Group = Schema.Struct({
  node: Schema.String,
  paths: Schema.Array(Schema.String),
  runs: Schema.Int,
  executions: Schema.Array(Schema.String),
  example: Schema.optionalKey(Schema.Struct({
    execution: Schema.String,
    path: Schema.String,
    before: Schema.optionalKey(Schema.Json),
    after: Schema.optionalKey(Schema.Json)
  })),
  /** Later nodes with the same differences, or that ran otherwise because of them. */
  also: Schema.optionalKey(Schema.String)
})
export type Group = typeof Group.Type

const NotReplayed = Schema.Struct({
  node: Schema.optionalKey(Schema.String),
  execution: Schema.optionalKey(Schema.String),
  why: Schema.String
})
export type NotReplayed = typeof NotReplayed.Type

/** Comparison of replayed runs with their records. */
export const Result = Schema.Struct({
  verdict: Schema.String,
  runs: Schema.Int,
  same: Schema.Int,
  groups: Schema.Array(Group),
  ignored: Schema.Array(
    Schema.Struct({ node: Schema.String, path: Schema.String, why: Schema.optionalKey(Schema.String) })
  ),
  notReplayed: Schema.Array(NotReplayed),
  /** Entries that are left out. */
  more: Schema.optionalKey(Schema.String)
})
export type Result = typeof Result.Type

/** Exit code of a command: 0 the same, 2 differences, 1 nothing was replayed. */
export const exitCode = ({ runs, same }: Pick<Result, "runs" | "same">): 0 | 1 | 2 =>
  runs === 0 ? 1 : same < runs ? 2 : 0

/** Differences of one node in some runs. */
interface Cluster {
  readonly node: string
  readonly keys: ReadonlySet<string>
  readonly runs: ReadonlyArray<{ readonly execution: string; readonly differences: ReadonlyArray<Difference> }>
  readonly folded: Array<string>
}

const isLoss = ({ after, before }: Difference) => Number(after) < Number(before)

const keyOf = (difference: Difference) =>
  JSON.stringify([difference.path, difference.kind, difference.kind === "count" && isLoss(difference)])

/** Kinds by which a node changes whether later nodes run, and with how many items. */
const flow: ReadonlySet<string> = new Set(["failed", "succeeded", "notRun", "ran", "count", "output"])
const consequences: ReadonlySet<string> = new Set(["notRun", "ran", "count"])

const kindsOf = ({ runs }: Cluster) => runs[0]?.differences.map(({ kind }) => kind) ?? []

/** Whether an earlier cluster explains a later one. */
const explains = (earlier: Cluster, later: Cluster): boolean => {
  const executions = new Set(earlier.runs.map(({ execution }) => execution))
  const isFlow = kindsOf(earlier).some((kind) => flow.has(kind))
  return later.runs.every(({ execution }) => executions.has(execution)) &&
    (later.runs[0]?.differences ?? []).every((difference) =>
      earlier.keys.has(keyOf(difference)) || isFlow && consequences.has(difference.kind)
    )
}

const clustersOf = (runs: ReadonlyArray<Run>): ReadonlyArray<Cluster> => {
  const order = runs.reduce<ReadonlyArray<string>>((all, run) => merged(all, run.order), [])
  const places = new Map(order.map((name, index) => [name, index]))
  const parts = runs.flatMap(({ differences, execution }) =>
    [...Map.groupBy(differences, ({ node }) => node)].map(([node, own]) => {
      const keys = new Set(own.map(keyOf))
      return { node, keys, id: JSON.stringify([node, ...[...keys].toSorted()]), run: { execution, differences: own } }
    })
  )
  const all = [...Map.groupBy(parts, ({ id }) => id).values()].flatMap((alike): ReadonlyArray<Cluster> => {
    const [first] = alike
    return first === undefined
      ? []
      : [{ node: first.node, keys: first.keys, runs: alike.map(({ run }) => run), folded: [] }]
  }).toSorted((a, b) =>
    (places.get(a.node) ?? order.length) - (places.get(b.node) ?? order.length) || b.runs.length - a.runs.length
  )
  const causes: Array<Cluster> = []
  for (const cluster of all) {
    const cause = causes.find((each) => each.node !== cluster.node && explains(each, cluster))
    if (cause === undefined) causes.push(cluster)
    else if (!cause.folded.includes(cluster.node)) cause.folded.push(cluster.node)
  }
  return causes
}

/** Difference in words; `numbers` are left out if they differ from run to run. */
const words = ({ after, before, isRounding, kind, path }: Difference, numbers: boolean): string => {
  const name = path === "" ? "item" : path
  switch (kind) {
    case "altered":
      return isRounding === true ? `${name} rounded` : name
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
      return before === undefined ? "failed" : "ended otherwise"
    case "succeeded":
      return "no longer failed"
  }
}

/** Values that the difference's words do not show. */
const hasValues = ({ kind }: Difference) => kind !== "count" && kind !== "order"

/** Bounds of a result; the first ones that fit apply. */
interface Bounds {
  readonly groups: number
  readonly paths: number
  readonly list: number
  readonly name: number
  readonly text: number
}

const levels: ReadonlyArray<Bounds> = [
  { groups: 8, paths: 6, list: 10, name: 60, text: 100 },
  { groups: 6, paths: 4, list: 6, name: 50, text: 60 },
  { groups: 4, paths: 3, list: 3, name: 40, text: 40 },
  { groups: 3, paths: 2, list: 2, name: 25, text: 25 },
  { groups: 1, paths: 1, list: 1, name: 12, text: 12 }
]

/** Maximum number of tokens, with room for what a tool adds. */
const maxTokens = 860

const clip = (value: unknown, chars: number): Schema.Json | undefined => {
  const text = JSON.stringify(value)
  return text === undefined || text.length <= chars
    ? value as Schema.Json | undefined
    : Visible.label(typeof value === "string" ? value : text, chars)
}

/** First entries, and a note of how many follow. */
const firstOf = (all: ReadonlyArray<string>, limit: number) =>
  all.length <= limit ? all : [...all.slice(0, limit), `${all.length - limit} more`]

const pathsOf = ({ runs }: Cluster) => {
  const [first] = runs
  return (first?.differences ?? []).map((difference) => {
    const isEqual = runs.every(({ differences }) =>
      differences.some((each) =>
        keyOf(each) === keyOf(difference) && each.before === difference.before && each.after === difference.after
      )
    )
    return words(difference, isEqual)
  })
}

const groupOf = (cluster: Cluster, { name, paths, text }: Bounds): Group => {
  const { folded, node, runs } = cluster
  const label = (value: string) => Visible.label(value, name)
  const [first] = runs
  const shown = first?.differences.find((each) => hasValues(each) && (each.before ?? each.after) !== undefined)
  const named = firstOf(folded.map((each) => `'${label(each)}'`), Math.min(3, paths))
  return defined({
    node: label(node),
    paths: firstOf([...new Set(pathsOf(cluster))].map((path) => Visible.label(path, text)), paths),
    runs: runs.length,
    executions: runs.slice(0, 3).map(({ execution }) => Visible.label(execution, 40)),
    example: first === undefined || shown === undefined ? undefined : defined({
      execution: Visible.label(first.execution, 40),
      path: Visible.label(words(shown, true), text),
      before: clip(shown.before, text),
      after: clip(shown.after, text)
    }),
    also: folded.length === 0 ? undefined : `${counted(folded.length, "later node")}: ${named.join(", ")}`
  })
}

const quoted = (name: string, chars: number) => `'${Visible.label(name, chars)}'`

/** What some runs do, such as "2 lose `email` at 'Map contact'". */
const phrase = (cluster: Cluster, { name, text }: Bounds): string => {
  const { node, runs } = cluster
  const [difference] = runs[0]?.differences ?? []
  if (difference === undefined) return ""
  const isOne = runs.length === 1
  const verb = (many: string, one = `${many}s`) => isOne ? one : many
  const path = difference.path === "" ? "items" : `\`${Visible.label(difference.path, text)}\``
  const at = `at ${quoted(node, name)}`
  const what = words(difference, false)
  const sentences: { readonly [kind in Difference["kind"]]: string } = {
    altered: `${verb("change")} ${path} ${at}`,
    added: `${verb("gain")} ${path} ${at}`,
    removed: `${verb("lose")} ${path} ${at}`,
    count: `${isLoss(difference) ? verb("lose") : verb("gain")} items ${at}`,
    order: `${verb("change")} the order ${at}`,
    output: `${verb("send")} items to another output ${at}`,
    ran: what === "ran" ? `newly ${verb("run")} ${quoted(node, name)}` : `${verb("run")} ${quoted(node, name)} more often`,
    notRun: what === "did not run"
      ? `no longer ${verb("run")} ${quoted(node, name)}`
      : `${verb("run")} ${quoted(node, name)} less often`,
    failed: `${verb("fail")} ${difference.before === undefined ? "" : "otherwise "}${at}`,
    succeeded: `no longer ${verb("fail")} ${at}`
  }
  return `${runs.length} ${sentences[difference.kind]}`
}

const verdictOf = (runs: number, same: number, clusters: ReadonlyArray<Cluster>, bounds: Bounds): string => {
  if (runs === 0) return "nothing was replayed"
  const shown = clusters.slice(0, Math.min(3, bounds.groups)).map((cluster) => phrase(cluster, bounds))
  const rest = clusters.length - shown.length
  return [`${same} same`, ...shown, ...(rest > 0 ? [`${counted(rest, "more group")}`] : [])].join("; ")
}

/** Entries that differ in the execution only, as one. */
const alike = (all: ReadonlyArray<NotReplayed>): ReadonlyArray<NotReplayed> =>
  [...Map.groupBy(all, ({ node, why }) => JSON.stringify([node, why])).values()].flatMap((same) => {
    const [first] = same
    const others = new Set(same.flatMap(({ execution }) => execution ?? [])).size
    return first === undefined ? [] : [others > 1 ? { ...first, why: `${first.why} (${others} runs)` } : first]
  })

/** Groups the differences of runs into an answer of bounded size. */
export const group = (
  runs: ReadonlyArray<Run>,
  ignored: ReadonlyArray<Ignored>,
  notReplayed: ReadonlyArray<NotReplayed>
): Result => {
  const clusters = clustersOf(runs)
  const same = runs.filter(({ differences }) => differences.length === 0).length
  const ignoredOnce = [...new Map(ignored.map((each) => [JSON.stringify([each.node, each.path]), each])).values()]
  const notReplayedOnce = alike(notReplayed)
  const within = (bounds: Bounds): Result => {
    const { groups, list, name, text } = bounds
    const label = (value: string | undefined) => value === undefined ? undefined : Visible.label(value, name)
    const rest = (all: ReadonlyArray<unknown>, limit: number, noun: string) =>
      all.length > limit ? [`${all.length - limit} ${noun}`] : []
    const more = [
      ...rest(clusters, groups, "groups"),
      ...rest(ignoredOnce, list, "ignored"),
      ...rest(notReplayedOnce, list, "not replayed")
    ]
    return defined({
      verdict: verdictOf(runs.length, same, clusters, bounds),
      runs: runs.length,
      same,
      groups: clusters.slice(0, groups).map((cluster) => groupOf(cluster, bounds)),
      ignored: ignoredOnce.slice(0, list).map(({ node, path, why }) =>
        defined({ node: Visible.label(node, name), path: Visible.label(path, text), why })
      ),
      notReplayed: notReplayedOnce.slice(0, list).map(({ execution, node, why }) =>
        defined({ node: label(node), execution: label(execution), why: Visible.label(why, 2 * text) })
      ),
      more: more.length === 0 ? undefined : more.join(", ")
    })
  }
  const fits = (result: Result) => countTokens(JSON.stringify(result), maxTokens) <= maxTokens
  for (const bounds of levels) {
    const result = within(bounds)
    if (fits(result)) return result
  }
  return within({ groups: 1, paths: 1, list: 0, name: 12, text: 12 })
}
