/**
 * Test runs of workflows, which n8n's public API does not offer: as a temporary copy that a webhook starts, or, with
 * mode `live`, by calling the real webhook of a published workflow.
 *
 * The copy is always deleted together with its execution, which stays readable through `Executions`.
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
import * as Deadline from "../base/Deadline.ts"
import * as Errors from "../base/Errors.ts"
import { arr, obj, str } from "../base/Json.ts"
import * as Nearest from "../base/Nearest.ts"
import * as Visible from "../base/Visible.ts"
import * as Execution from "../executions/Execution.ts"
import { Executions } from "../executions/Executions.ts"
import * as TestMark from "../n8n/model/TestMark.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { isV1, N8nClient, type WebhookAnswer } from "../n8n/N8nClient.ts"
import { WriteGuard } from "../n8n/WriteGuard.ts"
import * as NodeLookups from "../workflows/NodeLookups.ts"
import { prepare } from "../workflows/store/WorkflowBody.ts"
import * as Workflows from "../workflows/Workflows.ts"
import * as checks from "./checks.ts"
import type { Earlier } from "./entrance.ts"
import * as executionWatch from "./executionWatch.ts"
import * as live from "./live.ts"
import * as pins from "./pins.ts"
import * as Replay from "./Replay.ts"
import * as TestCopies from "./TestCopies.ts"
import * as TestCopy from "./TestCopy.ts"

/** Options of a test. */
export interface Options {
  readonly testData?: unknown
  /** Time limit in milliseconds. */
  readonly timeout: number
  /**
   * Whether the call's deadline is extended to the timeout, because its caller asked for it or receives progress.
   * Otherwise the test ends with the call's deadline.
   */
  readonly grantsTimeout?: boolean | undefined
  /** Name or id of a node. */
  readonly startNode?: string | undefined
  /** Name or id of the last node that runs. */
  readonly endNode?: string | undefined
  /** Items of nodes that do not run, by name or id; `"run"` for a node that a replay would not run. */
  readonly pins?: Pins | undefined
  /** Execution whose trigger data starts the test, and whose items replace every node that reaches outside. */
  readonly replay?: string | undefined
  /** Makes every node of a replay run; executed immediately before the copy is called. */
  readonly rerun?: Effect.Effect<void, Errors.N8nError> | undefined
  readonly mode: "copy" | "live"
}

/** Items by node, or lists of them by output; plain objects are items too. */
export type Pins = Readonly<Record<string, ReadonlyArray<unknown> | "run">>

/** Result of a test. */
export interface TestResult {
  readonly workflow: { readonly id: string; readonly name: string }
  /** Execution without the nodes added to the copy. */
  readonly execution: Execution.Execution
  /** Trigger whose items started the test; absent if it started at another node, which ran. */
  readonly trigger: string | undefined
  /** Nodes that returned stored items instead of running. */
  readonly pinned: ReadonlyArray<string>
  /** Reached nodes that were omitted: they reach outside, and the replayed execution has no data of them. */
  readonly notRun: ReadonlyArray<string>
  /** Nodes with more runs than the replayed execution has data of: the later runs returned nothing. */
  readonly shortOfRuns: ReadonlyArray<{ readonly node: string; readonly stored: number; readonly runs: number }>
  readonly timedOut: boolean
  /** Effective time limit in milliseconds. */
  readonly timeout: number
  /** Workflow's own response to the webhook, if it responds. */
  readonly response: WebhookAnswer | undefined
}

/** Time reserved for stopping an execution and reading it. */
const wrapUpMillis = 6_000

/** Time limit for removing a copy. */
const removalSeconds = 30

/** Time limit for removing abandoned copies before a test. */
const sweepTimeout = "10 seconds"

/** Whether a webhook call certainly started nothing. */
export const startedNothing = ({ errorDetails = "", operation, statusCode }: Errors.ApiError) =>
  operation === "test workflow" && (statusCode === 404 || statusCode === 405) ||
  operation === "call the webhook" && /^(?:ECONNREFUSED|ENOTFOUND)\b/.test(errorDetails)

