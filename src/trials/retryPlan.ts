/** Plan of a retry: which of the chosen runs are retried, and what is sent to which place. */
import * as Cache from "effect/Cache"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Batch from "../base/Batch.ts"
import * as Deadline from "../base/Deadline.ts"
import * as Errors from "../base/Errors.ts"
import { defined } from "../base/Json.ts"
import * as Visible from "../base/Visible.ts"
import * as Execution from "../executions/Execution.ts"
import { Executions } from "../executions/Executions.ts"
import * as RetryLog from "../executions/RetryLog.ts"
import * as Selection from "../executions/Selection.ts"
import * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import { maxPage } from "../n8n/model/Limits.ts"
import * as TestMark from "../n8n/model/TestMark.ts"
import type * as Workflow from "../n8n/model/Workflow.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"
import { type Write, WriteGuard } from "../n8n/WriteGuard.ts"
import { statusFilters } from "./executionWatch.ts"
import { starterOf } from "./Replay.ts"
import * as retryAdvice from "./retryAdvice.ts"
import * as retryRequests from "./retryRequests.ts"
import * as webhookCalls from "./webhookCalls.ts"

type Head = ExecutionHead.Listed

/** Run that may be retried, or the reason why it may not, and the other run that is the reason. */
type Decision =
  & { readonly id: string; readonly workflowId: string }
  & ({ readonly attempt: RetryLog.Attempt } | { readonly reason: string; readonly as?: string })

const maxPages = 4

const idOf = ({ id }: Head) => String(id)

/** Id in a field; 1.x returns numbers. */
const linkOf = (id: unknown) => id === null || id === undefined ? undefined : String(id)

const listNewer = Effect.fnUntraced(function*(workflowId: string, id: number) {
  const n8n = yield* N8nClient
  const heads: Array<Head> = []
  for (const status of statusFilters) {
    let cursor: string | undefined
    for (let page = 0; page < maxPages; page++) {
      const listed = yield* n8n.listExecutions({ workflowId, status, limit: maxPage, cursor })
      heads.push(...listed.executions)
      cursor = listed.nextCursor
      if (cursor === undefined || listed.executions.some((head) => Number(head.id) < id)) break
    }
  }
  return heads.filter((head) => Number(head.id) > id)
})

/** Retry of a run by n8n, newer than every known one. */
export const retryAfter = (workflowId: string, id: string, newest: number) =>
  Effect.map(listNewer(workflowId, newest), (heads) => heads.find(({ retryOf }) => linkOf(retryOf) === id))

const inDoubt =
  "it may have been sent again already: look for a newer run of its workflow; force: true sends it once more"

const stateReason = (status: string | null | undefined) => {
  if (status === "success") return "it succeeded"
  if (status === "waiting") return "it waits"
  return status === "running" || status === "new" ? "it is still running" : undefined
}

/**
 * Decides for each run whether it may be retried: of runs with the same request, its family, only the newest. Also
 * returns the newest run that is known.
 */
