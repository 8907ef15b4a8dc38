/** Proofs of the workflows that call a changed one: their recorded runs are replayed with what it would return to them. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Errors from "../../base/Errors.ts"
import { defined, obj } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Execution from "../../executions/Execution.ts"
import { Executions } from "../../executions/Executions.ts"
import * as ItemComparison from "../../executions/ItemComparison.ts"
import * as SubRuns from "../../executions/SubRuns.ts"
import * as WorkflowMap from "../../fleet/Map.ts"
import { type Node, parametersOf } from "../../n8n/model/Workflow.ts"
import * as Graph from "../../workflow/Graph.ts"
import * as References from "../../workflow/References.ts"
import * as pins from "../pins.ts"
import * as Replay from "../Replay.ts"
import * as Replays from "../Replays.ts"
import * as TestBench from "../TestBench.ts"
import type * as Comparison from "./Comparison.ts"
import { formerOf, subjectThen } from "./learning.ts"
import * as Proof from "./Proof.ts"
import * as Proofs from "./Proofs.ts"
import * as RunComparison from "./RunComparison.ts"

/** Items by output, or the message of a failure. */
type Returned = { readonly message: string } | { readonly outputs: ReadonlyArray<ReadonlyArray<unknown>> }

/** A node as it is now, and as it was when it ran. */
interface Nodes {
  readonly now: Node
  readonly former: Node
}

/** Whether a call waits for the items of what it starts. */
const waits = (node: Node): boolean => obj(parametersOf(node)["options"])?.["waitForSubWorkflow"] !== false

/** Result of a run for its caller: the items of the last node, linked to those that it got. */
const returnedBy = Effect.fnUntraced(function*(execution: Execution.Execution) {
  const failure = Execution.failure(execution)
  if (failure !== undefined) return { message: Execution.errorDetail(failure.error).message }
  const last = execution.lastNode ?? ""
  const run = execution.runs.get(last)?.at(-1)
  const starter = Replay.starterOf(execution) ?? ""
  const first = execution.runs.get(starter)?.[0]
  const from = { parts: first === undefined ? [] : Execution.outputSlots(starter, first) }
  const outputs = run === undefined ? [] : Replay.reader(execution).outputs(last, run)
  return {
    outputs: yield* Effect.forEach(
      outputs,
      Effect.fnUntraced(function*(items, index) {
        const slot: Execution.Slot = { node: last, run: run?.index ?? 0, side: "output", port: { type: "main", index } }
        const origins = items.length === 0 || last === starter
          ? []
          : yield* ItemComparison.origins(execution, { from, to: { parts: [{ slot, count: items.length }] } })
        return items.map((item, at) => ({ ...obj(item), pairedItem: { item: origins[at] ?? at } }))
      })
    )
  } satisfies Returned
})

/** Items of which some are errors, which n8n moves to the error output with the fields of the input item. */
const withErrorOutput = (
  [items = [], ...others]: ReadonlyArray<ReadonlyArray<unknown>>,
  inputs: ReadonlyArray<unknown>
) => {
  const errors = items.filter(Replay.isErrorItem).map((item) => {
    const input = inputs[Number(obj(obj(item)?.["pairedItem"])?.["item"])]
    return { ...obj(item), json: { ...obj(obj(input)?.["json"]), ...obj(obj(item)?.["json"]) } }
  })
  return [items.filter((item) => !Replay.isErrorItem(item)), errors, ...others.slice(1)]
}

