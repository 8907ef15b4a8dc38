/**
 * Benches for workflows: temporary copies on n8n, each started by a webhook, that run any number of cases. Cases whose
 * copies would be equal share one; a bench deletes its copies, with their executions, when its scope closes.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { randomUUID } from "node:crypto"
import { CallContext } from "../base/CallContext.ts"
import * as Errors from "../base/Errors.ts"
import { arr, obj, str } from "../base/Json.ts"
import * as Nearest from "../base/Nearest.ts"
import * as Visible from "../base/Visible.ts"
import * as Execution from "../executions/Execution.ts"
import { Executions } from "../executions/Executions.ts"
import * as TestMark from "../n8n/model/TestMark.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { hasStatus, N8nClient, type WebhookAnswer } from "../n8n/N8nClient.ts"
import { WriteGuard } from "../n8n/WriteGuard.ts"
import type * as Checked from "../workflow/check/CheckedWorkflow.ts"
import * as NodeLookups from "../workflows/NodeLookups.ts"
import { prepare } from "../workflows/store/WorkflowBody.ts"
import * as Workflows from "../workflows/Workflows.ts"
import * as WorkflowValidation from "../workflows/WorkflowValidation.ts"
import { fencedCalls, insideCalls, isTriggerOf, type Outside, outsideOf } from "./boundary.ts"
import * as executionWatch from "./executionWatch.ts"
import * as pins from "./pins.ts"
import * as Replay from "./Replay.ts"
import * as TestCopies from "./TestCopies.ts"
import * as TestCopy from "./TestCopy.ts"

/** Items by node, or lists of them by output; plain objects are items too. */
export type Pins = Readonly<Record<string, ReadonlyArray<unknown> | "run">>

/** Input of one run. */
export interface Case {
  readonly testData?: unknown
  /** Name or id of a node. */
  readonly startNode?: string | undefined
  /** Name or id of the last node that runs. */
  readonly endNode?: string | undefined
  readonly pins?: Pins | undefined
  /** Execution whose trigger data starts the test, and whose items replace every node that reaches outside. */
  readonly replay?: string | undefined
  readonly rows?: TestCopy.Replacements | undefined
  /** Makes every node of a replay run; executed immediately before the copy is called. */
  readonly rerun?: Effect.Effect<void, Errors.N8nError> | undefined
}

/** Options of a bench. */
export interface Options extends executionWatch.ObserveOptions {
  /**
   * Whether its cases are recorded runs that must send nothing: they may run side by side, a node that failed fails
   * again, the caller's response is not awaited, and the executions are not stored.
   */
  readonly isProof?: boolean | undefined
}

/** Workflow to run cases of. */
export interface Workbench {
  readonly subject: TestCopy.Subject
  readonly id: string
  /** Project to create the copies in. */
  readonly projectId?: string | undefined
  /** Id of the workflow on n8n; absent for a file. */
  readonly sourceId?: string | undefined
  /** Id on n8n that a file names. */
  readonly recordedId?: string | undefined
  /** Repairs of a file, as its creation makes them. */
  readonly repairs?: ReadonlyArray<string>
}

/** Result of a test. */
export interface TestResult {
  readonly workflow: { readonly id: string; readonly name: string }
  /** Version of the workflow that ran, or that was copied, where n8n has versions. */
  readonly version?: string | undefined
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
  readonly timeout: number
  /** Workflow's own response to the webhook, if it responds. */
  readonly response: WebhookAnswer | undefined
  /** Nodes that reach outside, with their types. */
  readonly outside: ReadonlyArray<Outside>
  /** Deprecated nodes that n8n refuses, and their replacements in the copy. */
  readonly upgraded: ReadonlyArray<{ readonly node: string; readonly from: string; readonly to: string }>
  /** Repairs of the file that was tested, as its creation makes them. */
  readonly repairs: ReadonlyArray<string>
}

const sweepTimeout = "10 seconds"

const Nodes = Schema.Array(Workflow.Node)