/** Failure after the webhook was called: the workflow's nodes may have had effects. */
const inDoubt = (error: Errors.N8nError): Errors.N8nError => {
  if (error._tag === "ValidationError" || error._tag === "ApiError" && startedNothing(error)) return error
  const hint: Hint = [
    "The workflow may have run: check its nodes' effects before testing it again.",
    ...Array.isArray(error.hint) ? error.hint : [error.hint]
  ]
  return error._tag === "ApiError"
    ? new Errors.ApiError({ ...error, hint })
    : new Errors.NotFoundError({ ...error, hint })
}

const Nodes = Schema.Array(Workflow.Node)

/** Opens a workflow by an id of any form, prepared as for creation. */
const subjectOf = Effect.fnUntraced(function*(workflowId: string) {
  const { place, value } = yield* Workflows.open(workflowId)
  if (place.kind === "n8n") {
    const workflow = value as Workflow.Workflow
    const owner = arr(workflow["shared"]).map(obj).find((share) => share?.["role"] === "workflow:owner")
    const projectId = str(owner?.["projectId"])
    return { subject: workflow satisfies TestCopy.Subject, projectId, sourceId: workflow.id }
  }
  const { workflow } = yield* prepare(value, "file")
  const nodes = yield* Effect.mapError(
    Schema.decodeUnknownEffect(Nodes)(workflow.nodes),
    ({ message }) =>
      checks.cannotRun(workflow.name, {
        message,
        field: "workflowId",
        hint: { _tag: "ValidateWorkflow", detail: "More" }
      })
  )
  return { subject: { ...workflow, nodes } satisfies TestCopy.Subject, projectId: undefined, sourceId: undefined }
})

const isTriggerOf = ({ find }: NodeLookups.NodeLookups) => ({ type }: Workflow.Node) =>
  find(type)?.descriptions.some(({ group }) => group.includes("trigger")) ??
    (/trigger$/i.test(type) || type === "n8n-nodes-base.start")

/** Publishes the copy; n8n's refusal is the reason why the workflow cannot run. */
const publish = (id: string, name: string) =>
  Effect.mapError(
    TestCopies.publish(id),
    (error) =>
      error._tag === "ApiError" && (error.statusCode === 400 || error.statusCode === 409)
        ? new Errors.ValidationError({
          reason: `'${Visible.label(name)}' cannot be run: n8n refuses to publish it`,
          field: "workflowId",
          ...(error.errorDetails === undefined ? {} : { errorDetails: error.errorDetails }),
          hint: ["Nothing ran.", { _tag: "FixRefusedValues" }]
        })
        : error
  )

/** Calls a webhook, watches the execution that it starts, and reads it before the copy is deleted. */
const observe = Effect.fnUntraced(
  function*(options: Options, { added, nodeCount, ...subject }: {
    /** Time limit of the search for the execution. */
    readonly searchTimeout: number
    readonly call: Effect.Effect<WebhookAnswer, Errors.N8nError, N8nClient>
    readonly find: (call: executionWatch.PendingCall) => executionWatch.Search
    readonly nodeCount: number
    readonly added: number
    readonly read: (id: string) => Effect.Effect<Execution.Execution, Errors.N8nError, N8nClient>
  }) {
    /** Requested time, or the rest of the call's. */
    const bounded = Effect.fnUntraced(function*(millis: number) {
      if (options.grantsTimeout === true) yield* Deadline.grant(options.timeout + wrapUpMillis)
      return Math.min(millis, Math.max(0, (yield* Deadline.left) - wrapUpMillis))
    })
    const searchTimeout = yield* bounded(subject.searchTimeout)
    const call = yield* Effect.forkScoped(subject.call)
    const find = subject.find(call)
    const start = yield* executionWatch.awaitStart(call, find).pipe(Effect.timeoutOption(searchTimeout))
    let id = Option.getOrUndefined(start)
    const timeout = yield* bounded(options.timeout)
    const end = id === undefined
      ? Option.none()
      : yield* executionWatch.awaitSettled(id, nodeCount, added).pipe(Effect.timeoutOption(timeout))
    const timedOut = !Option.isSome(end)
    if (id === undefined) {
      const { candidates = [], id: foundId } = yield* find
      id = foundId ?? (candidates.length === 1 ? candidates[0] : undefined)
    }
    if (id === undefined) {
      const exit = call.pollUnsafe()
      if (exit !== undefined) yield* executionWatch.failureAfter(exit, Infinity) ?? Effect.void
      return yield* new Errors.ApiError({
        operation: "test workflow",
        reason: "Timeout",
        errorDetails: `no execution within ${searchTimeout} ms`,
        hint: "Raise timeout; n8n may be busy."
      })
    }
    if (timedOut) yield* executionWatch.stop(id)
    const execution = yield* subject.read(id)
    const answer = yield* Fiber.join(call).pipe(Effect.timeoutOption("1 second"), Effect.exit)
    return {
      execution,
      timedOut,
      timeout,
      answer: Exit.isSuccess(answer) ? Option.getOrUndefined(answer.value) : undefined
    }
  },
  Effect.mapError(inDoubt),
  Effect.scoped
)

