/** Recorded runs of a workflow, and their replays on versions of it, a few at a time, without sending anything. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { CallContext } from "../base/CallContext.ts"
import * as Errors from "../base/Errors.ts"
import * as Execution from "../executions/Execution.ts"
import * as Selection from "../executions/Selection.ts"
import type * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import { maxPage } from "../n8n/model/Limits.ts"
import type { Upgraded } from "../workflow/upgrade/Upgrade.ts"
import * as TestBench from "./TestBench.ts"
import * as TestCopies from "./TestCopies.ts"
import type * as TestCopy from "./TestCopy.ts"

export const maxRuns = 50

export const defaultLast = 20

/** Number of newest runs that are replayed of each workflow of a batch by default. */
export const defaultBatchLast = 3

/** Replays at the same time, and the milliseconds that one needs. */
export const pace = { concurrency: 4, needs: 12_000, grants: 12_000 } as const

export interface Selected {
  /** Number of runs, the newest; not with `executions`. */
  readonly last?: number | undefined
  readonly executions?: ReadonlyArray<string> | undefined
}

/** Run that is not replayed though it is new enough. */
interface Omitted {
  readonly execution: string
  readonly why: string
}

/** Modes of executions that did not run a whole workflow as it was published. */
const partial = new Set(["manual", "retry", "evaluation"])

const isRecorded = ({ mode, status }: ExecutionHead.Listed) =>
  (status === "success" || status === "error") && !partial.has(mode ?? "")

const newest = Effect.fnUntraced(function*(workflowId: string, last: number) {
  const { runs } = yield* Selection.select<undefined, never>(
    { workflowId, defaultLast: Math.min(maxPage, last * 4) },
    () => undefined
  )
  const recorded = runs.flatMap(({ head }) => isRecorded(head) ? [String(head.id)] : []).slice(0, last)
  const oldest = Number(recorded.at(-1))
  const omitted = runs.flatMap(({ head: { id, mode } }): ReadonlyArray<Omitted> =>
    mode === "retry" && Number(id) > oldest
      ? [{ execution: String(id), why: "a retry, which repeats another run" }]
      : []
  )
  if (recorded.length > 0) return { ids: recorded, omitted }
  return yield* new Errors.ValidationError({
    reason: "The workflow has no recorded runs to replay",
    field: "workflowId",
    hint: [
      runs.length > 0
        ? `Its ${runs.length} newest executions were manual, canceled or have not ended.`
        : "Its settings may not save successful executions, or n8n has pruned them.",
      { _tag: "PassTestData" }
    ]
  })
})

export const idsOf = Effect.fnUntraced(
  function*(
    { id: reference, recordedId, sourceId }: TestBench.Workbench,
    { executions, last = defaultLast }: Selected
  ) {
    if (executions !== undefined) return { ids: executions, omitted: [] }
    const source = sourceId ?? recordedId
    if (source !== undefined) return yield* newest(source, last)
    const reason = `'${reference}' does not name a workflow on n8n with runs to replay`
    return yield* Errors.invalid("executions", reason, "Set executions to the ids of runs to replay.")
  }
)

export interface Replayed {
  readonly subject: TestCopy.Subject
  readonly result: TestBench.TestResult
  /** Nodes that were replaced, so that they returned other items than the recorded ones. */
  readonly replaced?: ReadonlySet<string>
}

/** Reason why a run was not replayed; `isPassing` if n8n was busy, so that another try may succeed. */
export interface Fault {
  readonly why: string
  readonly isPassing: boolean
}

/** Reason why a finished replay cannot be compared. */
const unfinished = ({ execution, timedOut, timeout }: TestBench.TestResult) =>
  timedOut
    ? `its replay was stopped after ${timeout} ms`
    : execution.status === "waiting"
    ? `its replay waits at '${Execution.lastToRun(execution) ?? "?"}'`
    : undefined

/** Benches of a proof, which together run a few executions at a time. */
export const make = Effect.fnUntraced(
  function*(workbench: TestBench.Workbench, { timeout }: { readonly timeout: number }) {
    const scope = yield* Scope.fork(yield* Effect.scope, "parallel")
    const permits = Semaphore.makeUnsafe(pace.concurrency)
    const opening = Semaphore.makeUnsafe(1)
    const benches = new Map<string, Result.Result<TestBench.Bench, Errors.N8nError>>()
    const upgraded = new Map<string, Upgraded>()
    const grantsTimeout = (yield* CallContext).hearsProgress === true
    const open = (subject: TestCopy.Subject) =>
      opening.withPermit(Effect.gen(function*() {
        const key = JSON.stringify([subject.nodes, subject.connections, subject.settings])
        const known = benches.get(key)
        if (known !== undefined) return yield* Effect.fromResult(known)
        const opened = yield* Effect.result(
          TestBench.of({ ...workbench, subject }, { timeout, isProof: true, grantsTimeout })
        )
        benches.set(key, opened)
        return yield* Effect.fromResult(opened)
      })).pipe(Scope.provide(scope))
    return {
      open,
      note: () => TestCopies.upgradeNote([...upgraded.values()]),
      replay: Effect.fnUntraced(
        function*(subject: TestCopy.Subject, id: string, rows?: TestCopy.Replacements) {
          const { run } = yield* open(subject)
          const { notRun, ...result } = yield* permits.withPermit(run({ replay: id, rows }))
          for (const each of result.upgraded) upgraded.set(each.node, each)
          const replaced = new Set(rows?.keys())
          return {
            subject,
            result: { ...result, notRun: notRun.filter((name) => !replaced.has(name)) },
            replaced
          } satisfies Replayed
        },
        Effect.mapError((error): Fault => ({
          why: error.message,
          isPassing: error._tag === "ApiError" && error.isRetryable
        })),
        Effect.tap(({ result }) => {
          const why = unfinished(result)
          return why === undefined ? Effect.void : Effect.fail<Fault>({ why, isPassing: false })
        })
      )
    }
  }
)

export type Replays = Effect.Success<ReturnType<typeof make>>
