/** Selection of workflows: the one way in which tools take a set of workflows. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Struct from "effect/Struct"
import * as Errors from "../base/Errors.ts"
import * as Links from "../n8n/Links.ts"
import type * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import { maxPage } from "../n8n/model/Limits.ts"
import * as NameSearch from "../n8n/model/NameSearch.ts"
import * as TestMark from "../n8n/model/TestMark.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { N8nClient, workflowMatcher } from "../n8n/N8nClient.ts"
import type * as Uses from "../workflow/Uses.ts"

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

const maxIds = 500

const few = (name: string) => Schema.isBetweenLength(1, maxIds, { message: `${name} must have 1 to ${maxIds} entries` })

const fields = {
  ids: Schema.Array(Schema.String.pipe(Links.workflowId)).check(few("ids")),
  names: Schema.Array(Schema.NonEmptyString).check(few("names")),
  active: Schema.Boolean,
  tags: Schema.Array(Schema.String),
  name: Schema.String,
  uses: Schema.String.check(Schema.isMinLength(2, { message: "uses must have two characters or more" })),
  without: Schema.Literals(["errorWorkflow", "tags", "runs"])
}

/** Conditions, all of which a workflow must meet. */
export const Select = Schema.Struct(fields).mapFields(Struct.map(Schema.optionalKey))
export type Select = typeof Select.Type

/** Conditions that a workflow alone can tell. */
export const Only = Schema.Struct(Struct.omit(Select.fields, ["ids", "names", "without"]))
export type Only = typeof Only.Type

/** Conditions with their descriptions. */
export const parameters = {
  ids: optional(fields.ids, "These."),
  names: optional(fields.names, "Whole names."),
  active: optional(fields.active, "Published or not."),
  tags: optional(fields.tags, "All of them."),
  name: optional(fields.name, "Part, any case."),
  uses: optional(fields.uses, "Node type, credential, sub-workflow id, webhook path, any text; or errorWorkflow."),
  without: optional(fields.without, "Lacking it; runs: saved executions.")
}

export type Conditions = Omit<Select, "ids" | "names">

