/** Cases of a workflow, run one after the other, and compared with another version or a recorded execution. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Batch from "../base/Batch.ts"
import * as Errors from "../base/Errors.ts"
import { defined } from "../base/Json.ts"
import { counted } from "../base/Plural.ts"
import * as Rows from "../base/Rows.ts"
import { Executions } from "../executions/Executions.ts"
import type { WebhookAnswer } from "../n8n/N8nClient.ts"
import * as Webhooks from "../workflow/Webhooks.ts"
import * as Comparison from "./proof/Comparison.ts"
import * as Effects from "./proof/Effects.ts"
import * as Groups from "./proof/Groups.ts"
import * as RunComparison from "./proof/RunComparison.ts"
import * as Volatility from "./proof/Volatility.ts"
import * as Replays from "./Replays.ts"
import type * as TestBench from "./TestBench.ts"
import { byNameOrId } from "./TestCopy.ts"
import * as WorkflowTesting from "./WorkflowTesting.ts"

/** Run to compare with, with the caller's answer where it is known as a text. */
interface Before {
  readonly side: Parameters<typeof Comparison.compare>[0]
  readonly response?: WebhookAnswer | undefined
}

/** Comparison of one test. */
interface Compared {
  readonly before: Before
  /** Whether the caller gets the same status and the same answer; `undefined` if no caller waits. */
  readonly isAnsweredAlike: boolean | undefined
  /** Differences with the values of both sides, the cause first, such as `'Tag'.source: "a" → "b"`. */
  readonly changes: ReadonlyArray<string>
}

/** Recorded execution, if it can be compared. */
const recorded = Effect.fnUntraced(function*(id: string) {
  const execution = yield* Executions.use((executions) => executions.get(id))
  const { workflow } = execution
  const obstacle = RunComparison.obstacle(execution) ?? (workflow === undefined ? "n8n stored no workflow" : undefined)
  if (obstacle !== undefined || workflow === undefined) {
    const reason = `Execution '${id}' cannot be compared: ${obstacle}`
    return yield* Errors.invalid("against", reason, "Nothing ran. Name another execution, or leave out against.")
  }
  return { side: { execution, nodes: workflow.nodes, connections: workflow.connections } } satisfies Before
})

const textOf = ({ headers, status, text }: WebhookAnswer) => `${status} ${headers["content-type"] ?? ""} ${text}`

/** Whether a recorded caller got the same, by the differences that a caller sees; `undefined` if no caller waits. */
const isAlikeByNodes = (
  { side: { execution, nodes } }: Before,
  { result, subject }: Replays.Replayed,
  { differences, names, senders }: Omit<Effect.Success<ReturnType<typeof Comparison.compare>>, "newTriggers" | "order">
) => {
  const trigger = subject.nodes.find(({ name }) => name === result.trigger)
  const isAwaited = trigger !== undefined &&
    (Webhooks.responseMode(trigger) !== undefined || Webhooks.isCalled(trigger))
  if (!isAwaited) return undefined
  const now = new Map([...names].map(([name, then]) => [then, name]))
  const { answersOther } = Effects.of(differences, {
    record: execution,
    replay: result.execution,
    nodes: subject.nodes,
    former: nodes,
    trigger: result.trigger,
    senders,
    notRun: result.notRun,
    nameNow: (name) => now.get(name) ?? name
  })
  return !answersOther && differences.every(({ kind }) => kind !== "unknown")
}

const shown = (value: unknown) => value === undefined ? "nothing" : JSON.stringify(value)

/** Lines about differences with both sides; later nodes with the same cause are named with it. */
const linesOf = (run: Groups.Run): ReadonlyArray<string> =>
  Groups.group([run], [], []).groups.flatMap(({ also = [], node, paths, values = [] }) => {
    const name = Rows.quote(node)
    const isOf = (words: string, path: string) => words === path || words.startsWith(`${path} `)
    const words = paths.filter((each) => !values.some(({ path }) => isOf(each, path)))
    return [
      ...values.map(({ after, before, items, path }) => {
        const place = /^[\w$]/.test(path) ? `${name}.${path}` : `${name}${path}`
        return `${place}: ${shown(before)} → ${shown(after)}${
          items === undefined ? "" : ` (${counted(items, "item")})`
        }`
      }),
      ...words.map((each) => `${name}: ${each}`)
    ].map((line, index) => index > 0 || also.length === 0 ? line : `${line}, also at ${Rows.names(also)}`)
  })

/** Compares a test; `again` repeats one of the sides, which shows the values that differ from run to run. */
const compare = Effect.fnUntraced(function*<R>(
  before: Before,
  replayed: Replays.Replayed,
  { again, isSame, redacts }: {
    /** Whether another run of the former side is `again`, otherwise it is one of the tested version. */
    readonly isSame: boolean
    readonly again: Effect.Effect<Replays.Replayed | undefined, never, R>
    readonly redacts: boolean
  }
) {
  const { result } = replayed
  const comparison = { ignore: [], redacts }
  const compared = yield* Comparison.compare(before.side, replayed, comparison)
  const { differences, order } = compared
  const texts = [before.response, result.response].flatMap((each) => each === undefined ? [] : [textOf(each)])
  const [then, now] = texts
  const hasTexts = before.response !== undefined && result.response !== undefined
  const repeated = differences.length === 0 && (!hasTexts || then === now) ? undefined : yield* again
  const former = isSame ? before : sideOf(replayed)
  const second = repeated && (yield* Comparison.compare(former.side, repeated, comparison)).differences
  const { real } = Volatility.judge(Volatility.empty, differences, second && { first: [], second })
  const isVolatile = repeated?.result.response !== undefined && former.response !== undefined &&
    textOf(repeated.result.response) !== textOf(former.response)
  return {
    before,
    isAnsweredAlike: hasTexts && !isVolatile
      ? then === now && before.side.execution.status === result.execution.status
      : isAlikeByNodes(before, replayed, { ...compared, differences: real }),
    changes: linesOf({ execution: result.execution.id, order, differences: real })
  } satisfies Compared
})