/** Opens a workflow by a reference of any form, prepared as for creation. */
export const workbench = Effect.fn("TestBench.workbench")(function*(reference: string) {
  const { current, place, value } = yield* Workflows.open(reference)
  if (place.kind === "n8n") {
    // n8n runs a version with the current settings.
    const workflow = { ...current, ...value as Workflow.Workflow }
    const owner = arr(workflow["shared"]).map(obj).find((share) => share?.["role"] === "workflow:owner")
    const projectId = str(owner?.["projectId"])
    const own: Workbench = { id: reference, subject: workflow, projectId, sourceId: workflow.id }
    return own
  }
  const { warnings: repairs, workflow } = yield* prepare(value, "file")
  const nodes = yield* Effect.mapError(
    Schema.decodeUnknownEffect(Nodes)(workflow.nodes),
    ({ message }) =>
      TestCopies.cannotRun(workflow.name, {
        message,
        field: "workflowId",
        hint: { _tag: "ValidateWorkflow", detail: "More" }
      })
  )
  const own: Workbench = { id: reference, subject: { ...workflow, nodes }, repairs }
  const recordedId = str(obj(value)?.["id"])
  return recordedId === undefined ? own : { ...own, recordedId }
})

/** Publishes the copy; n8n's refusal is the reason why the workflow cannot run. */
const publish = (id: string, { name, ...workflow }: TestCopy.Subject) =>
  Effect.mapError(
    WorkflowValidation.explained({ name, ...workflow })(TestCopies.publish(id)),
    (error) =>
      hasStatus(400, 409)(error)
        ? new Errors.ValidationError({
          reason: `'${Visible.label(name)}' cannot be run: n8n refuses to publish it`,
          field: "workflowId",
          errorDetails: error.reason.details,
          hint: ["Nothing ran.", { _tag: "FixRefusedValues" }]
        })
        : error
  )

const pinsOf = Effect.fnUntraced(function*({ name, nodes }: TestCopy.Subject, all: Pins = {}) {
  const byName = new Map<string, ReadonlyArray<unknown> | "run">()
  for (const [nameOrId, pin] of Object.entries(all)) {
    const node = TestCopy.byNameOrId(nodes, nameOrId)
    if (node === undefined) {
      return yield* TestCopies.cannotRun(name, {
        message: `pins name '${nameOrId}', which is not a node`,
        field: "pins",
        hint: Nearest.suggestion(nameOrId, nodes.map((node) => node.name)) || { _tag: "ListNodes" }
      })
    }
    if (pin !== "run" && !pins.arePinnable(pin)) {
      return yield* TestCopies.cannotRun(name, {
        message: `pins of '${node.name}' contain a value that is not an item`,
        field: "pins",
        hint: "Items are objects: [{\"a\": 1}]; by output, such as error after success: [[], [{\"error\": \"x\"}]]."
      })
    }
    byName.set(node.name, pin)
  }
  return byName
})

/** Refuses pins of nodes that do not run in the test. */
const checkPins = Effect.fnUntraced(function*(
  { name }: TestCopy.Subject,
  pinned: ReadonlyMap<string, ReadonlyArray<unknown> | "run">,
  copy: TestCopy.Copy,
  endNode: string | undefined
) {
  const idle = [...pinned].find(([node, pin]) => pin !== "run" && node !== copy.start && !copy.pinned.includes(node))
  if (idle === undefined) return
  const isSubNode = copy.nodes.some(({ disabled, name }) => name === idle[0] && disabled !== true)
  return yield* TestCopies.cannotRun(
    name,
    isSubNode
      ? {
        message: `pins name '${idle[0]}', which is a sub-node: another node uses it, and it returns no items`,
        field: "pins",
        hint: "Pin the node that uses it, or omit this pin so that it runs."
      }
      : {
        message: `pins name '${idle[0]}', which does not run in this test`,
        field: "pins",
        hint: `Omit it: the test goes from '${copy.start}' ${
          endNode === undefined ? "onward" : `to '${endNode}'`
        }, no expression there refers to it, and disabled nodes and sub-nodes of pinned ones do not run.`
      }
  )
})