/** Result of one run of a node, of what each run that it starts returns; `undefined` if some are missing. */
const resultOf = (
  { former, now }: Nodes,
  inputs: ReadonlyArray<unknown>,
  parts: ReadonlyArray<Returned>
): Returned | undefined => {
  const isEach = parametersOf(former)["mode"] === "each"
  const outputs: Array<Array<unknown>> = [[]]
  const count = isEach ? former["executeOnce"] === true ? Math.min(1, inputs.length) : inputs.length : 1
  for (let item = 0; item < count; item++) {
    const part = parts[item]
    if (part === undefined) return undefined
    if ("outputs" in part) {
      for (const [index, items] of part.outputs.entries()) {
        const own = outputs[index] ??= []
        own.push(...(isEach ? items.map((each) => ({ ...obj(each), pairedItem: { item } })) : items))
      }
    } else if (Replay.onErrorOf(now) !== "stopWorkflow") {
      // Up to 1.2, each item that fails has an output of its own.
      const own = outputs[isEach && (now.typeVersion ?? 1) < 1.3 ? item : 0] ??= []
      own.push({ json: { error: part.message }, pairedItem: { item } })
    } else return { message: isEach ? `Error executing workflow with item at index ${item}` : part.message }
  }
  const all = Array.from(outputs, (items) => items ?? [])
  const moved = now.onError === "continueErrorOutput" ? withErrorOutput(all, inputs) : all
  const isEmpty = now["alwaysOutputData"] === true && moved.every((items) => items.length === 0)
  return { outputs: isEmpty ? [[{ json: {} }]] : moved }
}

/**
 * Pin of a node that calls a workflow: for each of its runs in a record, the items that it would return if the runs that
 * it started were these. Fails with the reason if one of these is missing.
 */
export const pinOf = Effect.fnUntraced(function*<R>(
  record: Execution.Execution,
  nodes: Nodes,
  started: ReadonlyArray<ReadonlyArray<string>>,
  find: (id: string) => Effect.Effect<Execution.Execution, string, R>
) {
  const { former: { name }, now } = nodes
  const read = Replay.reader(record)
  const results = yield* Effect.forEach(
    record.runs.get(name) ?? [],
    Effect.fnUntraced(function*(run, index) {
      const parts = yield* Effect.forEach(started[index] ?? [], (id) => Effect.flatMap(find(id), returnedBy))
      const inputs = Execution.inputs(record, name, run).flatMap(({ input, slot }) =>
        input === 0 ? read.items(slot) : []
      )
      return resultOf(nodes, inputs, parts) ??
        (yield* Effect.fail(`'${now.name}' stopped at an item that no longer fails: the later ones were not recorded`))
    })
  )
  return {
    runs: results.map((result) => "outputs" in result ? result.outputs : []),
    repeats: false,
    isMissing: false,
    errors: results.map((result) => "message" in result ? result.message : undefined)
  } satisfies pins.Pin
})

/** Callers to prove, and how; `after` is the one that an earlier call ended with. */
export interface Options extends Pick<Proof.Options, "ignore" | "last" | "redacts" | "timeout"> {
  readonly after?: string | undefined
}

/** Proof of callers. */
export interface CallersProof extends Proofs.Proofs {
  /** `after` of the call that continues. */
  readonly next?: string
}

/** Recorded run of a caller: the runs that each of its nodes started, by node and run, or the reason without them. */
interface Called {
  readonly id: string
  readonly nodes: ReadonlyMap<string, { readonly node: Node; readonly started: ReadonlyArray<ReadonlyArray<string>> }>
  readonly why?: string | undefined
}

/** Reasons why links other than calls are not replayed. */
const reasons = {
  tool: "calls it as a tool: when, the model decides",
  error: "starts it when it fails: test that by itself",
  http: "calls it by its webhook: prove it without callers",
  self: "calls itself",
  draft: "only its draft calls it"
}

/** Workflows that call another one directly, and those that only lead to it otherwise, with the reason. */
const linksTo = (map: WorkflowMap.WorkflowMap, workflowId: string) => {
  const links = WorkflowMap.affected(map, workflowId).filter(({ steps }) => steps === 1).map((
    { from, kind, state }
  ) => ({
    from,
    kind: from === workflowId ? "self" as const : kind === "calls" && state === "draft" ? "draft" as const : kind
  }))
  const byExpression = map.unresolved.filter(({ kind, mentions }) =>
    kind === "calls" && mentions?.includes(workflowId) === true
  )
  const callers = new Set([...links.filter(({ kind }) => kind === "calls"), ...byExpression].map(({ from }) => from))
  return {
    callers: [...callers].toSorted(),
    others: links.flatMap(({ from, kind }) =>
      kind === "calls" || kind === "draft" && callers.has(from) ? [] : [{ id: from, why: reasons[kind] }]
    )
  }
}