const decide = Effect.fn("retryHistory.decide")(function*(
  heads: ReadonlyArray<Head>,
  log: ReadonlyArray<RetryLog.Attempt>,
  force: boolean
) {
  const n8n = yield* N8nClient
  const known = new Map<string, Head>(
    log.flatMap(({ newId, status = "" }) => newId === undefined ? [] : [[newId, { id: newId, status }]])
  )
  const newer = yield* Effect.forEach(
    Map.groupBy(heads, ({ workflowId }) => workflowId ?? ""),
    ([workflowId, all]) => listNewer(workflowId, Math.min(...all.map(({ id }) => Number(id)))),
    { concurrency: 4 }
  )
  for (const head of [...heads, ...newer.flat()]) known.set(idOf(head), head)

  const origins = new Map(log.map(({ newId, run }) => [newId, run]))
  const parentOf = (id: string) => {
    const parent = origins.get(id) ?? linkOf(known.get(id)?.["retryOf"])
    return Number(parent) < Number(id) ? parent : undefined
  }
  for (const head of heads) {
    for (let id = parentOf(idOf(head)); id !== undefined; id = parentOf(id)) {
      if (known.has(id)) continue
      const above = yield* Effect.option(n8n.executionHead(id))
      if (Option.isSome(above)) known.set(id, above.value)
    }
  }
  const rootOf = (id: string): string => {
    const parent = parentOf(id)
    return parent === undefined ? id : rootOf(parent)
  }
  const families = Map.groupBy(known.values(), (head) => rootOf(idOf(head)))
  const newestOf = new Map(
    heads.toSorted((a, b) => Number(a.id) - Number(b.id)).map((head) => [rootOf(idOf(head)), idOf(head)])
  )

  const decisionOf = (head: Head): Decision => {
    const id = idOf(head)
    const run = { id, workflowId: head.workflowId ?? "" }
    const state = stateReason(head.status)
    if (state !== undefined) return { ...run, reason: state }
    const root = rootOf(id)
    const family = families.get(root) ?? []
    for (const each of family) {
      const success = linkOf(each["retrySuccessId"]) ?? (each.status === "success" ? idOf(each) : undefined)
      if (success !== undefined) return { ...run, reason: "already retried successfully", as: success }
    }
    const attempts = log.filter(({ run }) => run === root)
    // n8n names the runs that it has resumed.
    const unknown = attempts.filter(({ newId }) => newId === undefined).length
    const resumed = family.filter((each) => linkOf(each["retryOf"]) !== undefined && !origins.has(idOf(each))).length
    if (unknown > resumed && !force) return { ...run, reason: inDoubt }
    const open = family.find((each) => each !== head && !ExecutionHead.isOver(each.status ?? ""))
    if (open !== undefined) return { ...run, reason: "it is being retried", as: idOf(open) }
    const newest = newestOf.get(root) ?? id
    return newest === id
      ? { ...run, attempt: { run: root, number: 1 + Math.max(-1, ...attempts.map(({ number }) => number)) } }
      : { ...run, reason: "another of these runs is a retry of it", as: newest }
  }
  return { decisions: heads.map(decisionOf), newest: Math.max(0, ...[...known.keys()].map(Number)) }
})

export interface Options {
  readonly runs: ReadonlyArray<string> | Selection.Query
  readonly from: "failure" | "start"
  readonly latest: boolean
  /** Whether to retry also runs that may have been sent again already. */
  readonly force: boolean
  readonly dryRun: boolean
}

/** Run that is not retried; `error` if n8n or a check refused it. */
export class Skipped extends Data.TaggedError("Skipped")<{
  readonly id: string
  readonly reason: string
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
  /** Place that receives the request, or the node at which n8n resumes the run, if it is known. */
  readonly to?: string
  readonly body?: string
  /** Nodes that reached outside before the failure, or whose failed request may have arrived, and that run again. */
  readonly repeats?: ReadonlyArray<string>
  /** Recommended start, for a dry run. */
  readonly advice?: retryAdvice.Advice
  readonly version?: string
  readonly reference?: string
}

/** Maximum number of runs that are read or retried at the same time. */
export const concurrency = 4

/** Reason for a run that does not fit in the time of the call. */
export const unreached = "not reached in time"

export const detailed = (error: Errors.N8nError): string => Errors.inOneLine(error, 200)

const skip = (id: string, reason: string) => new Skipped({ id, reason })

/** Results for runs, and the runs that are skipped instead, also for lack of time. */
export const forEachRun = Effect.fnUntraced(function*<A extends { readonly id: string }, B, R>(
  all: Iterable<A>,
  options: Batch.Options<A, Errors.N8nError | Skipped>,
  use: (each: A) => Effect.Effect<B, Errors.N8nError | Skipped, R>
) {
  const { done, failed, left } = yield* Batch.run(all, { concurrency, isContinued: true, ...options }, use)
  const refused = [...failed].map(([{ id }, error]) => {
    if (error._tag === "Skipped") return error
    const isGone = error._tag === "NotFoundError" && error.resourceId === id
    return new Skipped({ id, reason: isGone ? "n8n does not have it: deleted or pruned" : detailed(error), error })
  })
  return {
    results: [...done.values()],
    skipped: [...refused, ...left.map(({ id }) => skip(id, unreached))] as ReadonlyArray<Skipped>
  }
})

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
  const { results, skipped } = yield* forEachRun(
    ids.map((id) => ({ id })),
    { needs: 0 },
    ({ id }) => executionHead(id)
  )
  return { heads: results, skipped, next: undefined, note: undefined, cursor: undefined }
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
  const nodes = webhookCalls.publishedNodes(workflow).filter((each) => each.type === type)
  const node = nodes.find((each) => each.id !== undefined && each.id === nodeId) ??
    nodes.find((each) => each.name === name)
  if (node === undefined || node.disabled === true) {
    return yield* skip(id, `the published workflow does not have its trigger '${Visible.label(name)}' any more`)
  }
  yield* WriteGuard.use(({ checkTest }) => checkTest(webhookCalls.publishedNodes(workflow)))
  if (!retryRequests.receivesRequests(node)) return { execution, node, request: undefined }
  if (execution.mode === "manual") {
    return yield* skip(id, "it was a test in the editor, not a request to the production address")
  }
  const request = retryRequests.make(node, start)
  if (Result.isFailure(request)) return yield* skip(id, request.failure)
  return { execution, node, request: { ...request.success, fingerprint: retryRequests.fingerprint(start.item) } }
})

