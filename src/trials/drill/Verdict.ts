/**
 * Verdict on a workflow of which one node fails: does someone notice, and does bad data go on? Pure.
 *
 * Most cases follow from the definition; {@link of} returns `undefined` where only a run on a copy can decide.
 */
import * as Rows from "../../base/Rows.ts"
import { answers } from "../../catalogue/types/Outside.ts"
import type { Node } from "../../n8n/model/Workflow.ts"
import * as Graph from "../../workflow/Graph.ts"
import { isCalled, responseMode, returnsLast } from "../../workflow/Webhooks.ts"
import * as NodeFailures from "./NodeFailures.ts"

/** From the best to the worst. */
export const grades = ["handled", "stops with alert", "stops silently", "continues and loses items"] as const
export type Grade = typeof grades[number]

export interface Verdict {
  readonly grade: Grade
  readonly because: string
}

/** Worst of some grades. */
export const worst = (given: Iterable<Grade>): Grade => {
  const all = new Set(given)
  return grades.findLast((grade) => all.has(grade)) ?? "handled"
}

/** Error workflow that the settings name. */
export interface ErrorWorkflow {
  readonly name: string
  readonly isPublished: boolean
  readonly hasErrorTrigger: boolean
}

export interface Subject {
  readonly nodes: ReadonlyArray<Node>
  readonly graph: Graph.Graph
  readonly trigger: Node | undefined
  /** Absent where the settings name none, or one that does not exist. */
  readonly errorWorkflow?: ErrorWorkflow | undefined
  readonly outside: ReadonlySet<string>
  readonly isV1: boolean
}

/** Result of a run: items by main output of each node that ran, in the order in which they first ran. */
export interface Outcome {
  readonly status: string
  readonly failedAt?: string | undefined
  readonly items: ReadonlyMap<string, ReadonlyArray<number>>
  /** Status of the HTTP response, where the caller waited for the run. */
  readonly response?: number | undefined
}

export interface Case {
  readonly node: Node
  readonly kind: NodeFailures.Kind
  readonly outputs: number
}

const base = "n8n-nodes-base."
const isOf = (types: string) => {
  const all = new Set(types.split(" ").map((type) => `${base}${type}`))
  return ({ disabled, type }: Node) => disabled !== true && all.has(type)
}
const isErrorTrigger = isOf("errorTrigger")
const isRespond = isOf("respondToWebhook")
const isBatches = isOf("splitInBatches")
/** Nodes that decide by an item where it goes. */
const decides = isOf("if switch filter")
/** Nodes that pass items on without an effect outside or a decision. */
const passes = isOf(
  "set noOp merge code function functionItem splitOut aggregate sort limit renameKeys splitInBatches wait itemLists dateTime"
)

const verdict = (grade: Grade, because: string): Verdict => ({ grade, because })

/** Alert that someone gets when a run stops at the node, from n8n or as its caller; `undefined` if no one does. */
const alertOf = ({ errorWorkflow, isV1, nodes, trigger }: Subject, before: ReadonlyArray<string>, node: string) => {
  if (errorWorkflow?.hasErrorTrigger === true && (isV1 || errorWorkflow.isPublished)) {
    return `n8n starts the error workflow ${Rows.quote(errorWorkflow.name)}`
  }
  // Without one in the settings, n8n starts the workflow's own Error Trigger.
  if (errorWorkflow === undefined && nodes.some(isErrorTrigger)) return "n8n starts the workflow's own Error Trigger"
  if (trigger === undefined) return undefined
  if (isCalled(trigger)) return "the workflow that calls this one gets the error"
  const mode = responseMode(trigger)
  if (mode === undefined) return undefined
  const failing = before.indexOf(node)
  const responds = nodes.filter(isRespond).map(({ name }) => before.indexOf(name))
  const isAnswered = mode !== "lastNode" && responds.some((at) => at !== -1 && at < failing)
  return isAnswered ? undefined : "the caller of the webhook gets an error"
}

