/**
 * Past executions as input of tests: the trigger's items start the copy, and every node that reaches outside returns
 * its stored items instead of running, so that nothing is sent.
 */
import * as Effect from "effect/Effect"
import type { Hint } from "../base/Advice.ts"
import * as Errors from "../base/Errors.ts"
import type { Parse } from "../base/JavaScript.ts"
import { obj, str } from "../base/Json.ts"
import { fence } from "../catalogue/code/Fence.ts"
import * as NodeType from "../catalogue/types/NodeType.ts"
import { reachesOutside } from "../catalogue/types/Outside.ts"
import * as Execution from "../executions/Execution.ts"
import { Executions } from "../executions/Executions.ts"
import * as ItemComparison from "../executions/ItemComparison.ts"
import type { Node } from "../n8n/model/Workflow.ts"
import * as Graph from "../workflow/Graph.ts"
import * as pins from "./pins.ts"
import { byNameOrId, maxChars, mentions, type Options, type Subject } from "./TestCopy.ts"

/** Execution to replay, and the workflow to replay it in. */
export interface Request {
  readonly executionId: string
  readonly subject: Subject
  /** The workflow's id on n8n; absent for a file. */
  readonly workflowId: string | undefined
  readonly startNode: string | undefined
  readonly hasTestData: boolean
  readonly isTrigger: (node: Node) => boolean
  /** Nodes that run although they reach outside, by name. */
  readonly running: ReadonlySet<string>
  /** Nodes that run if they have no recorded items: they call workflows that only compute. */
  readonly inside: ReadonlySet<string>
  /** Whether a node that failed and reaches outside fails again; otherwise it has no items. */
  readonly repeatsFailures: boolean
  readonly find: (type: string) => NodeType.NodeType | undefined
  readonly parse: Parse
}

const refuse = (reason: string, hint: Hint, field = "replay") => new Errors.ValidationError({ reason, field, hint })

/** Reader of an execution's items; it stops soon after the maximum size of a copy, which then refuses them. */
export const reader = (execution: Execution.Execution) => {
  let length = 0
  const items = (slot: Execution.Slot): ReadonlyArray<unknown> => {
    const all: Array<unknown> = []
    for (const segment of execution.segments(slot)) {
      if (length > maxChars) break
      length += segment.text.length
      all.push(...segment.items())
    }
    return all
  }
  const outputs = (node: string, run: Execution.Run) => {
    const main = run.outputs.filter(({ type }) => type === "main")
    const count = Math.max(0, ...main.map(({ index }) => index + 1))
    return Array.from(
      { length: count },
      (_, index) => items({ node, run: run.index, side: "output", port: { type: "main", index } })
    )
  }
  return { items, outputs }
}

type Reader = ReturnType<typeof reader>

/** Way in which a node goes on after an error. */
export const onErrorOf = ({ continueOnFail, onError }: Node) =>
  str(onError) ?? (continueOnFail === true ? "continueRegularOutput" : "stopWorkflow")

const messageOf = (item: unknown) => {
  const { error, message } = obj(obj(item)?.["json"]) ?? {}
  return str(error) ?? str(obj(error)?.["message"]) ?? str(message) ?? "it failed"
}

/** Whether n8n takes an item for an error. */
export const isErrorItem = (item: unknown) => {
  const json = obj(obj(item)?.["json"]) ?? {}
  const keys = Object.keys(json).length
  return obj(item)?.["error"] !== undefined || json["error"] !== undefined &&
      (keys === 1 || keys === 2 && json["message"] !== undefined)
}

interface Outcome {
  readonly outputs: ReadonlyArray<ReadonlyArray<unknown>>
  readonly error?: string | undefined
}

/** Outcome of a run with another way to go on after errors; `main` is the number of outputs without that of errors. */
const rerouted = ({ error, outputs }: Outcome, former: string, now: string, main: number): Outcome => {
  if (former === now) return { outputs, error }
  const isError = (item: unknown, output: number) =>
    former === "continueErrorOutput" ? output === main : former === "continueRegularOutput" && isErrorItem(item)
  const errors = error === undefined
    ? outputs.flatMap((items, output) => items.filter((item) => isError(item, output)))
    : [{ json: { error } }]
  const [first] = errors
  if (first === undefined) return { outputs, error }
  if (now === "stopWorkflow") return { outputs: [], error: messageOf(first) }
  const rest = Array.from(
    { length: main },
    (_, output) => (outputs[output] ?? []).filter((item) => !isError(item, output))
  )
  const [regular = [], ...others] = rest
  return now === "continueErrorOutput"
    ? { outputs: [...rest, errors] }
    : { outputs: [[...regular, ...errors], ...others] }
}

