/**
 * Test of a trigger's new version, of which replays show nothing: the former version and the new one receive the
 * recorded requests, each in a temporary copy that holds the trigger alone.
 */
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Result from "effect/Result"
import { randomUUID } from "node:crypto"
import * as Batch from "../../base/Batch.ts"
import type * as Errors from "../../base/Errors.ts"
import { obj, str } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import { respond } from "../../catalogue/types/Outside.ts"
import * as Execution from "../../executions/Execution.ts"
import { Executions } from "../../executions/Executions.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { type Node, parametersOf } from "../../n8n/model/Workflow.ts"
import type { WebhookAnswer } from "../../n8n/N8nClient.ts"
import { WriteGuard } from "../../n8n/WriteGuard.ts"
import * as Graph from "../../workflow/Graph.ts"
import * as Webhooks from "../../workflow/Webhooks.ts"
import * as executionWatch from "../executionWatch.ts"
import { starterOf } from "../Replay.ts"
import * as retryPlan from "../retryPlan.ts"
import * as retryRequests from "../retryRequests.ts"
import type { Workbench } from "../TestBench.ts"
import * as TestCopies from "../TestCopies.ts"
import * as TestCopy from "../TestCopy.ts"
import type * as Groups from "./Groups.ts"
import * as RunComparison from "./RunComparison.ts"
import { type Difference, fingerprintOfText, type Ignored, tally } from "./runDifferences.ts"
import { comparer, type Side } from "./sentDifferences.ts"

/** Recorded run, and the difference that is its trigger's version. */
export interface Run {
  readonly execution: string
  readonly record: Execution.Execution
  readonly version: Difference
}

/** Result of a test; without `why`, all requests of the runs were made. */
export interface Tested {
  readonly node: string
  /** Versions, such as `1 → 2.1`. */
  readonly versions: string
  /** Differences by run. */
  readonly differences: ReadonlyMap<string, ReadonlyArray<Difference>>
  /** Runs whose request could not be made again, and the reasons. */
  readonly faults: ReadonlyMap<string, string>
  /** Reason why nothing was tested. */
  readonly why?: string
}

interface Options {
  readonly workbench: Workbench
  /** Version before the change, if it is not the one that ran. */
  readonly published: TestCopy.Subject | undefined
  readonly ignore: ReadonlyArray<Ignored>
  readonly redacts: boolean
  readonly timeout: number
}

/** Milliseconds that a request to both copies needs, and the most that one may take. */
const pace = { needs: 8_000, grants: 8_000 } as const
const longest = 10_000

/** Difference of the type version of the trigger that started a run. */
export const newVersion = (
  { execution, nodes }: Side,
  subject: TestCopy.Subject,
  trigger: string | undefined
): ReadonlyArray<Difference> => {
  const starter = starterOf(execution)
  const before = nodes.find(({ name }) => name === starter)?.typeVersion ?? 1
  const after = subject.nodes.find(({ name }) => name === trigger)?.typeVersion ?? 1
  return starter === undefined || trigger === undefined || before === after
    ? []
    : [{ node: trigger, run: 0, path: "typeVersion", kind: "altered", before, after, count: 1, digest: 0 }]
}

/** Trigger at an address of its own; parts of its path that stand for any text remain. */
const elsewhere = (node: Node): Node => {
  const webhookId = randomUUID()
  const { options, path, ...parameters } = parametersOf(node)
  const isTemplate = (own: string) =>
    node.type === Webhooks.webhookType && !own.startsWith("=") && own.split("/").some((part) => part.startsWith(":"))
  const moved = (own: unknown) => {
    const text = str(own) ?? ""
    return text === "" ? own : isTemplate(text) ? `${webhookId}/${text}` : webhookId
  }
  const inOptions = obj(options)
  return {
    ...node,
    webhookId,
    disabled: false,
    parameters: {
      ...parameters,
      ...(path === undefined ? {} : { path: moved(path) }),
      ...(inOptions === undefined
        ? {}
        : { options: "path" in inOptions ? { ...inOptions, path: moved(inOptions["path"]) } : inOptions })
    }
  }
}

/** Node that n8n expects after a trigger that does not answer itself, or refuses after one that does; it sends nothing. */
const responder = ({ connections, nodes }: TestCopy.Subject, trigger: Node): Node | undefined => {
  const after = Graph.after(Graph.make(connections), [trigger.name])
  const all = nodes.filter(({ name }) => name !== trigger.name && after.has(name))
  const own = all.filter(({ type }) => type === respond)
  const node = own.find(({ disabled }) => disabled !== true) ?? own[0]
  // Behind a Wait node, it may answer the request that this one waits for.
  const isOther = Webhooks.responseMode(trigger) !== "responseNode" &&
    all.some(({ type }) => type === "n8n-nodes-base.wait")
  return node === undefined || isOther ? undefined : { ...node, parameters: { respondWith: "noData", options: {} } }
}