/** Waits for the removal of a copy until the call's deadline: its result is worth more than a complete removal. */
const withinDeadline = Effect.fnUntraced(function*(removal: Effect.Effect<void, never, N8nClient>) {
  const left = yield* Deadline.left
  if (left === Infinity) return yield* removal
  const fiber = yield* Effect.forkDetach(removal)
  yield* Effect.timeoutOption(Effect.interruptible(Fiber.join(fiber)), left)
})

/** The caller's pins by node name. */
const pinsOf = Effect.fnUntraced(function*({ name, nodes }: TestCopy.Subject, all: Pins = {}) {
  const byName = new Map<string, ReadonlyArray<unknown> | "run">()
  for (const [nameOrId, pin] of Object.entries(all)) {
    const node = TestCopy.byNameOrId(nodes, nameOrId)
    if (node === undefined) {
      return yield* checks.cannotRun(name, {
        message: `pins name '${nameOrId}', which is not a node`,
        field: "pins",
        hint: Nearest.suggestion(nameOrId, nodes.map((node) => node.name)) ||
          "get_workflow_connections lists the nodes."
      })
    }
    if (pin !== "run" && !pins.arePinnable(pin)) {
      return yield* checks.cannotRun(name, {
        message: `pins of '${node.name}' contain a value that is not an item`,
        field: "pins",
        hint: "Items are objects: [{\"a\": 1}]; by output, such as error after success: [[], [{\"error\": \"x\"}]]."
      })
    }
    byName.set(node.name, pin)
  }
  return byName
})

