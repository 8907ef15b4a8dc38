/**
 * Selection of executions: the one way in which tools take a set of runs. Lists those that match, newest first, and
 * reads each, a few at a time, until a limit of time or bytes.
 */
import * as Clock from "effect/Clock"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import type { Hint } from "../base/Advice.ts"
import * as Batch from "../base/Batch.ts"
import * as Deadline from "../base/Deadline.ts"
import type * as Errors from "../base/Errors.ts"
import * as Input from "../base/Input.ts"
import { counted } from "../base/Plural.ts"
import * as Rows from "../base/Rows.ts"
import * as HttpErrors from "../n8n/HttpErrors.ts"
import * as Links from "../n8n/Links.ts"
import * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import { maxPage } from "../n8n/model/Limits.ts"
import * as NameSearch from "../n8n/model/NameSearch.ts"
import * as TestMark from "../n8n/model/TestMark.ts"
import { cursorAfter, deletedWorkflow, N8nClient } from "../n8n/N8nClient.ts"
import * as ItemView from "./ItemView.ts"

export const unknownWorkflow = "Unknown Workflow"

const nameConcurrency = 4

type Listed = ReadonlyArray<ExecutionHead.Listed>

const idsOf = (executions: Listed) => [
  ...new Set(executions.flatMap(({ workflowId }) => typeof workflowId === "string" ? [workflowId] : []))
]

/**
 * Names of the executions' workflows by id: the original's name for a test copy, {@link unknown} if it cannot be read.
 */
export const namesOf = Effect.fn("WorkflowNames.read")(function*(executions: Listed) {
  const n8n = yield* N8nClient
  const names = yield* Effect.forEach(
    idsOf(executions),
    (id) =>
      n8n.workflowName(id).pipe(
        Effect.orElseSucceed(() => unknownWorkflow),
        Effect.map((name) => [id, TestMark.originalName(name)] as const)
      ),
    { concurrency: nameConcurrency }
  )
  return new Map(names)
})

interface Narrowed {
  readonly workflowId?: string
  /** Filter for executions of such workflows; absent if `workflowId` is sufficient. */
  readonly filter?: (executions: Listed) => Effect.Effect<Listed, Errors.RequestError>
}

const maxWorkflows = 100

/**
 * Restriction to workflows whose name contains `text`, ignoring case and accents; `undefined` if there are none.
 *
 * One search by name finds existing workflows. If its result may be incomplete (too many, or the text also matches the
 * name of deleted ones), the name of each listed execution's workflow is read once.
 */
const matching = Effect.fn("WorkflowNames.matching")(
  function*(text: string): Effect.fn.Return<Narrowed | undefined, Errors.RequestError, N8nClient> {
    const n8n = yield* N8nClient
    const contains = NameSearch.contains(text)
    const { nextCursor, workflows } = yield* n8n.listWorkflows({ name: text, archived: true, limit: maxWorkflows })
    const live = new Set(workflows.map(({ id }) => id))
    const isAll = nextCursor === undefined && !contains(deletedWorkflow)
    const [only] = live
    if (isAll && live.size < 2) return only === undefined ? undefined : { workflowId: only }
    const filter = Effect.fnUntraced(function*(executions: Listed) {
      const others = isAll ? [] : idsOf(executions).filter((id) => !live.has(id))
      const matched = yield* Effect.filter(others, (id) => Effect.map(n8n.workflowName(id), contains), {
        concurrency: nameConcurrency
      })
      const ids = new Set([...live, ...matched])
      return executions.filter(({ workflowId }) => typeof workflowId === "string" && ids.has(workflowId))
    })
    return { filter }
  }
)

/** Maximum bytes of executions that one call reads, uncompressed. */
const maxBytes = 1_000_000_000

const concurrency = 4

/** Failure of a run that is not read, since enough was. */
const enough = { _tag: "Enough" } as const

/** Error for runs that cannot be read in the time of one call. */
export const timedOut = (): Errors.N8nError =>
  HttpErrors.timeoutError({ operation: "list executions" }, Deadline.callMillis)

const text = (description: string) =>
  Schema.optionalKey(Schema.String.check(Schema.isMinLength(1)).annotate({ description }))

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** ISO 8601 time that a text names: itself, or the time before now of a duration such as `24h`. */
export const timeOf = Effect.fnUntraced(function*(name: string, text: string): Effect.fn.Return<string, Input.Refusal> {
  const [, amount = "", unit] = /^\s*(\d{1,5})([mhd])\s*$/.exec(text) ?? []
  if (unit !== undefined) {
    const now = yield* Clock.currentTimeMillis
    return new Date(now - Number(amount) * units[unit as keyof typeof units]).toISOString()
  }
  return Number.isNaN(Date.parse(text))
    ? yield* Effect.fail({
      message: `${name} must be a time such as 2026-01-31T08:00:00Z, or a duration before now such as 30m, 24h or 7d`
    })
    : text
})

const isoTime = Schema.NonEmptyString.check(Schema.makeFilter((time) => !Number.isNaN(Date.parse(time))))

