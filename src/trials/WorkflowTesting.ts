/**
 * Test runs of workflows, which n8n's public API does not offer: as a temporary copy that a webhook starts, or, with
 * mode `live`, by calling the real webhook of a published workflow.
 *
 * The copy is always deleted together with its execution, which stays readable through `Executions`.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Errors from "../base/Errors.ts"
import * as Input from "../base/Input.ts"
import { Executions } from "../executions/Executions.ts"
import * as NodeLookups from "../workflows/NodeLookups.ts"
import { outsideOf } from "./boundary.ts"
import * as executionWatch from "./executionWatch.ts"
import * as TestBench from "./TestBench.ts"
import type * as TestCopy from "./TestCopy.ts"
import * as webhookCalls from "./webhookCalls.ts"

export type { Outside } from "./boundary.ts"
export type { TestResult } from "./TestBench.ts"

/** Time limit of tests, and whether they run a copy. */
export interface OpenOptions extends executionWatch.ObserveOptions {
  readonly mode: "copy" | "live"
}

/** Maximum number of cases of a test. */
export const maxCases = 20

/** Milliseconds that a test may take. */
export const timeouts = { minimum: 1_000, maximum: 3_600_000 } as const

/** Items by node instead of a run. @internal */
export const Pins = Schema.Record(
  Schema.String,
  Schema.Union([Schema.Array(Schema.Json.annotate({ description: "Item." })), Schema.Literal("run")])
)
/** @internal */
export type Pins = TestBench.Pins

const check = Input.decoder(Schema.Struct({
  mode: Schema.Literals(["copy", "live"]),
  timeout: Input.within("timeout", timeouts),
  grantsTimeout: Schema.optional(Schema.Boolean),
  testData: Schema.optional(Schema.Unknown),
  startNode: Schema.optional(Schema.String),
  endNode: Schema.optional(Schema.String),
  pins: Schema.optional(Pins),
  replay: Schema.optional(Schema.String.check(Schema.isPattern(/^\d+$/))),
  rerun: Schema.optional(Schema.Unknown)
}))

/** Options of a test. */
export interface Options extends Omit<TestBench.Case, "rows">, OpenOptions {}

/** Refuses what has no effect on a live workflow. */
const checkLive = (cases: ReadonlyArray<TestBench.Case>) => {
  const field = (["pins", "replay", "endNode"] as const).find((field) =>
    cases.some((each) => each[field] !== undefined)
  )
  return field === undefined
    ? Effect.void
    : Errors.invalid(
      field,
      `${field} has no effect on a live workflow, which takes testData`,
      `Nothing ran. Leave out ${field}, or set mode to 'copy', which accepts it.`
    )
}

const openLive = Effect.fnUntraced(
  function*(workflowId: string, cases: ReadonlyArray<TestBench.Case>, options: executionWatch.ObserveOptions) {
    yield* checkLive(cases)
    const opened = yield* webhookCalls.open(workflowId, cases[0]?.startNode)
    for (const { testData } of cases) yield* webhookCalls.requestOf(opened, testData)
    const { id, node, subject } = opened
    const executions = yield* Executions
    const lookups = yield* NodeLookups.make(subject.nodes.map(({ type }) => type))
    const outside = yield* outsideOf(subject.nodes, lookups)
    const run = Effect.fnUntraced(function*({ testData }: TestBench.Case) {
      const { call, find, path } = yield* webhookCalls.target(opened, testData, options.timeout)
      const { answer, execution, timedOut, timeout } = yield* executionWatch.observe(options, {
        // It can be identified for certain only once it has ended.
        searchTimeout: options.timeout,
        call: executionWatch.callWebhook(path, call),
        find: () => find,
        nodeCount: subject.nodes.length,
        added: 0,
        read: executions.get
      })
      return {
        workflow: { id, name: subject.name },
        version: execution.version,
        execution,
        trigger: node.name,
        pinned: [],
        notRun: [],
        shortOfRuns: [],
        upgraded: [],
        repairs: [],
        timedOut,
        timeout,
        response: answer,
        outside
      } satisfies TestBench.TestResult
    })
    return { subject, run }
  }
)

/** Workflow that runs any number of cases. @internal */
export interface Opened extends Pick<TestBench.Bench, "run"> {
  readonly subject: TestCopy.Subject
}

/** Opens a workflow for these cases; nothing runs if one of them cannot. @internal */
export const open = Effect.fn("WorkflowTesting.open")(
  function*(workflowId: string, cases: ReadonlyArray<TestBench.Case>, { mode, ...options }: OpenOptions) {
    const opened: Opened = mode === "live"
      ? yield* openLive(workflowId, cases, options)
      : yield* TestBench.open(workflowId, options)
    return opened
  }
)

/** Runs a workflow until its execution has ended or waits, or the timeout has passed. */
export const run = Effect.fn("WorkflowTesting.run")(
  function*(workflowId: string, options: Options) {
    yield* check(options)
    const { grantsTimeout, mode, timeout, ...input } = options
    const { run } = yield* open(workflowId, [input], { grantsTimeout, mode, timeout })
    return yield* run(input)
  },
  Effect.scoped
)
