/** Plan of a retry: which of the chosen runs are retried, and what is sent to which place. */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Errors from "../base/Errors.ts"
import * as Visible from "../base/Visible.ts"
import { Executions } from "../executions/Executions.ts"
import * as RetryLog from "../executions/RetryLog.ts"
import * as Selection from "../executions/Selection.ts"
import * as WorkflowNames from "../executions/WorkflowNames.ts"
import type * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import * as TestMark from "../n8n/model/TestMark.ts"
import type * as Workflow from "../n8n/model/Workflow.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"
import { WriteGuard } from "../n8n/WriteGuard.ts"
import * as live from "./live.ts"
import * as retryHistory from "./retryHistory.ts"
import * as retryRequests from "./retryRequests.ts"
import * as retryWatch from "./retryWatch.ts"

/** Runs to retry, and how. */
export interface Options {
  readonly runs: ReadonlyArray<string> | Selection.Query
  readonly from: "failure" | "start"
  /** Whether n8n resumes the current workflow instead of the one that ran. */
  readonly latest: boolean
  readonly dryRun: boolean
}

/** Run that is not retried; `error` if n8n or a check refused it. */
export class Skipped extends Data.TaggedError("Skipped")<{
  readonly id: string
  readonly reason: string
  /** Other run that is the reason. */
  readonly as?: string | undefined
  readonly error?: Errors.N8nError
}> {}

/** Run that is to be retried, for readers. */
export interface Planned {
  readonly id: string
  readonly workflowId: string
  readonly workflowName: string
  /** Place that receives the request; absent if n8n resumes the run. */
  readonly to?: string
  /** Beginning of the request's body. */
  readonly body?: string
}

/** Run that is to be retried, and how. */
export interface Plan extends Planned {
  readonly attempt: RetryLog.Attempt
  /** Newest execution among the run and its retries by n8n. */
  readonly newest: string
  readonly action: "resume" | "send" | "copy"
  readonly version?: string | undefined
  /** Reference of the workflow to copy. */
  readonly reference: string
}

/** Maximum number of runs that are read or retried at the same time. */
export const concurrency = 4

/** Triggers of workflows that n8n runs unpublished; of the last two, only 1.x does. */
const unpublishable = ["manualTrigger", "errorTrigger", "executeWorkflowTrigger"].map((type) =>
  `n8n-nodes-base.${type}`
)

/** Error with n8n's own words. */
export const detailed = (error: Errors.N8nError): string => {
  if (error._tag === "NotFoundError") return error.message
  return error.errorDetails === undefined ? error.message : `${error.message}: ${error.errorDetails.slice(0, 200)}`
}

const skip = (id: string, reason: string) => new Skipped({ id, reason })

/** Result of what is done for a run. */
export const orSkipped = (id: string) => <A, R>(effect: Effect.Effect<A, Errors.N8nError | Skipped, R>) =>
  effect.pipe(
    Effect.mapError((error) => {
      if (error._tag === "Skipped") return error
      const isGone = error._tag === "NotFoundError" && error.resourceId === id
      return new Skipped({ id, reason: isGone ? "n8n does not have it: deleted or pruned" : detailed(error), error })
    }),
    Effect.result
  )

/** Results by whether they are of runs that are not retried. */
export const partition = <A>(results: ReadonlyArray<Result.Result<A, Skipped>>) => ({
  done: results.flatMap((result) => Result.isSuccess(result) ? [result.success] : []),
  skipped: results.flatMap((result) => Result.isFailure(result) ? [result.failure] : [])
})

/** Chosen runs, oldest first. */
export const choose = Effect.fnUntraced(function*({ runs }: Options) {
  if (!Array.isArray(runs)) {
    const query = runs as Selection.Query
    const selection = yield* Selection.select<never, never>(query, () => undefined)
    return {
      heads: selection.runs.map(({ head }) => head).toReversed(),
      skipped: [],
      next: Selection.next(selection, query),
      note: selection.note
    }
  }
  const n8n = yield* N8nClient
  const ids = [...new Set(runs as ReadonlyArray<string>)].toSorted((a, b) => Number(a) - Number(b))
  const read = (id: string) => orSkipped(id)(n8n.executionHead(id))
  const { done, skipped } = partition(yield* Effect.forEach(ids, read, { concurrency }))
  return { heads: done, skipped, next: undefined, note: undefined }
})

