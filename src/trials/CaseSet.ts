/** Cases of a workflow, run one after the other, and compared with what another version does. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Batch from "../base/Batch.ts"
import type * as Errors from "../base/Errors.ts"
import type { WebhookAnswer } from "../n8n/N8nClient.ts"
import type { ObserveOptions } from "./executionWatch.ts"
import * as Comparison from "./proof/Comparison.ts"
import * as Groups from "./proof/Groups.ts"
import * as Volatility from "./proof/Volatility.ts"
import * as Replays from "./Replays.ts"
import * as TestBench from "./TestBench.ts"
import { byNameOrId } from "./TestCopy.ts"

export const maxCases = 20

/** Case with a name; by default the execution that it replays, or its position. */
export interface NamedCase extends TestBench.Case {
  readonly name?: string | undefined
}

export interface Options extends ObserveOptions {
  readonly cases: ReadonlyArray<NamedCase>
  /** Reference to another version that runs the same cases. */
  readonly against?: string | undefined
  readonly redacts: boolean
}

/** Result of a case; `differences` from the other version in words. */
export interface Outcome {
  readonly name: string
  readonly result: Result.Result<TestBench.TestResult, Errors.N8nError>
  readonly differences?: ReadonlyArray<string>
}

const bodyOf = (answer: WebhookAnswer | undefined) =>
  answer === undefined ? undefined : `${answer.status} ${answer.headers["content-type"] ?? ""} ${answer.text}`

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

/** Differences of a case in words, without values that differ from run to run. */
const differencesOf = Effect.fnUntraced(function*(
  [bench, result]: readonly [TestBench.Bench, TestBench.TestResult],
  [other, otherResult]: readonly [TestBench.Bench, TestBench.TestResult],
  again: Effect.Effect<
    Result.Result<TestBench.TestResult, Errors.N8nError>,
    never,
    Effect.Services<ReturnType<TestBench.Bench["run"]>>
  >,
  redacts: boolean
) {
  const comparison = { ignore: [], redacts }
  const { connections, nodes } = other.subject
  const side = { execution: otherResult.execution, nodes, connections }
  const { differences, order } = yield* Comparison.compare(side, { subject: bench.subject, result }, comparison)
  // Only what sent nothing is repeated.
  const repeated = differences.length === 0 || reachedOutside(otherResult)
    ? undefined
    : Result.getOrUndefined(yield* again)
  const second = repeated &&
    (yield* Comparison.compare(side, { subject: other.subject, result: repeated }, comparison)).differences
  const { real } = Volatility.judge(Volatility.empty, differences, second && { first: [], second })
  const { groups } = Groups.group([{ execution: result.execution.id, order, differences: real }], [], [])
  const isAnsweredAlike = bodyOf(result.response) === bodyOf(otherResult.response) || real.length > 0
  return [
    ...groups.map(({ node, paths }) => `${node}: ${paths.join(", ")}`),
    ...(isAnsweredAlike ? [] : ["the response"])
  ]
})

/** Case without pins of nodes that only the other version has. */
const ofVersion = (
  input: TestBench.Case,
  { subject: { nodes } }: TestBench.Bench,
  other: TestBench.Bench | undefined
): TestBench.Case => {
  const isPinnable = (name: string) =>
    byNameOrId(nodes, name) !== undefined || other === undefined || byNameOrId(other.subject.nodes, name) === undefined
  return input.pins === undefined
    ? input
    : { ...input, pins: Object.fromEntries(Object.entries(input.pins).filter(([name]) => isPinnable(name))) }
}

/** Runs cases; one that fails does not end the others. `left` is the number of those for which there was no time. */
export const run = Effect.fn("CaseSet.run")(function*(reference: string, options: Options) {
  const { against, redacts } = options
  const bench = yield* TestBench.open(reference, options)
  const other = against === undefined ? undefined : yield* TestBench.open(against, options)
  const names = namesOf(options.cases)
  const cases = options.cases.map(({ name: _, ...input }, index) => ({ name: names[index] ?? "", input }))
  const one = Effect.fnUntraced(function*({ input, name }: typeof cases[number]): Effect.fn.Return<
    Outcome,
    Errors.N8nError,
    Effect.Services<ReturnType<TestBench.Bench["run"]>>
  > {
    const result = yield* Effect.result(bench.run(ofVersion(input, bench, other)))
    if (other === undefined) return { name, result }
    const rerun = Effect.result(other.run(ofVersion(input, other, bench)))
    const otherResult = yield* rerun
    if (Result.isFailure(result)) return { name, result }
    const differences = Result.isFailure(otherResult)
      ? [`'${against}' could not run it: ${otherResult.failure.message}`]
      : yield* differencesOf([bench, result.success], [other, otherResult.success], rerun, redacts)
    return { name, result, differences }
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