const read = Effect.fnUntraced(function*(id: string, workflowId: string) {
  const record = yield* Executions.use((executions) => executions.get(id))
  const nodes = new Map<string, { node: Node; started: ReadonlyArray<ReadonlyArray<string>> }>()
  if (RunComparison.obstacle(record) !== undefined) return { id, nodes } satisfies Called
  const { runs } = yield* SubRuns.of(record)
  let why: string | undefined
  let isReached = false
  for (const node of record.workflow?.nodes ?? []) {
    const own = runs.filter((each) => each.node === node.name)
    const to = own[0]?.workflowId ?? References.callOf(node)?.id
    if (node.type !== References.caller || to !== workflowId || !record.runs.has(node.name)) continue
    isReached = true
    if (!waits(node)) {
      why ??= `'${node.name}' does not wait for what it returns`
      continue
    }
    const started = SubRuns.byRun(record, node, own)
    if (started === undefined) {
      return { id, nodes, why: "n8n has not stored every run that it started" } satisfies Called
    }
    nodes.set(node.name, { node, started })
  }
  return isReached ? { id, nodes, why: nodes.size === 0 ? why : undefined } satisfies Called : undefined
})

const startedBy = ({ nodes }: Called) => [...nodes.values()].flatMap(({ started }) => started.flat())

/** Newest runs of a caller in which it called the workflow; those that started too many to replay have the reason. */
const newest = Effect.fnUntraced(function*(caller: string, workflowId: string, last: number) {
  const workbench = yield* TestBench.workbench(caller)
  const { ids } = yield* Replays.idsOf(workbench, { last: Math.min(Replays.maxRuns, last * 4) })
  const all: Array<Called> = []
  let count = 0
  for (const id of ids) {
    if (all.length === last) break
    const called = yield* read(id, workflowId)
    if (called === undefined) continue
    const started = startedBy(called).length
    count += started
    all.push(
      count > Replays.maxRuns ? { id, nodes: new Map(), why: `it calls ${started} times, too often to replay` } : called
    )
    if (count > Replays.maxRuns) count -= started
  }
  if (all.length > 0) return { subject: workbench.subject, runs: all }
  return yield* Errors.invalid(
    "callers",
    `none of its ${counted(ids.length, "newest run")} called it`,
    "Prove it without callers."
  )
})

/**
 * Replays the newest recorded runs of each workflow that calls another one, `reference`, directly, and compares as
 * `Proof.prove`. A node that calls it returns what it returns now: its own recorded runs, which the node started, are
 * replayed first.
 */
