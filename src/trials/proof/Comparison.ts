/** Comparison of a recorded run with its replay: outputs, and what nodes send. */
import * as Effect from "effect/Effect"
import type * as Errors from "../../base/Errors.ts"
import * as JavaScript from "../../base/JavaScript.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as Reach from "../../catalogue/code/Reach.ts"
import { findAll, type NodeCatalogue } from "../../catalogue/NodeCatalogue.ts"
import * as Execution from "../../executions/Execution.ts"
import { isNote, parametersOf } from "../../n8n/model/Workflow.ts"
import * as Graph from "../../workflow/Graph.ts"
import { isCaller } from "../../workflow/References.ts"
import * as Webhooks from "../../workflow/Webhooks.ts"
import * as Replay from "../Replay.ts"
import * as Replays from "../Replays.ts"
import type * as TestCopy from "../TestCopy.ts"
import * as RunComparison from "./RunComparison.ts"
import {
  codeOf,
  sentDifferences,
  type SentOptions,
  type Side,
  triggerDifferences,
  unseenDifferences,
  upgradedVersion,
  withMoved
} from "./sentDifferences.ts"
import * as triggerTest from "./triggerTest.ts"

/** Nodes that return what another workflow, which has changed or has not, returns to a recorded run. */
export type Inside = (
  record: Execution.Execution,
  version: "changed" | "former"
) => Effect.Effect<TestCopy.Replacements, string, Effect.Services<ReturnType<Replays.Replays["replay"]>>>

/** Versions to compare, and how. */
export interface Options {
  readonly subject: TestCopy.Subject
  /** Version before the change, if it is not the one that ran. */
  readonly published?: TestCopy.Subject | undefined
  /** Id of the version before the change: what a run of another one recorded is older than that. */
  readonly publishedVersion?: string | undefined
  /** Settings before the change, where n8n has them and they are not those that ran. */
  readonly settings?: unknown
  /** Replaces nodes that call a changed workflow; the version before the change is this one with the former. */
  readonly inside?: Inside | undefined
  readonly ignore: ReadonlyArray<RunComparison.Ignored>
  /** Whether it matters how the workflow is called, as for its callers. */
  readonly comparesTrigger?: boolean
  /** Volatile paths, by which no item is recognized at another position. */
  readonly unstable?: ReadonlyArray<RunComparison.Ignored>
  readonly redacts: boolean
}

/** Execution as a side of a comparison. */
export const sideOf = (execution: Execution.Execution): Side => ({
  execution,
  nodes: execution.workflow?.nodes ?? [],
  connections: execution.workflow?.connections
})

/**
 * Nodes that did not return what they would return: without recorded items, or with those of one run of a loop that is
 * gone. Nothing can be said of the nodes after them.
 */
const unknowns = (
  { nameThen, record, replay: { graph } }: Pick<SentOptions, "nameThen" | "record" | "replay">,
  { result, subject }: Replays.Replayed
) => {
  const [before, now] = [Graph.looping(record.graph), Graph.looping(graph)]
  const wasInLoop = (name: string) => before.has(name) && (record.execution.runs.get(name)?.length ?? 0) > 1
  const byName = new Map(subject.nodes.map((node) => [node.name, node]))
  // A removed node, and the call itself, may do the same in the sub-workflow as before.
  const callsAnother = (name: string) => isCaller(byName.get(name)?.type)
  return [
    ...result.notRun.map((node) => ({ node, why: "it has no recorded items", isVague: callsAnother(node) })),
    ...result.pinned.filter((node) => wasInLoop(nameThen(node)))
      .map((node) => ({ node, why: "it ran in a loop then", isVague: true }))
  ].filter(({ node }) => !now.has(node)).map(({ isVague, node, why }) => {
    const after = Graph.after(graph, [node])
    const isAfter = (name: string) =>
      name === node ? isVague : after.has(name) || !byName.has(name) && callsAnother(node)
    return { node, why, isAfter, isForced: false }
  })
}

/** Changed nodes of which a replay cannot show what they would do: their code does not run in it, or they failed then. */
const untried = Effect.fnUntraced(function*(
  { pinned, nameThen, record, replay }: SentOptions,
  sent: ReadonlyArray<RunComparison.Difference>
): Effect.fn.Return<ReturnType<typeof unknowns>, Errors.ValidationError, NodeCatalogue> {
  const changed = replay.nodes.filter(({ name }) =>
    pinned.has(name) && sent.some(({ node, path }) => node === name && (path.startsWith("sent") || path === "type"))
  )
  if (changed.length === 0) return []
  const find = yield* findAll(changed.map(({ type }) => type))
  const parse = yield* JavaScript.parser
  return changed.flatMap((node) => {
    const { name } = node
    const former = record.nodes.find((each) => each.name === nameThen(name))
    const code = codeOf(find(node.type), node.typeVersion ?? null)
    const isOfCode = sent.every((each) =>
      each.node !== name || [...code.keys()].some((key) => each.path === JsonPath.join("sent", key))
    )
    const onlyKeepsState = [...code].some(([key, extension]) =>
      [former, node].every((each) => {
        const text = each && parametersOf(each)[key]
        return text !== undefined && (extension === "py" || !Reach.of(extension, text, parse).outside)
      })
    )
    if (isOfCode && onlyKeepsState) {
      const why = "its code was changed, and a replay does not run it, because it keeps state or may reach outside"
      return [{ node: name, why, isForced: true, isAfter: (each: string) => each === name }]
    }
    const hasFailed = record.execution.runs.get(nameThen(name))?.some(({ error }) => error !== undefined) === true
    const after = Graph.after(replay.graph, [name])
    return hasFailed
      ? [{
        node: name,
        why: "it failed then, which a replay repeats",
        isForced: true,
        isAfter: (each: string) => each !== name && after.has(each)
      }]
      : []
  })
})

