/** Evaluations (n8n 2.x): runs of a workflow over the rows of its evaluation trigger. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type * as Errors from "../base/Errors.ts"
import { elements, type Page, pageOf, type PageQuery } from "./pages.ts"
import { getJson, type Requests, sendJson } from "./requests.ts"
import { path, workflowTarget } from "./workflows.ts"

const result = {
  id: Schema.String,
  status: Schema.String,
  runAt: Schema.optionalKey(Schema.NullOr(Schema.String)),
  completedAt: Schema.optionalKey(Schema.NullOr(Schema.String)),
  metrics: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))),
  errorCode: Schema.optionalKey(Schema.NullOr(Schema.String))
}

/** A run: `status` is `new`, `running`, `completed`, `error` or `cancelled`. */
const TestRun = Schema.Struct({
  ...result,
  finalResult: Schema.optionalKey(Schema.NullOr(Schema.String)),
  testCaseCount: Schema.optionalKey(Schema.Int)
})

/**
 * A run of a workflow's test cases, and its result.
 *
 * @category models
 * @since 0.1.0
 */
export type TestRun = typeof TestRun.Type

/** One row of a run: what went in, what came out, and the execution. */
const TestCase = Schema.Struct({
  ...result,
  inputs: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))),
  outputs: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))),
  executionId: Schema.optionalKey(Schema.NullOr(Schema.String))
})

/**
 * One case of a test run, and its result.
 *
 * @category models
 * @since 0.1.0
 */
export type TestCase = typeof TestCase.Type

const Runs = pageOf(TestRun)
const Cases = pageOf(TestCase)
const Cancelled = Schema.Struct({ status: Schema.optionalKey(Schema.String) })

/** The evaluation endpoints (2.x). */
export interface Service {
  /** `GET /workflows/{id}/test-runs`. */
  readonly listTestRuns: (
    workflowId: string,
    query: PageQuery & { readonly status?: string }
  ) => Effect.Effect<Page<TestRun>, Errors.N8nError>
  /** All runs of a workflow, a page at a time as they are asked for. */
  readonly streamTestRuns: (workflowId: string) => Stream.Stream<TestRun, Errors.N8nError>
  /** `POST /workflows/{id}/test-runs`: starts one; the workflow needs an evaluation trigger. */
  readonly createTestRun: (workflowId: string) => Effect.Effect<TestRun, Errors.N8nError>
  /** `GET /workflows/{id}/test-runs/{runId}`. */
  readonly getTestRun: (workflowId: string, runId: string) => Effect.Effect<TestRun, Errors.N8nError>
  /** `POST /workflows/{id}/test-runs/{runId}/cancel`. */
  readonly cancelTestRun: (workflowId: string, runId: string) => Effect.Effect<void, Errors.N8nError>
  /** `GET /workflows/{id}/test-runs/{runId}/test-cases`. */
  readonly listTestCases: (
    workflowId: string,
    runId: string,
    query: PageQuery
  ) => Effect.Effect<Page<TestCase>, Errors.N8nError>
  /** All rows of a run, a page at a time as they are asked for. */
  readonly streamTestCases: (workflowId: string, runId: string) => Stream.Stream<TestCase, Errors.N8nError>
}

const runs = (workflowId: string) => `${path(workflowId)}/test-runs`

const run = (workflowId: string, runId: string) => `${runs(workflowId)}/${encodeURIComponent(runId)}`

const runTarget = (operation: string, runId: string): Errors.ResourceTarget => ({
  operation,
  resourceType: "Test run",
  resourceId: runId
})

/** Implements them for one n8n. */
export const make = (requests: Requests): Service => {
  const listTestRuns: Service["listTestRuns"] = Effect.fn("N8nClient.listTestRuns")((workflowId, query) =>
    getJson(requests, runs(workflowId), Runs, workflowTarget(workflowId, "list the test runs of workflow"), {
      ...query
    })
  )
  const listTestCases: Service["listTestCases"] = Effect.fn("N8nClient.listTestCases")((workflowId, runId, query) =>
    getJson(requests, `${run(workflowId, runId)}/test-cases`, Cases, runTarget("list the cases of test run", runId), {
      ...query
    })
  )
  return {
    listTestRuns,
    streamTestRuns: (workflowId) =>
      elements(
        workflowTarget(workflowId, "list the test runs of workflow"),
        (page) => listTestRuns(workflowId, page)
      ),
    createTestRun: Effect.fn("N8nClient.createTestRun")((workflowId) =>
      sendJson(
        requests,
        { method: "POST", path: runs(workflowId) },
        TestRun,
        workflowTarget(workflowId, "start a test run of workflow")
      )
    ),
    getTestRun: Effect.fn("N8nClient.getTestRun")((workflowId, runId) =>
      getJson(requests, run(workflowId, runId), TestRun, runTarget("get test run", runId))
    ),
    cancelTestRun: Effect.fn("N8nClient.cancelTestRun")((workflowId, runId) =>
      Effect.asVoid(
        sendJson(
          requests,
          { method: "POST", path: `${run(workflowId, runId)}/cancel` },
          Cancelled,
          runTarget("cancel test run", runId)
        )
      )
    ),
    listTestCases,
    streamTestCases: (workflowId, runId) =>
      elements(runTarget("list the cases of test run", runId), (page) => listTestCases(workflowId, runId, page))
  }
}