const pinOf = (
  { outputs }: Reader,
  runs: ReadonlyArray<Execution.Run>,
  name: string,
  /** Way to go on after errors then and now, if a failure is repeated. */
  repeated: { readonly former: string; readonly now: string; readonly main: number } | undefined
): pins.Pin => {
  const isFailed = ({ error, outputs }: Execution.Run) =>
    error !== undefined && outputs.every(({ count }) => count === 0)
  const isEmpty = runs.every((run) => run.error !== undefined || run.outputs.length === 0)
  if (isEmpty && !(repeated !== undefined && runs.some(isFailed))) return pins.missing
  const outcomes = runs.map((run): Outcome => {
    const own = outputs(name, run)
    if (repeated === undefined) return { outputs: own }
    const error = isFailed(run) ? Execution.errorDetail(run.error).message : undefined
    return rerouted({ outputs: own, error }, repeated.former, repeated.now, repeated.main)
  })
  return {
    runs: outcomes.map(({ outputs }) => outputs),
    repeats: false,
    isMissing: false,
    ...(repeated === undefined ? {} : { errors: outcomes.map(({ error }) => error) })
  }
}

export const starterOf = ({ runs }: Execution.Execution): string | undefined =>
  [...runs].toSorted(([, [a]], [, [b]]) => Execution.byOrder(a, b))[0]?.[0]

/** Names that nodes had in an execution: a node keeps its id when it is renamed. */
export const formerName = ({ runs, workflow }: Execution.Execution) => {
  const names = new Map((workflow?.nodes ?? []).flatMap(({ id, name }) => id === undefined ? [] : [[id, name]]))
  return ({ id, name }: Node): string => runs.has(name) || id === undefined ? name : names.get(id) ?? name
}

/** Input items of a node's last run, unless several inputs had items. */
const received = ({ items }: Reader, execution: Execution.Execution, name: string) => {
  const run = execution.runs.get(name)?.at(-1)
  if (run === undefined) return undefined
  const parts = Execution.inputs(execution, name, run).filter(({ count }) => count > 0)
  return parts.length > 1 ? undefined : parts.flatMap(({ slot }) => items(slot))
}

/** Output of nodes that expressions refer to, with n8n's links from the input of the start node. */
const earlierOf = Effect.fnUntraced(function*(
  read: Reader,
  execution: Execution.Execution,
  { nameThen, start, subject }: {
    readonly nameThen: (node: Node) => string
    readonly start: Node
    readonly subject: Subject
  }
) {
  const startRun = execution.runs.get(nameThen(start))?.at(-1)
  const [received] = startRun === undefined
    ? []
    : Execution.inputs(execution, nameThen(start), startRun).filter(({ count }) => count > 0)
  const parameters = JSON.stringify(subject.nodes.map((node) => node.parameters))
  const earlier = new Map<string, pins.Earlier>()
  for (const node of subject.nodes) {
    const name = nameThen(node)
    if (node === start || !mentions(parameters, node.name)) continue
    // In a loop, the run from which the start's items come; otherwise the last.
    let output: pins.Earlier | undefined
    for (const run of (execution.runs.get(name) ?? []).toReversed()) {
      for (const { count, index, type } of run.outputs) {
        if (type !== "main" || count === 0) continue
        const slot: Execution.Slot = { node: name, run: run.index, side: "output", port: { type, index } }
        const origins = received === undefined
          ? []
          : yield* ItemComparison.origins(execution, {
            from: { parts: [{ slot, count }] },
            to: { parts: [received] }
          })
        const isLinked = origins.some((origin) => origin !== undefined)
        if (output === undefined || isLinked) output = { items: read.items(slot), origins }
        if (isLinked) break
      }
      if (output?.origins?.some((origin) => origin !== undefined) === true) break
    }
    if (output !== undefined) earlier.set(node.name, output)
  }
  return earlier
})

