/** Selection of workflows: the one way in which tools take a set of workflows. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Errors from "../base/Errors.ts"
import type * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import { maxPage } from "../n8n/model/Limits.ts"
import * as TestMark from "../n8n/model/TestMark.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { N8nClient, workflowMatcher } from "../n8n/N8nClient.ts"
import * as Uses from "../workflow/Uses.ts"

/** Maximum number of pages of n8n's list that are read, newest first: by default n8n keeps 10,000 executions. */
const maxPages = 40

/** Number of unknown workflows above which another page is read instead of looking up each one. */
const manyUnknown = 20
const maxLookups = 100
const concurrency = 4

/** Newest execution; `null` for a workflow of which n8n has saved none. */
export type LastRun = ExecutionHead.Listed | null

/** Starts with pages of the newest executions, and with the running ones, which n8n lists only by that status. */
export const make = Effect.fn("LastRuns.make")(function*(firstPages = 1) {
  const n8n = yield* N8nClient
  const newest = new Map<string, LastRun>()
  const add = (executions: ReadonlyArray<ExecutionHead.Listed>) => {
    for (const each of executions) {
      if (typeof each.workflowId !== "string") continue
      const other = newest.get(each.workflowId)
      if (other == null || Number(other.id) < Number(each.id)) newest.set(each.workflowId, each)
    }
  }
  let cursor: string | undefined
  let pages = 0
  const hasMore = () => pages < maxPages && (pages === 0 || cursor !== undefined)
  const readPage = Effect.gen(function*() {
    const { executions, nextCursor } = yield* n8n.listExecutions({ limit: maxPage, cursor })
    add(executions)
    cursor = nextCursor
    pages++
  })
  add((yield* n8n.listExecutions({ status: "running", limit: maxPage })).executions)
  for (let page = 0; page < firstPages && hasMore(); page++) yield* readPage

  const of = Effect.fn("LastRuns.of")(function*(ids: ReadonlyArray<string>) {
    const unknown = () => ids.filter((id) => !newest.has(id))
    while (hasMore() && unknown().length > manyUnknown) yield* readPage
    if (cursor === undefined) { for (const id of unknown()) newest.set(id, null) }
    yield* Effect.forEach(
      unknown().slice(0, maxLookups),
      (workflowId) =>
        Effect.map(n8n.listExecutions({ workflowId, limit: 1 }), ({ executions }) => {
          newest.set(workflowId, null)
          add(executions)
        }),
      { concurrency, discard: true }
    )
    return new Map(ids.flatMap((id) => {
      const run = newest.get(id)
      return run === undefined ? [] : [[id, run] as const]
    }))
  })
  return { has: (id: string) => newest.get(id) != null, of }
})

const optional = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.optionalKey(schema.annotate({ description }))

/** Conditions of a selection, all of which a workflow must meet. */
export const conditions = {
  active: optional(Schema.Boolean, "Published (true) or not (false)."),
  tags: optional(Schema.Array(Schema.String), "With all of these tags."),
  name: optional(Schema.String, "Part of the name, in any case."),
  uses: optional(
    Schema.String.check(Schema.isMinLength(2, { message: "uses must have two characters or more" })),
    "In nodes: type, credential, sub-workflow id, webhook path, any text; or errorWorkflow."
  ),
  without: optional(Schema.Literals(["errorWorkflow", "tags", "runs"]), "Without it; runs: saved executions.")
}

const maxIds = 500

export const parameters = {
  ids: Schema.optionalKey(
    Schema.Array(Schema.String.check(Schema.isMinLength(1))).check(
      Schema.isBetweenLength(1, maxIds, { message: `ids must have 1 to ${maxIds} entries` })
    )
  ),
  ...conditions
}

const Conditions = Schema.Struct(conditions)
const Parameters = Schema.Struct(parameters)

export type Conditions = typeof Conditions.Type

/** Conditions, all of which a workflow must meet. */
export type Select = typeof Parameters.Type

export interface Options {
  readonly archived?: boolean | undefined
  /** Of this project (needs a licence). */
  readonly projectId?: string | undefined
  /** Whether `uses` searches secrets and returns them. */
  readonly secrets?: boolean | undefined
}

export interface Selected {
  readonly workflow: Workflow.Listed
  readonly uses: ReadonlyArray<Uses.Use>
  readonly lastRun: LastRun | undefined
}

/** Refuses a selection without any condition, for tools that change what is selected. */
export const refuseAll = (select: Select): Effect.Effect<void, Errors.ValidationError> =>
  [select.ids, select.tags].some((list = []) => list.length > 0) || (select.name ?? "").trim() !== "" ||
    select.active !== undefined || select.uses !== undefined || select.without !== undefined
    ? Effect.void
    : Effect.fail(
      new Errors.ValidationError({
        reason: "select needs a condition: nothing changes all workflows",
        field: "select",
        hint: "Set ids, name, tags, active, uses or without; active: true selects all that are published."
      })
    )

/** Pages of executions that `without: "runs"` reads before it lists workflows. */
const runPages = 8