/** Differences, of which those after unknown items are one each. */
const withoutUnknown = (
  differences: ReadonlyArray<RunComparison.Difference>,
  all: ReturnType<typeof unknowns>
): ReadonlyArray<RunComparison.Difference> => {
  const causes = all.filter(({ isAfter, isForced }) => isForced || differences.some(({ node }) => isAfter(node)))
  return [
    ...differences.filter(({ node }) => !all.some(({ isAfter }) => isAfter(node))),
    ...causes.map(({ node, why }): RunComparison.Difference => ({
      node,
      run: 0,
      path: why,
      kind: "unknown",
      count: 1,
      digest: 0
    }))
  ]
}

/** Whether a difference is not ignored; `nameThen` is the node's name in the record. */
export const isCompared =
  (ignore: ReadonlyArray<RunComparison.Ignored>, nameThen: (name: string) => string) =>
  ({ kind, node, path }: RunComparison.Difference) =>
    kind === "unknown" || !JsonPath.covers(
      ignore.flatMap((each) =>
        each.node === undefined || [node, nameThen(node)].includes(each.node) ? [each.steps] : []
      ),
      JsonPath.parse(path) ?? []
    )

/** Differences of the items that a caller gets, at `answer`, where another node runs last than before. */
const returnedDifferences = Effect.fnUntraced(function*(
  record: Execution.Execution,
  { result, subject }: Replays.Replayed,
  nameThen: (name: string) => string,
  options: Pick<RunComparison.Options, "ignore" | "redacts" | "unstable">
) {
  const start = subject.nodes.find(({ name }) => name === result.trigger)
  const [then, now] = [Execution.lastToRun(record), Execution.lastToRun(result.execution)]
  const isOther = then !== undefined && now !== undefined && nameThen(now) !== then &&
    Execution.failure(record) === undefined && Execution.failure(result.execution) === undefined
  if (start === undefined || !Webhooks.returnsLast(start) || !isOther) return []
  const last = (execution: Execution.Execution, name: string): Execution.Execution => ({
    ...execution,
    runs: new Map([[now, (execution.runs.get(name) ?? []).slice(-1)]]),
    segments: (slot, from) => execution.segments({ ...slot, node: name }, from),
    items: (slot, offset, limit) => execution.items({ ...slot, node: name }, offset, limit)
  })
  const { differences } = yield* RunComparison.compare({
    ...options,
    record: last(record, then),
    replay: last(result.execution, now),
    nodes: [now],
    nameThen: (name) => name,
    pinned: new Set()
  })
  return differences.map((each) => ({ ...each, path: JsonPath.join("answer", each.path) }))
})

/** Compares an execution with a replay: outputs, and what nodes sent. */
export const compare = Effect.fnUntraced(function*(
  then: Side,
  { replaced, result, subject }: Replays.Replayed,
  { comparesTrigger = false, ignore, redacts, unstable = [] }: Omit<
    Options,
    "inside" | "published" | "settings" | "subject"
  >
) {
  const formerName = Replay.formerName(then.execution)
  const known = new Set(then.nodes.map(({ name }) => name))
  const nodes = subject.nodes.filter((node) =>
    !isNote(node) && node.name !== result.trigger && known.has(formerName(node))
  )
  const names = new Map(nodes.map((node) => [node.name, formerName(node)]))
  const pinned = new Set([...result.pinned, ...result.notRun])
  const nameThen = (name: string) => names.get(name) ?? name
  const before = yield* upgradedVersion(then, subject, nameThen)
  const record = withMoved(then.execution, before.moved)
  const { differences, order: ran } = yield* RunComparison.compare({
    record,
    replay: result.execution,
    nodes: [...names.keys()],
    nameThen,
    pinned: new Set([...pinned].filter((name) => replaced?.has(name) !== true)),
    ignore,
    unstable,
    redacts
  })
  const sending: SentOptions = {
    record: { ...then, nodes: before.nodes, graph: Graph.make(then.connections) },
    replay: { execution: result.execution, nodes: subject.nodes, graph: Graph.make(subject.connections) },
    nameThen,
    pinned,
    ignore,
    redacts,
    isSame: differences.length === 0
  }
  const unseen = yield* unseenDifferences(sending)
  const more = [
    ...yield* sentDifferences(sending),
    ...unseen.differences,
    ...yield* returnedDifferences(record, { result, subject }, nameThen, { ignore, unstable, redacts }),
    ...(comparesTrigger ? yield* triggerDifferences(sending) : [])
  ]
  const compared = [...differences, ...more].filter(isCompared(ignore, nameThen))
  // A replay starts after the trigger, whose version counts although an upgrade leads to it.
  const isVersion = ({ node, path }: RunComparison.Difference) => node === result.trigger && path === "typeVersion"
  const newTriggers = comparesTrigger ? triggerTest.newVersion(then, subject, result.trigger) : []
  const all = withoutUnknown(compared.filter((each) => !isVersion(each)), [
    ...unknowns(sending, { result, subject }),
    ...yield* untried(sending, compared)
  ])
  const caused = RunComparison.causalOrder({ record: then.execution, replay: result.execution, nameThen }, ran, all)
  const order = result.trigger === undefined ? caused : [result.trigger, ...caused]
  const places = new Map(order.map((name, index) => [name, index]))
  return {
    order,
    names,
    /** Nodes that send and are new, gone or replaced. */
    senders: unseen.senders,
    newTriggers: newTriggers.filter(isCompared(ignore, nameThen)),
    differences: all.toSorted((a, b) => (places.get(a.node) ?? order.length) - (places.get(b.node) ?? order.length))
  }
})