const runCopy = Effect.fnUntraced(function*(workflowId: string, options: Options) {
  const n8n = yield* N8nClient
  const executions = yield* Executions
  const { progress } = yield* CallContext
  const { projectId, sourceId, subject } = yield* subjectOf(workflowId)
  const release = yield* n8n.release
  const lookups = yield* NodeLookups.make(subject.nodes.map(({ type }) => type), release)
  const path = randomUUID()
  const trigger = subject.nodes.find(({ type }) => type === "n8n-nodes-base.webhook")
  const isTrigger = isTriggerOf(lookups)
  const pinned = yield* pinsOf(subject, options.pins)
  const { replay, rerun } = options
  const running = new Set(
    rerun === undefined
      ? [...pinned].flatMap(([name, pin]) => pin === "run" ? [name] : [])
      : subject.nodes.map(({ name }) => name)
  )
  const replayed = replay === undefined ? undefined : yield* Replay.of({
    executionId: replay,
    subject,
    workflowId: sourceId,
    startNode: options.startNode,
    hasTestData: options.testData !== undefined,
    isTrigger,
    running,
    find: lookups.find,
    parse: lookups.parse
  })
  const copy = yield* Effect.fromResult(TestCopy.make(subject, {
    ...options,
    ...replayed,
    pinOf: (node) => {
      const pin = pinned.get(node.name)
      return pin === undefined || pin === "run" ? replayed?.pinOf(node) : pins.constant(pin)
    },
    earlier: new Map<string, Earlier>([
      ...replayed?.earlier ?? [],
      ...[...pinned].flatMap(([name, pin]): ReadonlyArray<readonly [string, Earlier]> =>
        pin === "run" ? [] : [[name, { items: pins.constant(pin).runs.flat(2) }]]
      )
    ]),
    unpinned: running,
    isTrigger,
    path,
    isV1: release === undefined || isV1(release),
    name: TestMark.nameOf(subject.name, TestCopies.currentOwner(), path.slice(0, 8)),
    now: yield* Clock.currentTimeMillis,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    webhookUrl: n8n.webhookAddress(str(obj(trigger?.parameters)?.["path"]) ?? path)
  })).pipe(Effect.mapError((refusal) => checks.cannotRun(subject.name, refusal)))
  const idle = [...pinned].find(([node, pin]) => pin !== "run" && node !== copy.start && !copy.pinned.includes(node))
  if (idle !== undefined) {
    if (copy.body.nodes.some(({ disabled, name }) => name === idle[0] && disabled !== true)) {
      return yield* checks.cannotRun(subject.name, {
        message: `pins name '${idle[0]}', which is a sub-node: another node uses it, and it returns no items`,
        field: "pins",
        hint: "Pin the node that uses it, or omit this pin so that it runs."
      })
    }
    return yield* checks.cannotRun(subject.name, {
      message: `pins name '${idle[0]}', which does not run in this test`,
      field: "pins",
      hint: `Omit it: the test goes from '${copy.start}' ${
        options.endNode === undefined ? "onward" : `to '${options.endNode}'`
      }, no expression there refers to it, and disabled nodes and sub-nodes of pinned ones do not run.`
    })
  }
  // The replacement of a trigger or a pinned node has another type.
  const copiedTypes = new Map(copy.body.nodes.map(({ name, type }) => [name, type]))
  yield* WriteGuard.use(({ checkTest }) =>
    checkTest(subject.nodes.filter(({ name, type }) => copiedTypes.get(name) === type))
  )
  yield* checks.checkRunnable(subject.name, copy, release)
  yield* Effect.ignore(Effect.timeout(TestCopies.sweep, sweepTimeout))

  let isOver = false
  return yield* Effect.acquireUseRelease(
    TestCopies.create(copy.body, projectId),
    ({ id }) =>
      Effect.gen(function*() {
        yield* publish(id, subject.name)
        yield* progress(1, copy.nodeCount + 3, "published")
        yield* rerun ?? Effect.void
        const call = { method: "POST", body: { items: copy.items }, seconds: options.timeout / 1000 + 30 } as const
        const { answer, execution, timedOut, timeout } = yield* observe(options, {
          searchTimeout: options.timeout + 30_000,
          call: executionWatch.callWebhook(path, call),
          find: executionWatch.findCopyExecution(id, copy),
          nodeCount: copy.nodeCount,
          added: copy.addedNodes.length,
          read: executions.keep
        })
        isOver = !timedOut && execution.status !== "waiting"
        yield* progress(copy.nodeCount + 3, copy.nodeCount + 3, execution.status)
        return {
          workflow: { id: workflowId, name: subject.name },
          execution: Execution.without(execution, copy.addedNodes),
          trigger: subject.nodes.some((node) => node.name === copy.start && isTrigger(node)) ? copy.start : undefined,
          pinned: copy.pinned,
          notRun: copy.notRun.filter((name) => execution.runs.has(name)),
          shortOfRuns: [...copy.storedRuns].flatMap(([node, stored]) => {
            const runs = execution.runs.get(node)?.length ?? 0
            return runs > stored ? [{ node, stored, runs }] : []
          }),
          timedOut,
          timeout,
          response: copy.responds ? answer : undefined
        } satisfies TestResult
      }),
    ({ id }, exit) => {
      const removal = (isOver ? Effect.void : Effect.ignore(TestCopies.stopAll(id))).pipe(
        Effect.andThen(TestCopies.remove(id)),
        Effect.catch((error) => Effect.logWarning(`test copy ${id} could not be removed: ${error.message}`)),
        Deadline.renewed(removalSeconds)
      )
      return Exit.hasInterrupts(exit) ? removal : withinDeadline(removal)
    }
  )
})

const runLive = Effect.fnUntraced(function*(workflowId: string, options: Options) {
  for (const field of ["pins", "replay", "endNode"] as const) {
    if (options[field] === undefined) continue
    return yield* new Errors.ValidationError({
      reason: `${field} has no effect on a live workflow`,
      field,
      hint: "Nothing ran. mode: 'copy' accepts it."
    })
  }
  const executions = yield* Executions
  const target = yield* live.target(workflowId, options)
  const { answer, execution, timedOut, timeout } = yield* observe(options, {
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
    timedOut,
    timeout,
    response: answer
  } satisfies TestResult
})

/** Runs a workflow until its execution has ended or waits, or the timeout has passed. */
export const run = Effect.fn("WorkflowTesting.run")((workflowId: string, options: Options) =>
  options.mode === "live" ? runLive(workflowId, options) : runCopy(workflowId, options)
)