interface Published {
  readonly id: string
  readonly name: string
  readonly path: string
  readonly upgraded: TestResult["upgraded"]
  /** Ids of its executions. */
  readonly executions: Set<string>
  /** Number of its runs that have not ended. */
  unfinished: number
  /** Order of runs that may have to be identified by their place in n8n's list. */
  readonly turn: Semaphore.Semaphore
}

const copyOf = Effect.fnUntraced(function*(
  { id: reference, sourceId, subject }: Workbench,
  { isProof = false, timeout }: Options,
  { inside, ...lookups }: Checked.NodeLookups & { readonly inside: ReadonlyMap<string, unknown> },
  { pins: requested, replay, rerun, ...input }: Case
) {
  const n8n = yield* N8nClient
  const isTrigger = isTriggerOf(lookups)
  const trigger = subject.nodes.find(({ type }) => type === "n8n-nodes-base.webhook")
  const pinned = yield* pinsOf(subject, requested)
  const running = new Set(
    rerun === undefined
      ? [...pinned].flatMap(([name, pin]) => pin === "run" ? [name] : [])
      : subject.nodes.map(({ name }) => name)
  )
  const replayed = replay === undefined ? undefined : yield* Replay.of({
    executionId: replay,
    subject,
    workflowId: sourceId,
    startNode: input.startNode,
    hasTestData: input.testData !== undefined,
    isTrigger,
    running,
    inside: new Set(inside.keys()),
    repeatsFailures: isProof,
    find: lookups.find,
    parse: lookups.parse
  })
  const copy = yield* Effect.fromResult(TestCopy.make(subject, {
    ...input,
    ...replayed,
    timeout,
    answersFirst: isProof,
    pinOf: (node) => {
      const pin = pinned.get(node.name)
      return pin === undefined || pin === "run" ? replayed?.pinOf(node) : pins.constant(pin)
    },
    earlier: new Map<string, pins.Earlier>([
      ...replayed?.earlier ?? [],
      ...[...pinned].flatMap(([name, pin]): ReadonlyArray<readonly [string, pins.Earlier]> =>
        pin === "run" ? [] : [[name, { items: pins.constant(pin).runs.flat(2) }]]
      )
    ]),
    unpinned: running,
    isTrigger,
    isV1: lookups.connected === undefined || lookups.isV1,
    now: yield* Clock.currentTimeMillis,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    webhookUrl: n8n.webhookAddress(str(obj(trigger?.parameters)?.["path"]) ?? reference)
  })).pipe(Effect.mapError((refusal) => TestCopies.cannotRun(subject.name, refusal)))
  yield* checkPins(subject, pinned, copy, input.endNode)
  return copy
})