/** Optional time, as {@link timeOf} reads it. */
export const time = (name: string, description: string) =>
  Schema.optionalKey(
    Schema.String.annotate({ description }).pipe(Links.reading((text) => timeOf(name, text), isoTime))
  )

/** Parameters of a tool that takes a set of runs, besides the maximum number. */
export const parameters = {
  workflowId: Schema.optionalKey(Schema.String.annotate({ description: "Its runs." }).pipe(Links.workflowId)),
  workflowName: text("Part of it."),
  status: Schema.optionalKey(Schema.Literals(ExecutionHead.statuses).annotate({ description: "State." })),
  startedAfter: time("startedAfter", "ISO time or 24h."),
  startedBefore: time("startedBefore", "ISO time."),
  cursor: text("nextCursor.")
}

const Parameters = Schema.Struct(parameters)

/** Checks what a program enters as a tool's arguments are; times are looked at when they are sent. */
const check = Input.decoder(
  Schema.Struct({
    ...Struct.pick(parameters, ["workflowName", "status", "cursor"]),
    workflowId: Schema.optionalKey(Schema.NonEmptyString),
    last: Schema.optionalKey(Input.count("last", 10_000))
  }),
  "ignore"
)

/** Set of runs: those that meet all conditions, at most `last` of them, the newest. */
export interface Query extends Omit<Schema.Schema.Type<typeof Parameters>, "startedAfter" | "startedBefore"> {
  readonly startedAfter?: DateTime.DateTime.Input | undefined
  readonly startedBefore?: DateTime.DateTime.Input | undefined
  /** 1 to 10,000. */
  readonly last?: number | undefined
  /** Replaces `last` if that is absent; a set that it cuts is incomplete. */
  readonly defaultLast: number
}

/** Execution of a selection with what was read of it; `undefined` if nothing had to be. */
export interface Selected<A> {
  readonly head: ExecutionHead.Listed
  readonly value: A | undefined
}

/** Selected executions, with what was read of each. */
export interface Selection<A> {
  /** Newest first, without any that n8n deleted meanwhile. */
  readonly runs: ReadonlyArray<Selected<A>>
  readonly names: ReadonlyMap<string, string>
  /** Whether the runs are all that were requested: as many as `last`, or all that match. */
  readonly isComplete: boolean
  /** Cursor that continues after the last run; absent if no older one matches. */
  readonly nextCursor: string | undefined
  /** Query that selects the same runs again; absent without any. */
  readonly again: { readonly cursor: string; readonly last: number } | undefined
  /** Whether runs were left for lack of time or because of their size. */
  readonly isCut: boolean
  /** Id of the only workflow that the query allows. */
  readonly workflowId: string | undefined
  readonly note: string | undefined
  /** Advice on {@link note}; `Hints.text` has it in words. */
  readonly hint?: Hint
}

/** Arguments that continue an incomplete selection; absent if it is complete or cannot be continued. */
export const next = ({ isComplete, nextCursor, runs }: Selection<unknown>, { last }: Query) =>
  isComplete || nextCursor === undefined
    ? undefined
    : { cursor: nextCursor, ...(last === undefined ? {} : { last: Math.max(1, last - runs.length) }) }

const unread = (faults: ReadonlyArray<readonly [id: string, fault: Errors.N8nError]>) => {
  const ids = Rows.listed(faults.map(([id]) => id), 5)
  return ItemView.noteAbout(
    faults.length,
    "run",
    (some) => `${some} could not be read (${ids}): ${faults[0]?.[1].message}`
  )
}

const list = Effect.fnUntraced(function*(
  { cursor: from, defaultLast, last = defaultLast, workflowName: _, ...query }: Query,
  narrowed: Narrowed,
  executions: Map<string, ExecutionHead.Listed>
) {
  const n8n = yield* N8nClient
  let cursor = from
  while (true) {
    const limit = Math.min(maxPage, last - executions.size)
    const page = yield* n8n.listExecutions({
      ...query,
      ...narrowed,
      limit,
      cursor
    })
    for (const execution of page.executions) executions.set(String(execution.id), execution)
    cursor = page.nextCursor
    // The client returns a short page when it has scanned as many as one call should.
    if (cursor === undefined || executions.size >= last || page.executions.length < limit) return cursor
  }
})

/** Selection of a query that no workflow meets. */
const emptySelection = ({ workflowId, workflowName }: Query): Selection<never> => ({
  runs: [],
  names: new Map(),
  isComplete: true,
  nextCursor: undefined,
  again: undefined,
  isCut: false,
  workflowId,
  note: `No workflow ${workflowId === undefined ? "" : "of this workflowId "}has ${
    JSON.stringify(workflowName)
  } in its name.`,
  hint: { _tag: "ListExistingWorkflows" }
})

const isTimeout = (error: Errors.N8nError) => error._tag === "ApiError" && error.reason._tag === "Timeout"