const whyNoAlert = ({ errorWorkflow }: Subject) => {
  if (errorWorkflow === undefined) return "set an error workflow in the settings"
  const name = Rows.quote(errorWorkflow.name)
  return errorWorkflow.hasErrorTrigger
    ? `publish the error workflow ${name}: n8n does not start an unpublished one`
    : `add an Error Trigger to the error workflow ${name}`
}

const stopped = (subject: Subject, before: ReadonlyArray<string>, node: string, failed: string, canRetry: boolean) => {
  const at = node === failed ? "The run stops here" : `The run stops at ${Rows.quote(node)}`
  const alert = alertOf(subject, before, node)
  if (alert !== undefined) return verdict("stops with alert", `${at}, and ${alert}.`)
  const retry = canRetry ? ", or retryOnFail for failures that pass" : ""
  return verdict("stops silently", `${at}, and no one is alerted: ${whyNoAlert(subject)}${retry}.`)
}

const total = (counts: ReadonlyArray<number> | undefined) => (counts ?? []).reduce((sum, count) => sum + count, 0)

const used = (counts: ReadonlyArray<number> = []) => counts.flatMap((count, index) => count > 0 ? [index] : [])

/** First node that an output led to in a run and that reports it: outside, to the caller, or to another workflow. */
const reporter = (
  { graph, nodes, outside, trigger }: Subject,
  name: string,
  output: number,
  outcome: Outcome
): string | undefined => {
  const others = Graph.of(graph.links.filter((link) => link.from !== name || link.output.index !== output))
  // Nodes of a loop around the node run whether it fails or not.
  const usual = Graph.after(others, [trigger?.name ?? outcome.items.keys().next().value ?? name])
  const before = Graph.before(graph, [name])
  const last = trigger !== undefined && returnsLast(trigger)
  const answering = new Set(nodes.flatMap((node) => node.disabled !== true && answers(node) ? [node.name] : []))
  const after = Graph.after(graph, Graph.next(graph, name, output))
  const tells = [...after].find((each) =>
    outcome.items.has(each) && !(usual.has(each) && before.has(each)) && (outside.has(each) || answering.has(each))
  )
  return tells === undefined ? last ? "the caller" : undefined : Rows.quote(tells)
}

/** End of the way that items of a failed node take as if they were data: lost there, or diverted. */
type End = { readonly isDiverted: true } | { readonly isDiverted: false; readonly because: string }

/** Ways from an output to the nodes that received items before as well. */
const ways = (
  subject: Subject,
  start: readonly [name: string, output: number],
  undisturbed: Outcome,
  outcome: Outcome,
  isEmpty: boolean
): ReadonlyArray<End> => {
  const { graph } = subject
  const byName = new Map(subject.nodes.map((node) => [node.name, node]))
  const seen = new Set<string>()
  const lost = (because: string): ReadonlyArray<End> => [{ isDiverted: false, because }]
  const follow = (name: string, output: number): ReadonlyArray<End> => {
    const next = Graph.next(graph, name, output).filter((to) => outcome.items.has(to) && !seen.has(to))
    return next.flatMap((to) => {
      seen.add(to)
      const node = byName.get(to)
      const after = used(outcome.items.get(to))
      if (node === undefined) return []
      if (!decides(node)) {
        if (!passes(node)) return lost(`${Rows.quote(to)} gets what failed as if it were data`)
        const on = after.flatMap((index) => follow(to, index))
        return on.length > 0 ? on : lost(`${Rows.quote(to)} gets what failed as if it were data`)
      }
      const before = new Set(used(undisturbed.items.get(to)))
      if (after.length === 0) return lost(`${Rows.quote(to)} drops what failed`)
      return after.flatMap((index): ReadonlyArray<End> => {
        if (before.has(index)) {
          const on = follow(to, index)
          return on.length > 0 ? on : lost(`${Rows.quote(to)} lets what failed pass`)
        }
        if (Graph.next(graph, to, index).length === 0) {
          return lost(`${Rows.quote(to)} sends what failed to an output to which nothing is connected`)
        }
        return isEmpty || reporter(subject, to, index, outcome) !== undefined
          ? [{ isDiverted: true }]
          : lost(`${Rows.quote(to)} sends what failed only to nodes that tell no one`)
      })
    })
  }
  return follow(...start)
}