/** Request of a run, as it would be sent now. */
export const requestOf = Effect.fnUntraced(function*(id: string, workflow: Workflow.Workflow) {
  const execution = yield* Executions.use((executions) => executions.get(id))
  if (execution.isRedacted) return yield* skip(id, "n8n hides its data")
  const start = retryWatch.startOf(execution)
  if (start === undefined) return yield* skip(id, "n8n stored no data of it")
  const { node: { id: nodeId, name, type } } = start
  const nodes = live.publishedNodes(workflow).filter((each) => each.type === type)
  const node = nodes.find((each) => each.id !== undefined && each.id === nodeId) ??
    nodes.find((each) => each.name === name)
  if (node === undefined || node.disabled === true) {
    return yield* skip(id, `the published workflow does not have its trigger '${Visible.label(name)}' any more`)
  }
  if (!retryRequests.receivesRequests(node)) return { node, request: undefined }
  if (execution.mode === "manual") {
    return yield* skip(id, "it was a test in the editor, not a request to the production address")
  }
  const request = retryRequests.make(node, start)
  if (Result.isFailure(request)) return yield* skip(id, request.failure)
  return { node, request: { ...request.success, fingerprint: retryRequests.fingerprint(start.item) } }
})

/** Plan of a retry from the start. */
const planStart = Effect.fnUntraced(function*(
  { attempt, head, newest }: retryHistory.Open,
  workflow: Workflow.Workflow,
  names: ReadonlyMap<string, string>
) {
  const id = String(head.id)
  const n8n = yield* N8nClient
  if (workflow.isArchived === true) return yield* skip(id, "its workflow is archived")
  if (TestMark.isCopy(workflow)) return yield* skip(id, "its workflow is a test copy")
  const { node, request } = yield* requestOf(id, workflow)
  const [manual, ...others] = unpublishable
  const isOld = isV1(yield* n8n.release)
  const runsUnpublished = node.type === manual || isOld && others.includes(node.type)
  if (!workflow.active && !runsUnpublished) return yield* skip(id, "its workflow is not published")
  yield* WriteGuard.use(({ checkTest }) => checkTest(live.publishedNodes(workflow)))
  const query = request === undefined || request.query.length === 0
    ? ""
    : `?${request.query.map((pair) => pair.map(encodeURIComponent).join("=")).join("&")}`
  return {
    id,
    attempt,
    newest,
    workflowId: workflow.id,
    workflowName: names.get(workflow.id) ?? workflow.name,
    version: isOld ? undefined : workflow.activeVersionId ?? undefined,
    reference: workflow.active ? `${workflow.id}@published` : workflow.id,
    ...(request === undefined
      ? { action: "copy", to: `temporary copy, from '${Visible.label(node.name)}'` }
      : {
        action: "send",
        to: `${request.method} ${request.isForm === true ? "/form/" : "/webhook/"}${request.path}${query}`,
        ...(request.text === "" ? {} : { body: request.text })
      })
  } satisfies Plan as Plan
})

/** Plans of the runs that may be retried. */
export const make = Effect.fnUntraced(
  function*(options: Options, heads: ReadonlyArray<ExecutionHead.Listed>, end: number) {
    const n8n = yield* N8nClient
    const log = yield* RetryLog.RetryLog
    const read = log.read(n8n.instance.key)
    const attempts = yield* options.from === "start" ? read : Effect.orElseSucceed(read, () => [])
    const names = yield* WorkflowNames.read(heads)
    const decisions = yield* retryHistory.decide(heads, attempts)
    const workflows = new Map<string, Effect.Effect<Workflow.Workflow, Errors.N8nError>>()
    const workflowOf = Effect.fnUntraced(function*(id: string) {
      const cached = workflows.get(id) ?? (yield* Effect.cached(n8n.getWorkflow(id)))
      workflows.set(id, cached)
      return yield* cached
    })
    const unreached: Array<string> = []
    const planOf = Effect.fnUntraced(function*(decision: (typeof decisions)[number]) {
      const { head } = decision
      const id = String(head.id)
      const workflowId = head.workflowId ?? ""
      if ("reason" in decision) return yield* new Skipped({ ...decision, id })
      if (options.from === "failure") {
        const { attempt, newest } = decision
        const workflowName = names.get(workflowId) ?? WorkflowNames.unknown
        const plan: Plan = { id, attempt, newest, workflowId, workflowName, action: "resume", reference: workflowId }
        return plan
      }
      if ((yield* Clock.currentTimeMillis) > end) {
        unreached.push(id)
        return undefined
      }
      const workflow = yield* Effect.catchTag(
        workflowOf(workflowId),
        "NotFoundError",
        () => skip(id, "its workflow was deleted")
      )
      return yield* planStart(decision, workflow, names)
    })
    const results = yield* Effect.forEach(
      decisions,
      (decision) => orSkipped(String(decision.head.id))(planOf(decision)),
      { concurrency }
    )
    const { done, skipped } = partition(results)
    return {
      unreached,
      planned: done.filter((each) => each !== undefined),
      skipped
    }
  }
)