/** Conditions that n8n's list lacks; `run` is applied later, since it takes requests. */
const prepare = Effect.fnUntraced(function*(
  { uses, without }: Conditions,
  { secrets = false }: Options,
  showsLastRun: boolean
) {
  const lacksRuns = without === "runs"
  const runs = lacksRuns || showsLastRun ? yield* make(lacksRuns ? runPages : 1) : undefined
  const find = uses === undefined ? undefined : Uses.finder(uses, { secrets })
  const places = new Map<string, ReadonlyArray<Uses.Use>>()
  const filter = (workflow: Workflow.Listed) => {
    if (lacksRuns && runs?.has(workflow.id) === true) return false
    if (without === "tags" && Workflow.tagNames(workflow).length > 0) return false
    if (without === "errorWorkflow" && Workflow.hasErrorWorkflow(workflow)) return false
    if (find === undefined) return true
    const uses = find(workflow)
    if (uses.length > 0) places.set(workflow.id, uses)
    return uses.length > 0
  }
  const finish = Effect.fnUntraced(function*(workflows: ReadonlyArray<Workflow.Listed>) {
    const last = runs === undefined ? undefined : yield* runs.of(workflows.map(({ id }) => id))
    const unclear = workflows.filter(({ id }) => last?.has(id) === false)
    if (lacksRuns && unclear.length > 0) {
      return yield* new Errors.ValidationError({
        reason: `n8n has too many executions to see whether ${unclear.length} of the workflows ever ran`,
        field: "without",
        hint: "Add name, tags, active or uses, so that fewer workflows are looked up."
      })
    }
    return workflows.flatMap((workflow): ReadonlyArray<Selected> => {
      const lastRun = last?.get(workflow.id)
      return lacksRuns && lastRun !== null ? [] : [{ workflow, uses: places.get(workflow.id) ?? [], lastRun }]
    })
  })
  return { filter: find !== undefined || without !== undefined ? filter : undefined, finish }
})

/** Milliseconds after which a selection starts no further list of workflows; one takes at most 20 seconds. */
const maxTime = 20_000

/**
 * Lists selected workflows; `nextCursor` continues even after fewer than the limit, `cursors` after each; `scanned` were
 * looked at.
 */
export const page = Effect.fn("Selection.page")(function*(
  conditions: Conditions,
  { archived = false, cursor: from, lastRun = false, limit, offset, projectId, ...options }: Options & {
    readonly limit: number
    readonly offset?: number | undefined
    readonly cursor?: string | undefined
    readonly lastRun?: boolean | undefined
  }
) {
  const n8n = yield* N8nClient
  const { filter, finish } = yield* prepare(conditions, options, lastRun)
  const until = (yield* Clock.currentTimeMillis) + maxTime
  const selected: Array<Selected> = []
  const places = new Map<string, string>()
  let scanned = 0
  let cursor = from
  do {
    const { cursors, nextCursor, workflows } = yield* n8n.listWorkflows({
      ...conditions,
      archived,
      projectId,
      cursor,
      limit: limit - selected.length,
      offset: cursor === from ? offset : 0,
      filter: filter && ((workflow) => {
        scanned++
        return filter(workflow)
      })
    })
    if (filter === undefined) scanned += workflows.length
    workflows.forEach(({ id }, index) => places.set(id, cursors[index] ?? ""))
    selected.push(...yield* finish(workflows))
    cursor = nextCursor
  } while (cursor !== undefined && selected.length < limit && (yield* Clock.currentTimeMillis) < until)
  return {
    selected,
    cursors: selected.map(({ workflow }) => places.get(workflow.id)),
    scanned,
    nextCursor: cursor,
    /** Whether more than the limit may be selected, since the search ended early. */
    isPartial: cursor !== undefined && selected.length < limit
  }
})

const fewIds = 20
const maxWorkflows = 9_900

interface Missing {
  readonly id: string
  readonly why: "unknown" | "archived" | "test copy"
}

const readIds = (ids: ReadonlySet<string>) =>
  N8nClient.use((n8n) =>
    ids.size > fewIds
      ? Stream.runCollect(n8n.streamWorkflows({ archived: true, copies: true, filter: ({ id }) => ids.has(id) }))
      : Effect.map(
        Effect.forEach(ids, (id) =>
          n8n.getWorkflow(id, { excludePinnedData: true }).pipe(
            Effect.map((workflow): ReadonlyArray<Workflow.Listed> => [workflow]),
            Effect.catchTag("NotFoundError", () => Effect.succeed([]))
          ), { concurrency: 4 }),
        (workflows) => workflows.flat()
      )
  )

export const all = Effect.fn("Selection.all")(function*(
  { ids, ...conditions }: Select,
  options: Options = {}
): Effect.fn.Return<
  { readonly selected: ReadonlyArray<Selected>; readonly missing: ReadonlyArray<Missing> },
  Errors.N8nError,
  N8nClient
> {
  if (ids === undefined) {
    const { nextCursor, selected } = yield* page(conditions, { ...options, limit: maxWorkflows })
    if (nextCursor === undefined) return { selected, missing: [] }
    return yield* new Errors.ValidationError({
      reason: "n8n has too many workflows to look at all of them in one call",
      field: "select",
      hint: "Add name, tags or active, so that fewer workflows are looked at."
    })
  }
  const { archived = false } = options
  const distinct = new Set(ids)
  const workflows = new Map((yield* readIds(distinct)).map((each) => [each.id, each]))
  const missing = [...distinct].flatMap((id): ReadonlyArray<Missing> => {
    const workflow = workflows.get(id)
    if (workflow === undefined) return [{ id, why: "unknown" }]
    if (TestMark.isCopy(workflow)) return [{ id, why: "test copy" }]
    return workflow.isArchived === true && !archived ? [{ id, why: "archived" }] : []
  })
  const { filter, finish } = yield* prepare(conditions, options, false)
  const selected = yield* finish(
    [...distinct].flatMap((id) => workflows.get(id) ?? []).filter(workflowMatcher({ ...conditions, archived, filter }))
  )
  return { selected, missing }
})