/** Publishes a copy that holds a trigger alone; the result makes requests to it, one after the other. */
const open = Effect.fnUntraced(
  function*(trigger: Node, subject: TestCopy.Subject, { timeout, workbench }: Options) {
    const { get } = yield* Executions
    const node = elsewhere(trigger)
    const mark = TestCopies.markOf(workbench.subject.name)
    const answering = responder(subject, trigger)
    const { id } = yield* TestCopies.held(
      TestCopies.create({
        name: mark.name,
        nodes: [node, ...(answering === undefined ? [] : [answering]), mark.node],
        connections: Connections.fromLinks(
          answering === undefined ? [] : Webhooks.methodsOf(node).map((_, index) => ({
            from: node.name,
            output: { type: "main", index },
            to: answering.name,
            input: { type: "main", index: 0 }
          }))
        ),
        settings: TestCopy.settingsOf(workbench.subject, { answersFirst: true, timeout }, false)
      }, workbench.projectId),
      () => true
    )
    yield* TestCopies.publish(id)
    const earlier = new Set<string>()
    return Effect.fnUntraced(function*(recorded: retryRequests.Recorded) {
      const { path, text: _, ...call } = yield* Effect.fromResult(retryRequests.make(node, recorded))
      let answer: WebhookAnswer | undefined
      const observed = yield* Effect.result(executionWatch.observe({ timeout }, {
        searchTimeout: timeout,
        call: Effect.tap(
          executionWatch.callWebhook(path, { ...call, seconds: timeout / 1_000 }),
          (own) => Effect.sync(() => answer = own)
        ),
        find: executionWatch.findCopyExecution(id, { storesId: false, responds: true }, earlier),
        nodeCount: 1,
        added: 0,
        read: get
      }))
      if (Result.isSuccess(observed)) earlier.add(observed.success.execution.id)
      return { answer, observed, headers: call.headers ?? {} }
    })
  }
)

type Made = Effect.Success<ReturnType<Effect.Success<ReturnType<typeof open>>>>

const headersOf = (execution: Execution.Execution) =>
  Object.entries(obj(obj(obj(retryPlan.startItemOf(execution)?.item)?.["json"])?.["headers"]) ?? {})

/** Reason why a request was not tested; a final one is that of all. */
interface Fault {
  readonly why: string
  readonly isFinal: boolean
}

const faultOf = (fault: string | Errors.N8nError | Fault): Fault =>
  typeof fault === "string"
    ? { why: fault, isFinal: false }
    : "why" in fault
    ? fault
    : { why: retryPlan.detailed(fault), isFinal: false }

const compare = Effect.fnUntraced(
  function*(former: Node, node: Node, before: Made, after: Made, { ignore, redacts }: Options) {
    const refusal = before.answer && retryRequests.refusal(before.answer)
    if (refusal !== undefined) return yield* Effect.fail({ why: refusal, isFinal: true })
    const record = yield* Effect.fromResult(before.observed)
    const failure = Execution.failure(record.execution)
    if (failure !== undefined) {
      return yield* Effect.fail(`the former version fails alone: ${Execution.errorDetail(failure.error).message}`)
    }
    const { compare, into } = comparer(redacts)
    // Only a trigger that answers immediately answers the same without the nodes after it.
    const answersItself = [former, node].every((each) => Webhooks.responseMode(each) === undefined)
    const shown = ({ answer }: Made) =>
      answer && { status: answer.status, ...answersItself ? { body: answer.text } : {} }
    const answers = () => {
      compare(node.name, shown(before), shown(after), "answer")
      return into.values()
    }
    if (Result.isFailure(after.observed)) {
      const why = after.answer && retryRequests.refusal(after.answer)
      // A failure between the caller and n8n is not this version's.
      if (why === undefined) return yield* after.observed.failure
      const own = tally()
      own.note({ node: node.name, run: 0, kind: "failed", after: why, digest: fingerprintOfText(why) })
      return [...own.values(), ...answers()]
    }
    const replay = after.observed.success.execution
    // Our client and what is between it and n8n add headers of their own.
    const { headers } = before
    const added = [
      ...headersOf(record.execution).filter(([name, value]) => headers[name] !== value),
      ...headersOf(replay).filter(([name]) => headers[name] === undefined)
    ].map(([name]) => name)
    const { differences } = yield* RunComparison.compare({
      record: record.execution,
      replay,
      nodes: [node.name],
      nameThen: identity,
      pinned: new Set(),
      ignore: [
        ...ignore,
        ...[["webhookUrl"], ["submittedAt"], ...added.map((name) => ["headers", name])].map((steps) => ({ steps }))
      ],
      redacts
    })
    return [...differences, ...answers()]
  }
)