/** Opens a bench for a workflow. */
export const of = Effect.fn("TestBench.of")(
  function*(workbench: Workbench, options: Options) {
    const { id: reference, projectId, recordedId, repairs = [], sourceId, subject } = workbench
    const n8n = yield* N8nClient
    const executions = yield* Executions
    const scope = yield* Scope.Scope
    const release = yield* n8n.release
    const lookups = yield* NodeLookups.make(subject.nodes.map(({ type }) => type), release)
    const isTrigger = isTriggerOf(lookups)
    const isProof = options.isProof === true
    const opening = Semaphore.makeUnsafe(1)
    const copies = new Map<string, Published>()
    const outside = yield* outsideOf(subject.nodes, lookups)
    const inside = isProof ? yield* insideCalls(subject.nodes) : new Map<string, never>()
    const callees = { copies: new Map<string, string | undefined>(), projectId }

    const publishCopy = Effect.fnUntraced(function*(copy: TestCopy.Copy) {
      const path = randomUUID()
      const own = copy.at({ name: TestMark.nameOf(subject.name, TestCopies.currentOwner(), path.slice(0, 8)), path })
      // The replacement of a trigger or a pinned node has another type.
      const copiedTypes = new Map(own.nodes.map(({ name, type }) => [name, type]))
      yield* WriteGuard.use(({ checkTest }) =>
        checkTest(subject.nodes.filter(({ name, type }) => copiedTypes.get(name) === type))
      )
      yield* TestCopies.checkRunnable(subject.name, own, release)
      if (copies.size === 0) yield* Effect.ignore(Effect.timeout(TestCopies.sweep, sweepTimeout))
      const nodes = yield* Scope.provide(fencedCalls(own.nodes, inside, callees), scope)
      const body = { ...own, nodes }
      const published = yield* TestCopies.held(
        Effect.map(
          TestCopies.createUpgraded(body, { name: subject.name, projectId, release, fenced: copy.fenced }),
          ({ id, upgraded }): Published => ({
            id,
            name: own.name,
            upgraded,
            path,
            executions: new Set(),
            unfinished: 0,
            turn: Semaphore.makeUnsafe(1)
          })
        ),
        ({ unfinished }) => unfinished > 0
      ).pipe(Scope.provide(scope))
      yield* publish(published.id, subject)
      yield* (yield* CallContext).progress(1, copy.nodeCount + 3, "published")
      copies.set(copy.shape, published)
      return published
    })

    const run = Effect.fn("TestBench.run")(function*(input: Case) {
      const copy = yield* copyOf(workbench, options, { ...lookups, inside }, input)
      const published = yield* opening.withPermit(
        Effect.suspend(() => Effect.fromNullishOr(copies.get(copy.shape))).pipe(
          Effect.catch(() => publishCopy(copy))
        )
      )
      yield* input.rerun ?? Effect.void
      published.unfinished++
      const observed = executionWatch.observe(options, {
        searchTimeout: options.timeout + 30_000,
        call: executionWatch.callWebhook(published.path, {
          method: "POST",
          body: copy.request,
          seconds: options.timeout / 1000 + 30
        }),
        find: executionWatch.findCopyExecution(published.id, copy, isProof ? undefined : published.executions),
        nodeCount: copy.nodeCount,
        added: copy.addedNodes.size,
        read: isProof ? executions.get : executions.keep
      })
      const { answer, execution, timedOut, timeout } = yield* isProof
        ? observed
        : published.turn.withPermit(observed)
      published.executions.add(execution.id)
      // What the copy changes by being a copy.
      const names: TestMark.Pair = { copy: published, original: { id: sourceId ?? recordedId, name: subject.name } }
      const original = (text: string, isJson: boolean) => TestMark.originalText(names, text, isJson)
      if (!timedOut && execution.status !== "waiting") published.unfinished--
      yield* (yield* CallContext).progress(copy.nodeCount + 3, copy.nodeCount + 3, execution.status)
      return {
        workflow: { id: reference, name: subject.name },
        version: sourceId === undefined ? undefined : str(obj(subject)?.["versionId"]),
        execution: Execution.withTexts(Execution.without(execution, copy.addedNodes, copy.start), original),
        trigger: subject.nodes.some((node) => node.name === copy.start && isTrigger(node)) ? copy.start : undefined,
        pinned: copy.pinned,
        notRun: copy.notRun.filter((name) => execution.runs.has(name)),
        shortOfRuns: [...copy.storedRuns].flatMap(([node, stored]) => {
          const runs = execution.runs.get(node)?.length ?? 0
          return runs > stored ? [{ node, stored, runs }] : []
        }),
        timedOut,
        timeout,
        response: copy.responds && answer !== undefined
          ? { ...answer, text: original(answer.text, false) }
          : undefined,
        outside,
        upgraded: published.upgraded,
        repairs
      } satisfies TestResult
    })

    return {
      subject,
      isTrigger,
      outside,
      run
    }
  }
)

export type Bench = Effect.Success<ReturnType<typeof of>>

/** Opens a bench for a workflow by a reference of any form. */
export const open = Effect.fn("TestBench.open")(function*(reference: string, options: Options) {
  return yield* of(yield* workbench(reference), options)
})