const startItemsOf = (
  read: Reader,
  execution: Execution.Execution,
  { isTrigger, name, starter }: {
    readonly name: string
    readonly isTrigger: boolean
    readonly starter: string | undefined
  }
) => {
  if (name !== starter && !(isTrigger && !execution.runs.has(name))) return received(read, execution, name)
  const [run] = execution.runs.get(starter ?? name) ?? []
  return run === undefined ? undefined : read.outputs(starter ?? name, run).find((items) => items.length > 0) ?? []
}

/** Options of a copy that repeats an execution. */
export const of = Effect.fn("Replay.of")(function*(
  request: Request
) {
  const { executionId, find, hasTestData, isTrigger, parse, running, startNode, subject, workflowId } = request
  const executions = yield* Executions
  const execution = yield* executions.get(executionId)
  if (execution.runs.size === 0) {
    return yield* refuse(
      `Execution '${executionId}' has no data to replay`,
      "n8n stored none: choose another, or set testData and pins."
    )
  }
  if (workflowId !== undefined && execution.workflowId !== workflowId && startNode === undefined) {
    return yield* refuse(
      `Execution '${executionId}' is of another workflow ('${execution.workflowId}')`,
      "To replay it here anyway, set startNode to the node to start at."
    )
  }
  const nameThen = formerName(execution)
  const starter = starterOf(execution)
  const start = startNode === undefined
    ? subject.nodes.find((node) => nameThen(node) === starter)
    : byNameOrId(subject.nodes, startNode)
  if (start === undefined && startNode === undefined) {
    return yield* refuse(
      `The workflow has no node '${starter}', which started execution '${executionId}'`,
      "Set startNode to the node to start at."
    )
  }
  const read = reader(execution)
  const startItems = hasTestData || start === undefined ? undefined : startItemsOf(read, execution, {
    name: nameThen(start),
    isTrigger: isTrigger(start),
    starter
  })
  if (startItems === undefined && !hasTestData && start !== undefined) {
    return yield* refuse(
      execution.runs.has(nameThen(start))
        ? `'${start.name}' received items by several inputs`
        : `'${start.name}' did not run in execution '${executionId}'`,
      "Start at an earlier node, or set testData.",
      "startNode"
    )
  }

  const graph = Graph.make(subject.connections)
  const byName = new Map(subject.nodes.map((node) => [node.name, node]))
  // A node that runs needs its sub-nodes.
  const allRunning = Graph.withSubNodes(graph, running)
  const isOutside = (node: Node) =>
    [...Graph.withSubNodes(graph, [node.name])].some((name) => {
      const each = byName.get(name)
      return each !== undefined && each.disabled !== true &&
        (reachesOutside(find(each.type), each, parse) || fence(each, parse) === undefined)
    })
  const waysOf = (node: Node) => {
    const now = onErrorOf(node)
    const former = execution.workflow?.nodes.find(({ name }) => name === nameThen(node))
    const type = find(node.type)
    const outputs = type && NodeType.at(type, node.typeVersion ?? NodeType.defaultVersion(type))?.outputs
    return {
      now,
      former: former === undefined ? now : onErrorOf(former),
      main: Array.isArray(outputs) ? outputs.length : 1
    }
  }
  return {
    fenced: new Set(subject.nodes.flatMap(({ name }) => allRunning.has(name) ? [] : [name])),
    startNode: start?.name,
    startItems,
    earlier: start === undefined || startItems === undefined || nameThen(start) === starter
      ? undefined
      : yield* earlierOf(read, execution, { start, subject, nameThen }),
    pinOf: (node) => {
      const runs = execution.runs.get(nameThen(node)) ?? []
      const runsInside = request.inside.has(node.name) && runs.length === 0
      return allRunning.has(node.name) || runsInside || !isOutside(node)
        ? undefined
        : pinOf(read, runs, nameThen(node), request.repeatsFailures ? waysOf(node) : undefined)
    }
  } satisfies Pick<Options, "fenced" | "startNode" | "startItems" | "earlier" | "pinOf">
})
