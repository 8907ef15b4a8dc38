/**
 * Runs workflows through n8n's public API, which cannot execute any: as a temporary copy that a webhook starts, or, as
 * `live`, by the real webhook of a published one.
 *
 * **Details**
 *
 * The copy goes whatever happens, its execution with it; what was read of that stays readable through `Executions`.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { randomUUID } from "node:crypto"
import type { Hint } from "../base/Advice.ts"
import { CallContext } from "../base/CallContext.ts"
import * as Errors from "../base/Errors.ts"
import { arr, obj, str } from "../base/Json.ts"
import * as Execution from "../executions/Execution.ts"
import { Executions } from "../executions/Executions.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { isV1, N8nClient, type WebhookAnswer } from "../n8n/N8nClient.ts"
import * as NodeLookups from "../workflows/NodeLookups.ts"
import { isUncertain } from "../workflows/store/Publishing.ts"
import { prepare } from "../workflows/store/WorkflowBody.ts"
import * as Workflows from "../workflows/Workflows.ts"
import * as checks from "./checks.ts"
import * as following from "./following.ts"
import * as live from "./live.ts"
import * as TestCopies from "./TestCopies.ts"
import * as TestCopy from "./TestCopy.ts"
import * as TestMark from "./TestMark.ts"

/** How a workflow is tested. */
export interface Options {
  readonly testData?: unknown
  /** Milliseconds that it may run. */
  readonly timeout: number
  /** A node's name or id. */
  readonly startNode?: string | undefined
  readonly mode: "copy" | "live"
}

/** What a test came to. */
export interface Tested {
  readonly workflow: { readonly id: string; readonly name: string }
  /** Without the nodes that the copy has besides the workflow's. */
  readonly execution: Execution.Execution
  readonly timedOut: boolean
  /** What the workflow itself answered the call, where it does. */
  readonly response: WebhookAnswer | undefined
}

const Nodes = Schema.Array(Workflow.Node)

const cannotRun = (name: string, { field, hint, message }: Omit<TestCopy.Refused, "hint"> & { readonly hint: Hint }) =>
  new Errors.ValidationError({ reason: `'${name}' cannot be run: ${message}`, field, hint })

/** The workflow that an id of whatever form means, as it would be created. */
const subjectOf = Effect.fnUntraced(function*(workflowId: string) {
  const { place, value } = yield* Workflows.open(workflowId)
  if (place.kind === "n8n") {
    const workflow = value as Workflow.Workflow
    const owner = arr(workflow["shared"]).map(obj).find((share) => share?.["role"] === "workflow:owner")
    return { subject: workflow satisfies TestCopy.Subject, projectId: str(owner?.["projectId"]) }
  }
  const { workflow } = yield* prepare(value, "file")
  const nodes = yield* Effect.mapError(
    Schema.decodeUnknownEffect(Nodes)(workflow.nodes),
    ({ message }) =>
      cannotRun(workflow.name, { message, field: "workflowId", hint: { _tag: "ValidateWorkflow", detail: "More" } })
  )
  return { subject: { ...workflow, nodes } satisfies TestCopy.Subject, projectId: undefined }
})

const isTriggerOf = ({ find }: NodeLookups.NodeLookups) => ({ type }: Workflow.Node) =>
  find(type)?.descriptions.some(({ group }) => group.includes("trigger")) ??
    (/trigger$/i.test(type) || type === "n8n-nodes-base.start")

/** Publishes the copy; a refusal says why the workflow cannot run, in n8n's words. */
const publish = Effect.fnUntraced(function*(id: string, name: string) {
  const n8n = yield* N8nClient
  const again = Effect.flatMap(n8n.getWorkflow(id), (now) => now.active ? Effect.succeed(now) : n8n.publishWorkflow(id))
  yield* n8n.publishWorkflow(id).pipe(
    Effect.catchIf(isUncertain, () => again),
    Effect.mapError((error) =>
      error._tag === "ApiError" && (error.statusCode === 400 || error.statusCode === 409)
        ? new Errors.ValidationError({
          reason: `'${name}' cannot be run: n8n refuses to publish it`,
          field: "workflowId",
          ...(error.errorDetails === undefined ? {} : { errorDetails: error.errorDetails }),
          hint: ["Nothing ran.", { _tag: "FixRefusedValues" }]
        })
        : error
    )
  )
})