/** Node that decides whether the loop around a node goes on, where it went on less often than in another run. */
const stoppedLoop = (
  { graph, nodes }: Subject,
  name: string,
  { items: before }: Outcome,
  { items: now }: Outcome
): string | undefined => {
  const leading = Graph.before(graph, [name])
  const after = Graph.after(graph, Graph.next(graph, name, 0))
  if (!after.has(name)) return undefined
  const stops = (each: string) =>
    (before.get(each) ?? []).some((count, index) => {
      const left = now.get(each)?.[index] ?? 0
      return Graph.next(graph, each, index).some((to) => leading.has(to)) ? left < count : count > 0 && left === 0
    })
  const inLoop = nodes.filter((node) => leading.has(node.name) && after.has(node.name) && node.name !== name)
  const head = inLoop.find(isBatches) ?? inLoop.find(decides)
  return head !== undefined && stops(head.name) ? head.name : undefined
}

const empty = (
  subject: Subject,
  { node: { alwaysOutputData, name } }: Case,
  undisturbed: Outcome,
  outcome: Outcome | undefined
): Verdict | undefined => {
  const { graph } = subject
  if (Graph.next(graph, name, 0).length === 0) return verdict("handled", "Nothing follows it.")
  const fix = "if not intended, set alwaysOutputData and follow it with an If"
  const after = Graph.after(graph, [name])
  const isClosed = [...after].every((to) => to === name || Graph.previous(graph, to).every((from) => after.has(from)))
  const isAwaited =
    alertOf({ ...subject, errorWorkflow: undefined, nodes: subject.nodes.filter((node) => !isErrorTrigger(node)) }, [
      ...undisturbed.items.keys()
    ], name) !== undefined
  if (outcome === undefined) {
    return alwaysOutputData === true || isAwaited || !isClosed
      ? undefined
      : verdict("stops silently", `After an empty list nothing after it runs, and the run succeeds: ${fix}.`)
  }
  const loop = stoppedLoop(subject, name, undisturbed, outcome)
  const missing = [...undisturbed.items].find(([each, counts]) =>
    each !== name && after.has(each) && total(counts) > 0 && !outcome.items.has(each)
  )?.[0]
  if (loop === undefined && missing === undefined) {
    return verdict("handled", "After an empty list every node after it runs.")
  }
  const stops = loop === undefined
    ? `${Rows.quote(missing ?? "")} does not run`
    : `the loop of ${Rows.quote(loop)} stops here`
  return (outcome.response ?? 0) >= 400
    ? verdict("stops with alert", `After an empty list ${stops}, and the caller gets an error.`)
    : verdict("stops silently", `After an empty list ${stops}, and the run succeeds: ${fix}.`)
}

const regular = (
  subject: Subject,
  { kind, node: { name, onError } }: Case,
  undisturbed: Outcome,
  outcome: Outcome | undefined
): Verdict | undefined => {
  const item = kind === "empty" ? "empty items" : "the failure"
  const fix = onError === "continueErrorOutput"
    ? "its error output gets nothing, so check the result with an If"
    : "use an error output (onError: continueErrorOutput) or an If"
  const loses = (because: string) => verdict("continues and loses items", `${because}: ${fix}.`)
  if (Graph.next(subject.graph, name, 0).length === 0) {
    return kind === "empty"
      ? verdict("handled", "Nothing follows it.")
      : loses(`The run goes on, and nothing checks ${item}`)
  }
  if (outcome === undefined) return undefined
  const ends = ways(subject, [name, 0], undisturbed, outcome, kind === "empty")
  const lost = ends.find((end) => !end.isDiverted)
  if (lost !== undefined && !lost.isDiverted) return loses(`It passes on ${item}, and ${lost.because}`)
  return ends.length > 0
    ? verdict("handled", "What failed takes another branch.")
    : loses(`It passes on ${item}, and nothing receives it`)
}