/**
 * Selects runs and reads each with `read`, which returns `undefined` for a run of which nothing is needed.
 *
 * Runs are read newest first. After a limit of time or bytes, the selection ends before the first run that was not read,
 * and `nextCursor` continues there. A run that cannot be read is left out, and `note` names it; so is the first one if
 * it takes longer than others that follow. Fails only if nothing could be read. `bytes` returns the size of what was read.
 */
export const select = Effect.fn("Selection.select")(function*<A, R>(
  query: Query,
  read: (head: ExecutionHead.Listed) => Effect.Effect<A, Errors.N8nError, R> | undefined,
  bytes: (value: A) => number = () => 0
): Effect.fn.Return<Selection<A>, Errors.N8nError, N8nClient | R> {
  const { last, workflowId } = query
  yield* check(query)
  const narrowed = query.workflowName === undefined ? {} : yield* matching(query.workflowName)
  if (narrowed === undefined || (workflowId ?? narrowed.workflowId) !== (narrowed.workflowId ?? workflowId)) {
    return emptySelection(query)
  }
  const executions = new Map<string, ExecutionHead.Listed>()
  const cursor = yield* list(query, narrowed, executions)
  const heads = [...executions.values()]
  const names = yield* namesOf(heads.length === 0 ? [{ id: "", workflowId: workflowId ?? null }] : heads)
  const isUnknown = heads.length === 0 && names.get(workflowId ?? "") === deletedWorkflow
  const other = isUnknown && workflowId !== undefined ? yield* Links.named(workflowId) : undefined
  if (other !== undefined) return yield* select({ ...query, workflowId: other }, read, bytes)
  const readings = new Map(heads.flatMap((head) => {
    const reading = read(head)
    return reading === undefined ? [] : [[head, reading] as const]
  }))
  let total = 0
  const reading = yield* Batch.run(readings.entries(), {
    needs: 0,
    concurrency,
    within: Math.min(Deadline.callMillis, yield* Deadline.left),
    stopIf: (error: Errors.N8nError | typeof enough) => error._tag === "Enough" ? "enough was read" : undefined,
    message: () => "runs read"
  }, ([, reading]): Effect.Effect<A, Errors.N8nError | typeof enough, R> =>
    total < maxBytes
      ? Effect.tap(reading, (value) => Effect.sync(() => total += bytes(value)))
      : Effect.fail(enough))
  const results = new Map<ExecutionHead.Listed, Result.Result<A, Errors.N8nError>>()
  let late: Errors.N8nError | undefined
  for (const [[head], value] of reading.done) results.set(head, Result.succeed(value))
  for (const [[head], error] of reading.failed) {
    if (error._tag === "Enough") continue
    if (isTimeout(error)) late = error
    else results.set(head, Result.fail(error))
  }
  const isOpen = (head: ExecutionHead.Listed) => readings.has(head) && !results.has(head)
  // The next call would begin with these runs again.
  const first = heads.findIndex((head) => !isOpen(head))
  for (const head of heads.slice(0, first === -1 ? 1 : first)) results.set(head, Result.fail(late ??= timedOut()))
  const cut = heads.findIndex(isOpen)
  const ended = cut === -1 ? heads : heads.slice(0, cut)
  const failures = ended.flatMap((head) => {
    const result = results.get(head)
    return result !== undefined && Result.isFailure(result) ? [[head, result.failure] as const] : []
  })
  const failed = new Set(failures.map(([head]) => head))
  const faults = failures.flatMap(([{ id }, fault]) =>
    fault._tag === "NotFoundError" ? [] : [[String(id), fault] as const]
  )
  if (faults[0] !== undefined && faults.length === results.size) return yield* faults[0][1]
  const gone = failures.length - faults.length
  const isCut = cut !== -1
  const runs = ended.filter((head) => !failed.has(head)).map((head): Selected<A> => ({
    head,
    value: Result.getOrUndefined(results.get(head) ?? Result.fail(late))
  }))
  const [newest, oldest] = [ended[0], ended.at(-1)]
  return {
    runs,
    names,
    isComplete: !isCut && faults.length === 0 && (cursor === undefined || heads.length >= (last ?? Infinity)),
    nextCursor: isCut && oldest !== undefined ? cursorAfter(oldest.id) : cursor,
    again: newest && { cursor: cursorAfter(Number(newest.id) + 1), last: ended.length - gone },
    isCut,
    workflowId: narrowed.workflowId ?? workflowId,
    note: ItemView.joinNotes([
      isUnknown && `n8n has no workflow '${workflowId}'.`,
      isCut
        ? `Only ${counted(runs.length, "run")} read in the time of one call: continue with cursor.`
        : cursor !== undefined && heads.length < (last ?? query.defaultLast) &&
          `Only ${counted(runs.length, "run")} found so far: continue with cursor.`,
      ItemView.noteAbout(gone, "run", (some) => `n8n deleted ${some} meanwhile.`),
      unread(faults)
    ]),
    ...(isUnknown ? { hint: { _tag: "ListWorkflows" } } : {})
  }
})