/** Calls a webhook, follows the execution that comes of it, and reads that before it is gone. */
const observed = Effect.fnUntraced(function*(options: {
  /** From the beginning of the execution. */
  readonly timeout: number
  /** How long it may take until the execution is found. */
  readonly patience: number
  readonly calling: Effect.Effect<WebhookAnswer, Errors.N8nError, N8nClient>
  readonly find: (calling: following.Calling) => following.Search
  readonly nodeCount: number
  readonly added: number
  readonly read: (id: string) => Effect.Effect<Execution.Execution, Errors.N8nError, N8nClient>
}) {
  const { added, nodeCount, timeout } = options
  const calling = yield* Effect.forkScoped(options.calling)
  const find = options.find(calling)
  const begun = yield* following.begun(calling, find).pipe(Effect.timeoutOption(options.patience))
  let id = Option.getOrUndefined(begun)
  const end = id === undefined
    ? Option.none()
    : yield* following.settled(id, nodeCount, added).pipe(Effect.timeoutOption(timeout))
  const timedOut = Option.isNone(end)
  if (id === undefined) {
    const { id: found, mayBe = [] } = yield* find
    id = found ?? (mayBe.length === 1 ? mayBe[0] : undefined)
  }
  if (id === undefined) {
    return yield* new Errors.ApiError({
      operation: "test workflow",
      errorDetails: `no execution within ${options.patience} ms`,
      hint: "Raise timeout; n8n may be busy."
    })
  }
  if (timedOut) yield* following.stopped(id)
  const execution = yield* options.read(id)
  const answer = yield* Fiber.join(calling).pipe(Effect.timeoutOption("1 second"), Effect.exit)
  return {
    execution,
    timedOut,
    answer: Exit.isSuccess(answer) ? Option.getOrUndefined(answer.value) : undefined
  }
}, Effect.scoped)

const inCopy = Effect.fnUntraced(function*(workflowId: string, options: Options) {
  const n8n = yield* N8nClient
  const executions = yield* Executions
  const { progress } = yield* CallContext
  const { projectId, subject } = yield* subjectOf(workflowId)
  const release = yield* n8n.release
  const lookups = yield* NodeLookups.make(subject.nodes.map(({ type }) => type), release)
  const path = randomUUID()
  const trigger = subject.nodes.find(({ type }) => type === "n8n-nodes-base.webhook")
  const copy = yield* Effect.fromResult(TestCopy.make(subject, {
    ...options,
    isTrigger: isTriggerOf(lookups),
    path,
    listsWaiting: release !== undefined && !isV1(release),
    name: TestMark.nameOf(subject.name, TestCopies.self(), path.slice(0, 8)),
    now: yield* Clock.currentTimeMillis,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    webhookUrl: n8n.webhookAddress(str(obj(trigger?.parameters)?.["path"]) ?? path)
  })).pipe(Effect.mapError((refused) => cannotRun(subject.name, refused)))
  yield* checks.runnable(subject.name, copy, release)
  yield* Effect.ignore(TestCopies.sweep)

  let isOver = false
  return yield* Effect.acquireUseRelease(
    TestCopies.create(copy.body, projectId),
    ({ id }) =>
      Effect.gen(function*() {
        yield* publish(id, subject.name)
        yield* progress(1, copy.nodeCount + 3, "published")
        const call = { method: "POST", body: { items: copy.items }, seconds: options.timeout / 1000 + 30 } as const
        const { answer, execution, timedOut } = yield* observed({
          timeout: options.timeout,
          patience: options.timeout + 30_000,
          calling: following.call(path, call),
          find: following.ofCopy(id, copy),
          nodeCount: copy.nodeCount,
          added: copy.added.length,
          read: executions.keep
        })
        isOver = !timedOut && execution.status !== "waiting"
        yield* progress(copy.nodeCount + 3, copy.nodeCount + 3, execution.status)
        return {
          workflow: { id: workflowId, name: subject.name },
          execution: Execution.without(execution, copy.added),
          timedOut,
          response: copy.responds ? answer : undefined
        } satisfies Tested
      }),
    ({ id }) =>
      (isOver ? Effect.void : Effect.ignore(TestCopies.stopAll(id))).pipe(
        Effect.andThen(TestCopies.remove(id)),
        Effect.catch((error) => Effect.logWarning(`test copy ${id} could not be removed: ${error.message}`))
      )
  )
})

const calledLive = Effect.fnUntraced(function*(workflowId: string, options: Options) {
  const executions = yield* Executions
  const target = yield* live.target(workflowId, options)
  const { answer, execution, timedOut } = yield* observed({
    timeout: options.timeout,
    // It is known for sure only once it is over.
    patience: options.timeout,
    calling: following.call(target.path, target.call),
    find: () => target.find,
    nodeCount: target.nodeCount,
    added: 0,
    read: executions.get
  })
  const workflow = { id: target.id, name: target.name }
  return { workflow, execution, timedOut, response: answer } satisfies Tested
})

/** Runs a workflow and waits until it is over, waits itself, or the time is. */
export const run = Effect.fn("WorkflowTesting.run")((workflowId: string, options: Options) =>
  options.mode === "live" ? calledLive(workflowId, options) : inCopy(workflowId, options)
)
