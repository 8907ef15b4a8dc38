/**
 * Test runs of workflows, which n8n's public API does not offer: as a temporary copy that a webhook starts, or, with
 * mode `live`, by calling the real webhook of a published workflow.
 *
 * The copy is always deleted together with its execution, which stays readable through `Executions`.
 */
import * as Effect from "effect/Effect"
import * as Struct from "effect/Struct"
import * as Errors from "../base/Errors.ts"
import { Executions } from "../executions/Executions.ts"
import * as NodeLookups from "../workflows/NodeLookups.ts"
import * as executionWatch from "./executionWatch.ts"
import * as live from "./live.ts"
import { outsideOf } from "./outside.ts"
import * as TestBench from "./TestBench.ts"

export type { Outside } from "./outside.ts"
export type { Pins, TestResult } from "./TestBench.ts"

/** Options of a test. */
export interface Options extends Omit<TestBench.Case, "rows">, executionWatch.ObserveOptions {
  readonly mode: "copy" | "live"
}

const runCopy = Effect.fnUntraced(
  function*(workflowId: string, options: Options) {
    const bench = yield* TestBench.open(workflowId, Struct.pick(options, ["timeout", "grantsTimeout"]))
    return yield* bench.run(Struct.omit(options, ["timeout", "grantsTimeout", "mode"]))
  },
  Effect.scoped
)

const runLive = Effect.fnUntraced(function*(workflowId: string, options: Options) {
  for (const field of ["pins", "replay", "endNode"] as const) {
    if (options[field] === undefined) continue
    const reason = `${field} has no effect on a live workflow`
    return yield* Errors.invalid(field, reason, "Nothing ran. mode: 'copy' accepts it.")
  }
  const executions = yield* Executions
  const target = yield* live.target(workflowId, options)
  const { answer, execution, timedOut, timeout } = yield* executionWatch.observe(options, {
    // It can be identified for certain only once it has ended.
    searchTimeout: options.timeout,
    call: executionWatch.callWebhook(target.path, target.call),
    find: () => target.find,
    nodeCount: target.nodes.length,
    added: 0,
    read: executions.get
  })
  return {
    workflow: { id: target.id, name: target.name },
    execution,
    trigger: target.node.name,
    pinned: [],
    notRun: [],
    shortOfRuns: [],
    upgraded: [],
    repairs: [],
    timedOut,
    timeout,
    response: answer,
    outside: yield* outsideOf(target.nodes, yield* NodeLookups.make(target.nodes.map(({ type }) => type)))
  } satisfies TestBench.TestResult
})

/** Runs a workflow until its execution has ended or waits, or the timeout has passed. */
export const run = Effect.fn("WorkflowTesting.run")((workflowId: string, options: Options) =>
  options.mode === "live" ? runLive(workflowId, options) : runCopy(workflowId, options)
)