/** Reason why the versions of a trigger cannot be tested. */
const obstacle = (nodes: ReadonlyArray<Node>): string | undefined =>
  new Set(nodes.map(({ type }) => type)).size > 1
    ? "it is another type of node"
    : !nodes.every(retryRequests.receivesRequests)
    ? "it receives no requests"
    : nodes.some((node) => Webhooks.responseMode(node) === "streaming")
    ? "it streams its answer"
    : undefined

const test = Effect.fnUntraced(function*(runs: ReadonlyArray<Run>, options: Options) {
  const { published, workbench: { subject } } = options
  const [newest] = runs
  const started = newest && retryPlan.startItemOf(newest.record)
  const node = subject.nodes.find(({ name }) => name === newest?.version.node)
  if (newest === undefined || started === undefined || node === undefined) {
    return yield* Effect.fail("n8n stored no data of it")
  }
  const ran = started.node
  const then = published?.nodes.find(({ id }) => id !== undefined && id === ran.id) ??
    published?.nodes.find(({ name }) => name === ran.name) ?? ran
  // The same name in both copies, for the comparison.
  const former = { ...then, name: node.name }
  const why = obstacle([former, node])
  if (why !== undefined) return yield* Effect.fail(why)
  yield* Effect.mapError(WriteGuard.use(({ checkTest }) => checkTest([former, node])), retryPlan.detailed)
  const own = { ...options, timeout: Math.min(options.timeout, longest) }
  const [before, after] = yield* Effect.all([
    // The graph is today's: only the version of the trigger is tested.
    open(former, subject, own),
    open(node, subject, own)
  ], { concurrency: 2 }).pipe(Effect.mapError(retryPlan.detailed))
  return yield* Batch.run(
    runs,
    {
      ...pace,
      isContinued: true,
      stopIf: ({ isFinal, why }: Fault) => isFinal ? why : undefined,
      message: (done, total) => `tested the trigger with ${done} of ${counted(total, "request")}`
    },
    Effect.fnUntraced(function*({ record }) {
      const recorded = retryPlan.startItemOf(record)
      if (recorded === undefined) return yield* Effect.fail("n8n stored no data of it")
      const [one, other] = yield* Effect.all([before(recorded), after(recorded)], { concurrency: 2 })
      return yield* compare(former, node, one, other, own)
    }, Effect.mapError(faultOf))
  )
}, Effect.scoped)

/** Tests the new versions of triggers with the requests of the runs that they started. */
export const tested = Effect.fn("triggerTest.tested")(function*(runs: ReadonlyArray<Run>, options: Options) {
  return yield* Effect.forEach(
    Rows.grouped(runs, ({ version: { before, node } }) => [node, before]),
    Effect.fnUntraced(function*({ first: { version: { after, before, node } }, rows }) {
      const subject = { node, versions: `${before ?? 1} → ${after ?? 1}` }
      const result = yield* Effect.result(test(rows, options))
      if (Result.isFailure(result)) {
        return { ...subject, differences: new Map(), faults: new Map(), why: result.failure } satisfies Tested as Tested
      }
      const { done, failed, fault, left } = result.success
      const faults = new Map([
        ...[...failed].map(([{ execution }, { why }]) => [execution, why] as const),
        ...left.map(({ execution }) => [execution, fault?.why ?? "the call had no more time"] as const)
      ])
      const [why] = faults.values()
      return {
        ...subject,
        differences: new Map([...done].map(([{ execution }, differences]) => [execution, differences])),
        faults,
        ...(done.size === 0 && why !== undefined ? { why } : {})
      } satisfies Tested as Tested
    })
  )
})

/** Triggers of whose new versions nothing is known. */
export const unseen = (all: ReadonlyArray<Tested>): ReadonlyArray<Groups.NotReplayed> =>
  all.flatMap(({ node, versions, why }) =>
    why === undefined ? [] : [{
      node,
      why: `typeVersion ${versions}: a replay starts after the trigger, which cannot be tested on a copy (${why}); ` +
        "once it is published, a live test shows what it makes of a request"
    }]
  )

/** Runs whose requests the others' triggers were not tested with. */
export const untested = (all: ReadonlyArray<Tested>): ReadonlyArray<Groups.NotReplayed> =>
  all.flatMap(({ faults, node, versions, why }) =>
    why !== undefined ? [] : [...faults].map(([execution, fault]) => ({
      node,
      execution,
      why: `typeVersion ${versions} was not tested with its request: ${fault}`
    }))
  )

/** Note of tests without differences. */
export const note = (all: ReadonlyArray<Tested>): ReadonlyArray<string> => {
  const requests = all.reduce((sum, { differences }) => sum + differences.size, 0)
  return requests === 0 ? [] : [`trigger tested on a copy: ${counted(requests, "request")}, same items`]
}
