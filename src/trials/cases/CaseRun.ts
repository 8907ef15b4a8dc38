/** Runs of test cases. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import * as Errors from "../../base/Errors.ts"
import * as Nearest from "../../base/Nearest.ts"
import * as ExecutionSummary from "../../executions/ExecutionSummary.ts"
import * as Reference from "../../workflows/Reference.ts"
import * as Workflows from "../../workflows/Workflows.ts"
import * as WorkflowTesting from "../WorkflowTesting.ts"
import * as CaseFiles from "./CaseFiles.ts"
import type { TestCase } from "./TestCase.ts"
import * as Verdict from "./Verdict.ts"

/** Options of a run. */
export interface Options {
  /** Whether to write the results into the cases instead of comparing. */
  readonly update: boolean
  readonly redacts: boolean
}

const defaultTimeout = 60_000

/** Workflow of a case; a path is relative to the case's folder. */
const referenceIn = Effect.fnUntraced(function*(file: string, workflow: string) {
  const path = yield* Path.Path
  return Reference.parse(workflow).place.kind === "file" ? path.resolve(path.dirname(file), workflow) : workflow
})

/** Refuses names of missing nodes, which would count as nodes without output. */
const checkNames = Effect.fnUntraced(function*(workflowId: string, { expect }: TestCase) {
  const expected = Object.keys(expect?.nodes ?? {})
  if (expected.length === 0) return
  const { workflow } = yield* Workflows.read(workflowId, "workflow")
  const names = new Set(workflow.nodes.map(({ name }) => name))
  const unknown = expected.find((name) => !names.has(name))
  if (unknown === undefined) return
  return yield* new Errors.ValidationError({
    reason: `expect.nodes names '${unknown}', which is not a node`,
    field: "expect.nodes",
    hint: `${Nearest.suggestion(unknown, names)} Nothing ran.`
  })
})

const tested = Effect.fnUntraced(function*(file: string, { redacts, update }: Options) {
  const caseFile = yield* CaseFiles.read(file)
  const { expect = {}, replay, testData, timeout = defaultTimeout, workflow, ...rest } = caseFile.testCase
  const workflowId = yield* referenceIn(file, workflow)
  yield* checkNames(workflowId, caseFile.testCase)
  const { execution, notRun, timedOut, upgraded } = yield* WorkflowTesting.run(workflowId, {
    ...rest,
    testData,
    replay: replay === undefined ? undefined : String(replay),
    timeout,
    mode: "copy"
  })
  if (timedOut) {
    return yield* new Errors.ValidationError({
      reason: `It was stopped after ${timeout} ms; until then ran: ${
        [...execution.runs.keys()].join(", ") || "nothing"
      }`,
      field: "timeout",
      hint: "Raise its timeout (ms)."
    })
  }
  const redact = Verdict.redaction(redacts)
  const differences = Verdict.differences(expect, execution, redact)
  const isUpdated = update && (yield* CaseFiles.write(caseFile, Verdict.updated(caseFile.testCase, execution, redact)))
  const unexpected = execution.status === (expect.status ?? "success") ? undefined : execution
  const tag = isUpdated ? "Updated" : differences.length === 0 || update ? "Passed" : "Failed"
  return {
    _tag: tag as typeof tag,
    executionId: execution.id,
    /** Differences; empty for a case that passed, and those before the update for one that was updated. */
    differences,
    /** Unexpected failure of the execution, without secrets. */
    failure: unexpected === undefined ? undefined : redact(ExecutionSummary.failureOf(unexpected)),
    /** Nodes that reach outside and for which the replayed execution has no data. */
    notRun,
    /** Deprecated nodes that were upgraded in the copy. */
    upgraded
  }
})

/** Runs one case; a failure is its outcome. */
export const run = Effect.fn("CaseRun.run")(function*(path: string, options: Options) {
  const started = yield* Clock.currentTimeMillis
  const outcome = yield* Effect.catch(
    tested(path, options),
    (error) => Effect.succeed({ _tag: "Error" as const, error })
  )
  return { path, milliseconds: (yield* Clock.currentTimeMillis) - started, ...outcome }
})

/** Outcome of a case. */
export type Outcome = Effect.Success<ReturnType<typeof run>>