/** Run of another version as the side to compare with. */
const sideOf = (
  { result: { execution, response }, subject: { connections, nodes } }: Replays.Replayed
): Before => defined({ side: { execution, nodes, connections }, response })

/** Case with a name; by default the execution that it replays, or its position. */
export interface NamedCase extends TestBench.Case {
  readonly name?: string | undefined
}

export interface Options extends WorkflowTesting.OpenOptions {
  readonly cases: ReadonlyArray<NamedCase>
  /** Reference to another version that runs the same cases, or the id of an execution. */
  readonly against?: string | undefined
  readonly redacts: boolean
}

/** Result of a case, and its comparison, or the reason why the other version could not run it. */
export interface Outcome {
  readonly name: string
  readonly result: Result.Result<TestBench.TestResult, Errors.N8nError>
  readonly comparison?: Result.Result<Compared, Errors.N8nError>
}

const isExecution = (reference: string) => /^\d+$/.test(reference)

const reachedOutside = ({ execution, notRun, outside, pinned }: TestBench.TestResult) =>
  outside.some(({ node: { name } }) => execution.runs.has(name) && !pinned.includes(name) && !notRun.includes(name))

const namesOf = (cases: ReadonlyArray<NamedCase>): ReadonlyArray<string> => {
  const names = new Set<string>()
  for (const [index, { name, replay }] of cases.entries()) {
    const own = name ?? replay ?? String(index + 1)
    names.add(names.has(own) ? `${own} (${index + 1})` : own)
  }
  return [...names]
}

/** Case without pins of nodes that only the other version has. */
const ofVersion = (
  input: TestBench.Case,
  { subject: { nodes } }: WorkflowTesting.Opened,
  other: WorkflowTesting.Opened | undefined
): TestBench.Case => {
  const isPinnable = (name: string) =>
    byNameOrId(nodes, name) !== undefined || other === undefined || byNameOrId(other.subject.nodes, name) === undefined
  return input.pins === undefined
    ? input
    : { ...input, pins: Object.fromEntries(Object.entries(input.pins).filter(([name]) => isPinnable(name))) }
}

/** Runs cases; one that fails does not end the others. `left` is the number of those for which there was no time. */
export const run = Effect.fn("CaseSet.run")(function*(reference: string, options: Options) {
  const { against, mode, redacts } = options
  const hasRecord = against !== undefined && isExecution(against)
  if (mode === "live" && against !== undefined && !hasRecord) {
    const reason = "A live test is compared with a recorded execution, not with another version"
    return yield* Errors.invalid(
      "against",
      reason,
      "Nothing ran. Set against to an execution's id, or mode to 'copy', which runs both versions."
    )
  }
  const record = hasRecord ? yield* recorded(against) : undefined
  const opened = yield* WorkflowTesting.open(reference, options.cases, options)
  const other = against === undefined || hasRecord
    ? undefined
    : yield* WorkflowTesting.open(against, options.cases, options)
  const names = namesOf(options.cases)
  const cases = options.cases.map(({ name: _, ...input }, index) => ({ name: names[index] ?? "", input }))
  const one = Effect.fnUntraced(function*({ input, name }: typeof cases[number]): Effect.fn.Return<
    Outcome,
    Errors.N8nError,
    Effect.Services<ReturnType<WorkflowTesting.Opened["run"]>>
  > {
    const replayed = (side: WorkflowTesting.Opened, rest: WorkflowTesting.Opened | undefined) =>
      Effect.map(
        Effect.result(side.run(ofVersion(input, side, rest))),
        Result.map((result): Replays.Replayed => ({ subject: side.subject, result }))
      )
    const now = yield* replayed(opened, other)
    const result = Result.map(now, ({ result }) => result)
    const then = other && (yield* replayed(other, opened))
    if (Result.isFailure(now) || then === undefined && record === undefined) return { name, result }
    if (then !== undefined && Result.isFailure(then)) return { name, result, comparison: Result.fail(then.failure) }
    const before = then === undefined ? record : sideOf(then.success)
    if (before === undefined) return { name, result }
    // Only what sent nothing is repeated.
    const isRepeatable = mode === "copy" && !reachedOutside((then === undefined ? now : then).success.result)
    const comparison = yield* compare(before, now.success, {
      again: !isRepeatable
        ? Effect.undefined
        : Effect.map(
          other === undefined ? replayed(opened, undefined) : replayed(other, opened),
          Result.getOrUndefined
        ),
      isSame: other !== undefined,
      redacts
    })
    return { name, result, comparison: Result.succeed(comparison) }
  })
  const { done, fault, left } = yield* Batch.run(cases, {
    ...Replays.pace,
    concurrency: 1,
    stopIf: ({ message }) => message,
    message: (_, __, { name }) => `case ${name}`
  }, one)
  if (fault !== undefined) return yield* fault
  return { outcomes: [...done.values()], left: left.length }
}, Effect.scoped)