/** Errors of a request that may have arrived although there was no answer. */
const unanswered = /ECONNABORTED|ECONNRESET|EPIPE|E(?:SOCKET)?TIMEDOUT|time(?:d|-| )?out|\baborted\b|socket hang up/i

/** Node at which n8n resumes a run; it repeats a failed request that may have arrived. */
const resumption = Effect.fnUntraced(function*(id: string) {
  const failure = Option.getOrUndefined(yield* Effect.option(Executions.use((executions) => executions.failure(id))))
  if (failure?.node === undefined) return {}
  const { description = "", httpCode = "", message, node } = failure
  const isUnanswered = unanswered.test(`${message} ${description}`) || ["408", "502", "504"].includes(httpCode)
  return { to: `node '${Visible.label(node)}'`, ...(isUnanswered ? { repeats: [node] } : {}) }
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
  const starter = starterOf(execution)
  const succeeded = (execution.workflow?.nodes ?? []).filter(({ name }) =>
    name !== starter && Execution.nodeStatus(execution.runs.get(name) ?? []) === "success"
  )
  const outside = (yield* retryAdvice.outsideNodes(succeeded)).map(({ node }) => node.name)
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
    body: request.text || undefined
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
  function*({ dryRun, force, from, latest }: Options, heads: ReadonlyArray<ExecutionHead.Listed>) {
    const n8n = yield* N8nClient
    const read = RetryLog.RetryLog.use((log) => log.read(RetryLog.keyOf(n8n.instance)))
    const attempts = yield* from === "start" ? read : Effect.orElseSucceed(read, () => [])
    const names = yield* Selection.namesOf(heads)
    const { decisions, newest } = yield* decide(heads, attempts, force)
    const byId = new Map(heads.map((head) => [String(head.id), head]))
    const chosen = new Set(byId.keys())
    const workflowOf = yield* Cache.make({ capacity: Infinity, lookup: (id: string) => n8n.getWorkflow(id) })
    return yield* forEachRun(
      decisions,
      // The rest of the time is for the retries.
      { needs: (yield* Deadline.left) / 2 },
      Effect.fnUntraced(function*({ workflowId, ...decision }) {
        const { id } = decision
        if ("reason" in decision) return yield* new Skipped(decision)
        const head = byId.get(id)
        const caller = head && (yield* retriedCaller(head, chosen, attempts))
        if (caller !== undefined) {
          return yield* new Skipped({ id, reason: "a retry of its caller repeats it", as: caller })
        }
        const workflowName = names.get(workflowId) ?? Selection.unknownWorkflow
        const advice = dryRun
          ? yield* Effect.option(
            retryAdvice.of(
              id,
              (workflow) => Effect.map(Effect.option(Cache.get(workflowOf, workflow)), Option.getOrUndefined)
            )
          )
          : Option.none()
        const plan = {
          workflowId,
          workflowName,
          newest,
          ...decision,
          ...defined({ advice: Option.getOrUndefined(advice) })
        }
        if (from === "failure") {
          const write = {
            method: "POST",
            path: `/executions/${encodeURIComponent(id)}/retry`,
            body: { loadWorkflow: latest }
          }
          const read: Write["read"] = (path, query = {}) => n8n.request("GET", path as `/${string}`, { query })
          yield* WriteGuard.use(({ check }) => check({ ...write, read }))
          return { ...plan, way: "resume", ...yield* resumption(id) } satisfies Plan as Plan
        }
        const workflow = yield* Cache.get(workflowOf, workflowId).pipe(
          Effect.catchTag("NotFoundError", () => skip(id, "its workflow was deleted"))
        )
        return { ...plan, ...defined(yield* startOf(id, workflow)) } satisfies Plan as Plan
      })
    )
  }
)
