/** Items that a call of a workflow returns as n8n's Execute Workflow node makes them of the runs that it starts. */
import * as Effect from "effect/Effect"
import { obj } from "../../base/Json.ts"
import * as Execution from "../../executions/Execution.ts"
import * as ItemComparison from "../../executions/ItemComparison.ts"
import { type Node, parametersOf } from "../../n8n/model/Workflow.ts"
import type * as pins from "../pins.ts"
import * as Replay from "../Replay.ts"

/** Items by output, or the message of a failure. */
type Returned = { readonly message: string } | { readonly outputs: ReadonlyArray<ReadonlyArray<unknown>> }

/** A node as it is now, and as it was when it ran. */
interface Nodes {
  readonly now: Node
  readonly former: Node
}

/** Whether a call waits for the items of what it starts. */
export const waits = (node: Node): boolean => obj(parametersOf(node)["options"])?.["waitForSubWorkflow"] !== false

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