export const prove = Effect.fn("CallersProof.prove")(function*(
  reference: string,
  { after, last = Replays.defaultBatchLast, ...options }: Options
) {
  const executions = yield* Executions
  const workbench = yield* TestBench.workbench(reference)
  const { subject: { name }, recordedId, sourceId = recordedId } = workbench
  if (sourceId === undefined) {
    return yield* Errors.invalid(
      "workflowId",
      `'${reference}' does not name a workflow on n8n that others call`,
      "Name one on n8n, or a file with its id."
    )
  }
  const map = yield* WorkflowMap.read
  const named = (id: string) => ({ id, name: map.workflows.get(id)?.name ?? id })
  const { callers, others } = linksTo(map, sourceId)
  if (callers.length + others.length === 0) {
    return yield* Errors.invalid(
      "callers",
      `No workflow calls '${name}'`,
      ["Leave out callers: its own runs prove it.", { _tag: "ShowCalls" }]
    )
  }
  const replays = yield* Replays.make(workbench, options)
  const known = yield* formerOf(workbench)

  const former = Effect.fnUntraced(function*(id: string) {
    const record = yield* Effect.mapError(executions.get(id), ({ message }) => message)
    const subject = known.published ?? subjectThen(record, workbench.subject, known.settings)
    if (subject === undefined) return yield* Effect.fail(`n8n did not store the version of '${name}' that ran`)
    return (yield* Effect.mapError(replays.replay(subject, id), ({ why }) => why)).result.execution
  })

  let sending = 0
  const proveOne = Effect.fnUntraced(function*({ id }: Proofs.Named) {
    const caller = map.workflows.get(id)?.isPublished === true ? `${id}@published` : id
    const { runs, subject } = yield* newest(caller, sourceId, last)
    const ids = [...new Set(runs.flatMap(startedBy))]
    const own = ids.length === 0
      ? undefined
      : yield* Proof.prove(reference, { timeout: options.timeout, redacts: options.redacts, executions: ids })
    sending += own?.outcomes.filter(({ effects }) => effects.sendsOther).length ?? 0
    const replayed = new Map(own?.outcomes.map((outcome) => [outcome.execution, outcome]))
    const changed = (id: string) => {
      const outcome = replayed.get(id)
      const gap = outcome?.differences.find(({ kind }) => kind === "unknown")
      if (outcome !== undefined && gap === undefined) return Effect.succeed(outcome.replayed.result.execution)
      const why = own?.notReplayed.find(({ execution, node }) => execution === id && node === undefined)?.why ??
        own?.notReplayed.find(({ execution, node }) => execution !== undefined && node === undefined)?.why
      return Effect.fail(
        `a run of '${name}' that it started: ${
          gap === undefined ? why ?? "no time was left to replay it" : `'${gap.node}' stops the comparison: ${gap.path}`
        }`
      )
    }
    const byId = new Map(runs.map((run) => [run.id, run]))
    const graph = Graph.make(subject.connections)
    const inside: Comparison.Inside = Effect.fnUntraced(function*(record, version) {
      const { nodes, why } = byId.get(record.id) ?? { nodes: new Map() }
      if (why !== undefined) return yield* Effect.fail(why)
      const nameThen = Replay.formerName(record)
      const rows = yield* Effect.forEach(subject.nodes, (now) => {
        const call = nodes.get(nameThen(now))
        if (call === undefined || now.disabled === true || !waits(now)) return Effect.succeed([])
        const find = version === "changed" ? changed : former
        return Effect.map(pinOf(record, { now, former: call.node }, call.started, find), (pin) => [
          [
            now.name,
            (node: Node, added: pins.Added) => pins.nodes(node, pin, Graph.outputCount(graph, node.name), added)
          ] as const
        ])
      })
      return new Map(rows.flat())
    })
    return yield* Proof.prove(caller, { ...options, executions: runs.map(({ id }) => id), inside })
  })

  const start = after === undefined ? 0 : callers.indexOf(after) + 1
  const { after: next, all } = yield* Proofs.each(callers.slice(start).map(named), proveOne)
  const noticing = all.filter(({ proof }) =>
    Result.isSuccess(proof) && proof.success.outcomes.some(({ effects }) => effects.answersOther || effects.sendsOther)
  ).map(({ name }) => name)
  const chained = all.flatMap(({ id, name, proof }) => {
    const above = map.edges.filter(({ from, kind, state, to }) =>
      to === id && from !== id && kind === "calls" && state !== "disabled"
    )
    const differs = Result.isSuccess(proof) && proof.success.same < proof.success.runs
    return differs && above.length > 0
      ? [{
        id,
        name,
        why: `differs, and is called itself by ${Rows.names(above.map(({ from }) => named(from).name), 3)}`
      }]
      : []
  })
  const whole = Proofs.of(all, [...others.map(({ id, why }) => ({ ...named(id), why })), ...chained])
  const notes = [
    ...whole.same === whole.runs ? [] : [
      noticing.length === 0
        ? "all send and answer the same"
        : `${Rows.names(noticing, 3)} would send or answer differently`
    ],
    ...sending === 0
      ? []
      : [`'${name}' itself sends something different in ${counted(sending, "run")}: prove it without callers`]
  ]
  return defined({ ...whole, verdict: [whole.verdict, ...notes].join("; "), next }) satisfies CallersProof
}, Effect.scoped)