/** Verdict, or `undefined` where a run on a copy must decide: call it again with the outcome. */
export const of = (
  subject: Subject,
  failing: Case,
  undisturbed: Outcome,
  outcome?: Outcome
): Verdict | undefined => {
  const { kind, node, outputs } = failing
  const { name } = node
  const failure = NodeFailures.of(node, kind, { isV1: subject.isV1, outputs })
  if (failure === undefined) return verdict("handled", "It cannot meet this failure.")
  const isTransient = NodeFailures.isTransient(kind)
  if (isTransient && node["retryOnFail"] === true && failure.isSeenByRetry) {
    return verdict("handled", "It tries again (retryOnFail).")
  }
  const { graph } = subject
  const order = [...undisturbed.items.keys()]
  const canRetry = node["retryOnFail"] !== true
  if (failure.does === "stops") return stopped(subject, order, name, name, canRetry)
  if (outcome?.status === "error" || outcome?.status === "crashed") {
    return stopped(subject, [...outcome.items.keys()], outcome.failedAt ?? name, name, canRetry)
  }
  if (failure.does === "nothing" && node["alwaysOutputData"] !== true) {
    return empty(subject, failing, undisturbed, outcome)
  }
  const output = failure.does === "nothing" ? 0 : failure.output
  if (output === 0) return regular(subject, failing, undisturbed, outcome)

  const loses = (because: string) => verdict("continues and loses items", because)
  const handlers = Graph.next(graph, name, output)
  if (handlers.length === 0) {
    return loses("Nothing is connected to its error output: connect what reports or repairs the failure.")
  }
  const next = new Set(Array.from({ length: output }, (_, index) => Graph.next(graph, name, index)).flat())
  const same = handlers.find((to) => next.has(to))
  if (same !== undefined) {
    return loses(`Results and failures both go to ${Rows.quote(same)}: connect the error output to a node of its own.`)
  }
  if (handlers.every((to) => subject.nodes.some((each) => each.name === to && each.disabled === true))) {
    return loses("The error output leads to a disabled node: enable it.")
  }
  if (outcome === undefined) return undefined
  if (!handlers.some((to) => outcome.items.has(to))) {
    return loses(`The failure does not reach ${Rows.quote(handlers[0] ?? "")}.`)
  }
  const receiver = reporter(subject, name, output, outcome)
  return receiver === undefined
    ? loses("The error output leads only to nodes that tell no one: connect what reports the failure.")
    : verdict("handled", `By the error output, ${receiver} gets what failed.`)
}

/**
 * Kind of failure whose run also decides this one: n8n treats all errors of a node alike, unless a parameter after it
 * reads the error.
 */
export const runAs = ({ graph, isV1, nodes }: Subject, { kind, node, outputs }: Case): NodeFailures.Kind => {
  const failure = NodeFailures.of(node, kind, { isV1, outputs })
  const after = Graph.after(graph, [node.name])
  const isRead = nodes.some((each) =>
    each.name !== node.name && after.has(each.name) &&
    /error|message|status|code/i.test(JSON.stringify(each.parameters ?? {}))
  )
  const equivalent = NodeFailures.kindsOf(node, isV1).find((each) => {
    const other = NodeFailures.of(node, each, { isV1, outputs })
    return each !== "empty" && other?.does === "continues" && failure?.does === "continues" &&
      other.output === failure.output && other.isUnnoticed === failure.isUnnoticed
  })
  return kind === "empty" || isRead ? kind : equivalent ?? kind
}
