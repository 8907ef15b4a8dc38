/** Cases of a workflow, run one after the other, and compared with another version or a recorded execution. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Batch from "../base/Batch.ts"
import * as Errors from "../base/Errors.ts"
import * as caseComparison from "./caseComparison.ts"
import * as Replays from "./Replays.ts"
import type * as TestBench from "./TestBench.ts"
import { byNameOrId } from "./TestCopy.ts"
import * as WorkflowTesting from "./WorkflowTesting.ts"

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
  readonly comparison?: Result.Result<caseComparison.Compared, Errors.N8nError>
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
  const record = hasRecord ? yield* caseComparison.recorded(against) : undefined
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
    const before = then === undefined ? record : caseComparison.sideOf(then.success)
    if (before === undefined) return { name, result }
    // Only what sent nothing is repeated.
    const isRepeatable = mode === "copy" && !reachedOutside((then === undefined ? now : then).success.result)
    const comparison = yield* caseComparison.compare(before, now.success, {
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
