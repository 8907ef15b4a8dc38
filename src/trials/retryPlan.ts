/** Plan of a retry: which of the chosen runs are retried, and what is sent to which place. */
import * as Cache from "effect/Cache"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Errors from "../base/Errors.ts"
import { defined } from "../base/Json.ts"
import * as Visible from "../base/Visible.ts"
import { reachesOutside } from "../catalogue/types/Outside.ts"
import * as Execution from "../executions/Execution.ts"
import { Executions } from "../executions/Executions.ts"
import * as RetryLog from "../executions/RetryLog.ts"
import * as Selection from "../executions/Selection.ts"
import * as WorkflowNames from "../executions/WorkflowNames.ts"
import type * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import * as TestMark from "../n8n/model/TestMark.ts"
import type * as Workflow from "../n8n/model/Workflow.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"
import { WriteGuard } from "../n8n/WriteGuard.ts"
import * as NodeLookups from "../workflows/NodeLookups.ts"
import * as live from "./live.ts"
import { starterOf } from "./Replay.ts"
import * as retryHistory from "./retryHistory.ts"
import * as retryRequests from "./retryRequests.ts"

export interface Options {
  readonly runs: ReadonlyArray<string> | Selection.Query
  readonly from: "failure" | "start"
  /** Whether n8n resumes the current workflow instead of the one that ran. */
  readonly latest: boolean
  /** Whether to retry also runs that may have been sent again already. */
  readonly force: boolean
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

export interface Plan {
  readonly id: string
  readonly workflowId: string
  readonly workflowName: string
  readonly way: "resume" | "send" | "copy"
  readonly attempt: RetryLog.Attempt
  /** Newest execution that the plan takes into account. */
  readonly newest: number
  /** Place that receives the request; absent if n8n resumes the run. */
  readonly to?: string
  /** Beginning of the request's body. */
  readonly body?: string
  /** Nodes that reached outside before the failure, and will again. */
  readonly repeats?: ReadonlyArray<string>
  /** Version and reference of the workflow to copy. */
  readonly version?: string
  readonly reference?: string
}

/** Maximum number of runs that are read or retried at the same time. */
export const concurrency = 4

/** Reason for a run for which the time of the call is not sufficient. */
export const unreached = "not reached in time"

export const detailed = (error: Errors.N8nError): string => {
  const { context, message } = Errors.report(error)
  const details = context["errorDetails"]
  return details === undefined ? message : `${message}: ${details.slice(0, 200)}`
}

const skip = (id: string, reason: string) => new Skipped({ id, reason })

/** Results for runs, a few at a time, and the runs that are skipped instead. */
export const forEachRun = <A extends { readonly id: string | number }, B, R>(
  all: Iterable<A>,
  use: (each: A) => Effect.Effect<B, Errors.N8nError | Skipped, R>
) =>
  Effect.partition(all, (each) =>
    Effect.mapError(use(each), (error) => {
      if (error._tag === "Skipped") return error
      const id = String(each.id)
      const isGone = error._tag === "NotFoundError" && error.resourceId === id
      return new Skipped({ id, reason: isGone ? "n8n does not have it: deleted or pruned" : detailed(error), error })
    }), { concurrency })

export const choose = Effect.fnUntraced(function*({ runs }: Options) {
  if ("defaultLast" in runs) {
    const selection = yield* Selection.select<never, never>(runs, () => undefined)
    return {
      heads: selection.runs.map(({ head }) => head).toReversed(),
      skipped: [],
      next: Selection.next(selection, runs),
      note: selection.note,
      cursor: selection.nextCursor
    }
  }
  const { executionHead } = yield* N8nClient
  const ids = [...new Set(runs)].toSorted((a, b) => Number(a) - Number(b))
  const [heads, skipped] = yield* forEachRun(ids.map((id) => ({ id })), ({ id }) => executionHead(id))
  return { heads, skipped, next: undefined, note: undefined, cursor: undefined }
})

/** First item of the node that started an execution, and the output that it left by. */
export const startItemOf = (execution: Execution.Execution): retryRequests.Recorded | undefined => {
  const name = starterOf(execution) ?? ""
  const [run] = execution.runs.get(name) ?? []
  const node = execution.workflow?.nodes.find((node) => node.name === name)
  const part = run && Execution.outputSlots(name, run).find(({ slot }) => slot.port.type === "main")
  if (node === undefined || part === undefined) return undefined
  const [item] = execution.items(part.slot, 0, 1)
  return { node, output: part.slot.port.index, item }
}

export const requestOf = Effect.fnUntraced(function*(id: string, workflow: Workflow.Workflow) {
  const execution = yield* Executions.use((executions) => executions.get(id))
  if (execution.isRedacted) return yield* skip(id, "n8n hides its data")
  const start = startItemOf(execution)
  if (start === undefined) return yield* skip(id, "n8n stored no data of it")
  const { node: { id: nodeId, name, type } } = start
  const nodes = live.publishedNodes(workflow).filter((each) => each.type === type)
  const node = nodes.find((each) => each.id !== undefined && each.id === nodeId) ??
    nodes.find((each) => each.name === name)
  if (node === undefined || node.disabled === true) {
    return yield* skip(id, `the published workflow does not have its trigger '${Visible.label(name)}' any more`)
  }
  if (!retryRequests.receivesRequests(node)) return { execution, node, request: undefined }
  if (execution.mode === "manual") {
    return yield* skip(id, "it was a test in the editor, not a request to the production address")
  }
  const request = retryRequests.make(node, start)
  if (Result.isFailure(request)) return yield* skip(id, request.failure)
  return { execution, node, request: { ...request.success, fingerprint: retryRequests.fingerprint(start.item) } }
})

/** Nodes after the trigger that succeeded and may have had effects. */
const outsideNodes = Effect.fnUntraced(function*(execution: Execution.Execution, trigger: string) {
  const nodes = (execution.workflow?.nodes ?? []).filter(({ name }) =>
    name !== trigger && Execution.nodeStatus(execution.runs.get(name) ?? []) === "success"
  )
  const { find, parse } = yield* NodeLookups.make(nodes.map(({ type }) => type))
  return nodes.filter((node) => reachesOutside(find(node.type), node, parse)).map(({ name }) => name)
})

/** Whether n8n runs workflows with this trigger unpublished; 1.x also those that other workflows start. */
const runsUnpublished = (type: string, isOld: boolean) =>
  type === "n8n-nodes-base.manualTrigger" ||
  isOld && /^n8n-nodes-base\.(?:errorTrigger|executeWorkflowTrigger)$/.test(type)

const startOf = Effect.fnUntraced(function*(id: string, workflow: Workflow.Workflow) {
  const isOld = isV1(yield* N8nClient.use(({ release }) => release))
  if (workflow.isArchived === true) return yield* skip(id, "its workflow is archived")
  if (TestMark.isCopy(workflow)) return yield* skip(id, "its workflow is a test copy")
  const { execution, node, request } = yield* requestOf(id, workflow)
  if (!workflow.active && !runsUnpublished(node.type, isOld)) return yield* skip(id, "its workflow is not published")
  yield* WriteGuard.use(({ checkTest }) => checkTest(live.publishedNodes(workflow)))
  const outside = yield* outsideNodes(execution, starterOf(execution) ?? "")
  const repeats = outside.length === 0 ? undefined : outside
  if (request === undefined) {
    return {
      way: "copy",
      repeats,
      to: `temporary copy, from '${Visible.label(node.name)}'`,
      version: isOld ? undefined : workflow.activeVersionId ?? undefined,
      reference: workflow.active ? `${workflow.id}@published` : workflow.id
    } as const
  }
  const query = request.query.map((pair) => pair.map(encodeURIComponent).join("=")).join("&")
  return {
    way: "send",
    repeats,
    to: `${request.method} /${request.isForm === true ? "form" : "webhook"}/${request.path}${query && `?${query}`}`,
    body: request.text.slice(0, 400) || undefined
  } as const
})

/**
 * Execution that called a run as a sub-workflow, directly or not, and is retried too or was: it calls the sub-workflow
 * again.
 */
const retriedCaller = Effect.fnUntraced(function*(
  head: ExecutionHead.Listed,
  chosen: ReadonlySet<string>,
  attempts: ReadonlyArray<RetryLog.Attempt>
) {
  const [n8n, executions] = [yield* N8nClient, yield* Executions]
  if (head.mode !== "integrated") return undefined
  const seen = new Set([String(head.id)])
  // The set grows while it is visited.
  for (const id of seen) {
    const caller = (yield* Effect.option(executions.get(id))).pipe(Option.getOrUndefined)?.calledBy?.executionId
    if (caller === undefined) return undefined
    if (chosen.has(caller) || attempts.some(({ run }) => run === caller)) return caller
    const above = Option.getOrUndefined(yield* Effect.option(n8n.executionHead(caller)))
    if (typeof above?.["retrySuccessId"] === "string") return caller
    seen.add(caller)
  }
  return undefined
})

export const make = Effect.fnUntraced(
  function*({ force, from }: Options, heads: ReadonlyArray<ExecutionHead.Listed>, end: number) {
    const n8n = yield* N8nClient
    const read = RetryLog.RetryLog.use((log) => log.read(RetryLog.keyOf(n8n.instance)))
    const attempts = yield* from === "start" ? read : Effect.orElseSucceed(read, () => [])
    const names = yield* WorkflowNames.read(heads)
    const { decisions, newest } = yield* retryHistory.decide(heads, attempts, force)
    const byId = new Map(heads.map((head) => [String(head.id), head]))
    const chosen = new Set(byId.keys())
    const workflowOf = yield* Cache.make({ capacity: Infinity, lookup: (id: string) => n8n.getWorkflow(id) })
    return yield* forEachRun(
      decisions,
      Effect.fnUntraced(function*({ workflowId, ...decision }) {
        const { id } = decision
        if ("reason" in decision) return yield* new Skipped(decision)
        const head = byId.get(id)
        const caller = head && (yield* retriedCaller(head, chosen, attempts))
        if (caller !== undefined) {
          return yield* new Skipped({ id, reason: "a retry of its caller repeats it", as: caller })
        }
        const workflowName = names.get(workflowId) ?? WorkflowNames.unknown
        const plan = { workflowId, workflowName, newest, ...decision }
        if (from === "failure") return { ...plan, way: "resume" } satisfies Plan as Plan
        if ((yield* Clock.currentTimeMillis) > end) return yield* skip(id, unreached)
        const workflow = yield* Cache.get(workflowOf, workflowId).pipe(
          Effect.catchTag("NotFoundError", () => skip(id, "its workflow was deleted"))
        )
        return { ...plan, ...defined(yield* startOf(id, workflow)) } satisfies Plan as Plan
      })
    )
  }
)
