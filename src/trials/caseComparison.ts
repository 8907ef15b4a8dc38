/** Comparison of a test with what another version, or a recorded execution, did. */
import * as Effect from "effect/Effect"
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
import type * as Replays from "./Replays.ts"

/** Run to compare with, with the caller's answer where it is known as a text. */
export interface Before {
  readonly side: Parameters<typeof Comparison.compare>[0]
  readonly response?: WebhookAnswer | undefined
}

/** Comparison of one test. */
export interface Compared {
  readonly before: Before
  /** Whether the caller gets the same status and the same answer; `undefined` if no caller waits. */
  readonly isAnsweredAlike: boolean | undefined
  /** Differences with the values of both sides, the cause first, such as `'Tag'.source: "a" → "b"`. */
  readonly changes: ReadonlyArray<string>
}

/** Recorded execution, if it can be compared. */
export const recorded = Effect.fnUntraced(function*(id: string) {
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
export const compare = Effect.fnUntraced(function*<R>(
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
export const sideOf = (
  { result: { execution, response }, subject: { connections, nodes } }: Replays.Replayed
): Before => defined({ side: { execution, nodes, connections }, response })