export interface Options {
  readonly archived?: boolean | undefined
  /** Of this project (needs a licence). */
  readonly projectId?: string | undefined
  /** Whether the last runs are read. */
  readonly lastRun?: boolean | undefined
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
  [select.ids, select.names, select.tags].some((list = []) => list.length > 0) || (select.name ?? "").trim() !== "" ||
    select.active !== undefined || select.uses !== undefined || select.without !== undefined
    ? Effect.void
    : Effect.fail(
      new Errors.ValidationError({
        reason: "select needs a condition: nothing changes all workflows",
        field: "select",
        hint: "Set ids, names, name, tags, active, uses or without; active: true selects all that are published."
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
  // Last runs are read after the list, whose failure says more.
  const reading = lacksRuns || showsLastRun ? yield* Effect.cached(make(lacksRuns ? runPages : 1)) : Effect.undefined
  const runs = lacksRuns ? yield* reading : undefined
  const find = uses === undefined
    ? undefined
    : (yield* Effect.promise(() => import("../workflow/Uses.ts"))).finder(uses, { secrets })
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
    const last = yield* (yield* reading)?.of(workflows.map(({ id }) => id)) ?? Effect.undefined
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

/** Id or name that selects nothing. */
interface Missing {
  readonly id: string
  readonly why: "unknown" | "archived" | "test copy"
}

const every = { archived: true, copies: true }

/** Workflows by id and by name: each alone if there are few, else among all. */
const readIds = Effect.fnUntraced(function*(ids: ReadonlySet<string>, names: ReadonlySet<string>) {
  const n8n = yield* N8nClient
  const isNamed = (form: string) => names.has(form)
  if (ids.size + names.size > fewIds) {
    return yield* Stream.runCollect(
      n8n.streamWorkflows({ ...every, filter: ({ id, name }) => ids.has(id) || isNamed(NameSearch.form(name)) })
    )
  }
  const [byId, byName] = yield* Effect.all([
    Effect.forEach(ids, (id) =>
      n8n.getWorkflow(id, { excludePinnedData: true }).pipe(
        Effect.map((workflow): ReadonlyArray<Workflow.Listed> => [workflow]),
        Effect.catchTag("NotFoundError", () => Effect.succeed([]))
      ), { concurrency }),
    Effect.forEach(
      names,
      (name) =>
        Stream.runCollect(
          n8n.streamWorkflows({ ...every, name, filter: (each) => NameSearch.form(each.name) === name })
        ),
      {
        concurrency
      }
    )
  ])
  return [...byId, ...byName].flat()
})

export const all = Effect.fn("Selection.all")(function*(
  { ids, names, ...conditions }: Select,
  options: Options = {}
): Effect.fn.Return<
  { readonly selected: ReadonlyArray<Selected>; readonly missing: ReadonlyArray<Missing> },
  Errors.N8nError,
  N8nClient
> {
  if (ids === undefined && names === undefined) {
    const { nextCursor, selected } = yield* page(conditions, { ...options, limit: maxWorkflows })
    if (nextCursor === undefined) return { selected, missing: [] }
    return yield* new Errors.ValidationError({
      reason: "n8n has too many workflows to look at all of them in one call",
      field: "select",
      hint: "Add name, tags or active, so that fewer workflows are looked at."
    })
  }
  const { archived = false, lastRun = false } = options
  const forms = new Map(names?.map((name) => [NameSearch.form(name), name]))
  const distinct = [...new Set(ids)]
  const byId = new Map((yield* readIds(new Set(distinct), new Set(forms.keys()))).map((each) => [each.id, each]))
  // Instead of an id, a caller may write the name.
  const unknown = new Set(distinct.flatMap((id) => byId.has(id) ? [] : NameSearch.form(id)))
  for (const each of unknown.size === 0 ? [] : yield* readIds(new Set(), unknown)) byId.set(each.id, each)
  const byName = Map.groupBy(byId.values(), ({ name }) => NameSearch.form(name))
  const faultOf = (workflow: Workflow.Listed): Missing["why"] | undefined =>
    TestMark.isCopy(workflow) ? "test copy" : workflow.isArchived === true && !archived ? "archived" : undefined
  const rows = [
    ...distinct.map((id) => ({ id, workflows: [byId.get(id) ?? byName.get(NameSearch.form(id)) ?? []].flat() })),
    ...[...forms].map(([form, id]) => ({ id, workflows: byName.get(form) ?? [] }))
  ].map(({ id, workflows }) => {
    const live = workflows.filter((each) => faultOf(each) === undefined)
    const [first] = workflows
    return { id, live, why: live.length > 0 ? undefined : first === undefined ? "unknown" : faultOf(first) }
  })
  const { filter, finish } = yield* prepare(conditions, options, lastRun)
  const selected = yield* finish(
    [...new Set(rows.flatMap(({ live }) => live))].filter(workflowMatcher({ ...conditions, archived, filter }))
  )
  return {
    selected,
    missing: rows.flatMap(({ id, why }): ReadonlyArray<Missing> => why === undefined ? [] : [{ id, why }])
  }
})

export const defaultLimit = 20

interface Listed {
  readonly selected: ReadonlyArray<Selected>
  readonly cursors: ReadonlyArray<string | undefined>
  readonly scanned: number
  readonly nextCursor: string | undefined
  readonly isPartial: boolean
  readonly missing: ReadonlyArray<Missing>
}

/** Page of a selection: of ids and names all by default, and what is missing; `nextCursor` continues it. */
export const listed = Effect.fn("Selection.listed")(function*(
  select: Select,
  { cursor, limit, offset = 0, ...options }: Options & {
    readonly limit?: number | undefined
    readonly offset?: number | undefined
    readonly cursor?: string | undefined
  }
): Effect.fn.Return<Listed, Errors.N8nError, N8nClient> {
  if (select.ids === undefined && select.names === undefined) {
    return { ...yield* page(select, { ...options, cursor, offset, limit: limit ?? defaultLimit }), missing: [] }
  }
  const { missing, selected } = yield* all(select, options)
  const from = Number(cursor ?? 0) + offset
  if (!Number.isSafeInteger(from)) {
    return yield* Errors.invalid(
      "cursor",
      "cursor is not a nextCursor of these ids and names",
      "Leave it out to start."
    )
  }
  const end = Math.min(from + (limit ?? selected.length), selected.length)
  return {
    selected: selected.slice(from, end),
    cursors: selected.slice(from, end).map((_, index) => String(from + index + 1)),
    scanned: selected.length,
    nextCursor: end < selected.length ? String(end) : undefined,
    isPartial: false,
    missing
  }
})
