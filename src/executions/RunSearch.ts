/** Search for items in a selection of executions and in those that they started as sub-workflows. */
import * as Effect from "effect/Effect"
import { sumAll } from "effect/Number"
import type * as Errors from "../base/Errors.ts"
import type { Problem } from "../base/Interpreter.ts"
import { defined, obj } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import { suggestion } from "../base/Nearest.ts"
import * as Redact from "../base/Redact.ts"
import * as Rows from "../base/Rows.ts"
import * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import type { N8nClient } from "../n8n/N8nClient.ts"
import * as Execution from "./Execution.ts"
import { Executions } from "./Executions.ts"
import * as ItemSearch from "./ItemSearch.ts"
import * as ItemView from "./ItemView.ts"
import * as Selection from "./Selection.ts"
import * as SubRuns from "./SubRuns.ts"

const maxExecutions = 200

/** Number of runs with some of whose items an absent path is compared. */
const maxSamples = 5

export interface Search {
  /** Makes the condition for one execution: each has its own budget for the expression. */
  readonly condition: () => ItemSearch.Condition
  /** Converts a problem of the expression, which ends the search of one execution. */
  readonly onProblem: (problem: Problem) => Errors.ValidationError
  readonly nodes: ReadonlyArray<string> | undefined
  /** Nodes that ran without items, or that have no runs, instead of items. */
  readonly without?: "items" | "runs" | undefined
  /** Whether nothing is searched for: the newest runs, without those that they started. */
  readonly isList?: boolean
  /** Number of matches to skip. */
  readonly offset: number
  readonly limit: number
  readonly redacts: boolean
}

interface Place {
  readonly execution: Execution.Execution
  readonly slot: Execution.Slot
  readonly index: number
}

/** Match in its place; `position` is its place in the order of runs and items. A node without items has no `item`. */
export interface Match extends Place {
  readonly item: Execution.Item | undefined
  readonly position: number
}

/** Cursor within the matches of one run, or of a set of runs: those before it, and the query that selects the set again. */
export const cursorIn = (offset: number, again?: Selection.Selection<unknown>["again"]): string =>
  `matches-${offset}${again === undefined ? "" : `-${again.last}-${again.cursor}`}`

/** Number of matches before a cursor, and the query for its runs; another cursor is one of a list of runs. */
export const placeOf = (cursor = "") => {
  const [, offset = "0", last, from] = /^matches-(\d{1,9})(?:-(\d{1,9})-(.+))?$/.exec(cursor) ?? []
  return { offset: Number(offset), again: from === undefined ? undefined : { cursor: from, last: Number(last) } }
}

/** Nodes of an execution that ran and returned no items, or that did not run. */
const searchWithout = (execution: Execution.Execution, { limit, nodes, offset, without }: Search) => {
  const all = Execution.nodeNames(execution).filter((name) => !Workflow.isNote(Execution.nodeOf(execution, name)))
  const known = execution.runs.size === 0 ? [] : nodes?.filter((name) => all.includes(name)) ?? all
  const matched = known.filter((name) => {
    const runs = execution.runs.get(name)
    return without === "runs" ? runs === undefined : runs !== undefined && Execution.itemCount(runs) === 0
  })
  return {
    ...ItemSearch.none,
    matched: matched.length,
    scanned: known.length,
    nodes: matched.map((node) => ({ node, matched: 1 })),
    matches: matched.slice(offset, offset + limit).map((node, index) => ({
      slot: Execution.slotOf({ node, output: 0, run: 0 }),
      index: 0,
      position: offset + index,
      item: undefined
    })),
    slots: [] as ReadonlyArray<Execution.Part>
  }
}

/** Searches one execution; its matches are spread over the nodes. A list of runs has the items of the last node only. */
export const searchIn = (execution: Execution.Execution, wanted: Search) => {
  const { condition, isList = false, limit, nodes, offset, onProblem, redacts, without } = wanted
  if (without !== undefined) return Effect.succeed(searchWithout(execution, wanted))
  const all = ItemSearch.outputs(execution, nodes)
  const slots = isList ? all.filter(({ slot }) => slot.node === all.at(-1)?.slot.node) : all
  const search = ItemSearch.search(execution, condition(), { slots, redacts, offset, limit, spreads: true })
  return Effect.mapBoth(search, { onFailure: onProblem, onSuccess: (result) => ({ ...result, slots }) })
}

/** Result for one execution; it has the places of matches only, since the items of many would not fit in memory. */
interface Searched extends Omit<ItemSearch.Found, "matches"> {
  readonly execution: Execution.Execution
  readonly places: ReadonlyArray<Place>
  readonly subRuns: Effect.Success<ReturnType<typeof SubRuns.of>>
}

interface SearchedRun {
  readonly executions: ReadonlyArray<Searched>
  readonly isCut: boolean
}

/** Places to show: the first match of each run, then the second ones, until there are enough; newest runs first. */
const shown = (runs: ReadonlyArray<SearchedRun>, { limit, offset }: Search) => {
  const ranked = runs.flatMap(({ executions }, run) =>
    executions.flatMap(({ places }) => places).map((place, rank) => ({ place, rank, run }))
  ).map((entry, position) => ({ ...entry, position }))
  // An execution that several runs started was searched once.
  const unique = [...new Map(ranked.toReversed().map((entry) => [entry.place, entry])).values()]
  return unique.toSorted((a, b) => a.rank - b.rank || a.run - b.run).slice(offset, offset + limit)
    .map(({ place, position }) => ({ ...place, position }))
}

const itemAt = ({ execution, index, slot }: Place, redacts: boolean): Execution.Item => {
  const stored = obj(execution.items(slot, index, 1)[0])
  const json = stored?.["json"] ?? {}
  return Execution.item({ ...stored, json: redacts ? Redact.redact(json) : json })
}

const bytesOf = ({ runs }: Execution.Execution) =>
  sumAll([...runs.values()].flat().flatMap(({ outputs }) => outputs.map(({ bytes }) => bytes)))

const matchedIn = (run: SearchedRun | undefined) => sumAll((run?.executions ?? []).map(({ matched }) => matched))

const isVisible = ({ execution, scanned }: Searched) => scanned > 0 && !execution.isRedacted

/** Paths that no item of any execution has; an execution without items to see says nothing about them. */
const absentFromAll = (results: ReadonlyArray<Searched>) => {
  const lists = results.filter(isVisible).map(({ absent }) => absent)
  return [...new Set(lists.flat())].filter((path) =>
    lists.every((absent) => absent.some((outer) => JsonPath.isWithin(path, outer)))
  )
}

const combined = (results: ReadonlyArray<Searched>): ItemSearch.Totals => ({
  matched: sumAll(results.map(({ matched }) => matched)),
  scanned: sumAll(results.map(({ scanned }) => scanned)),
  failed: sumAll(results.map(({ failed }) => failed)),
  failure: results.find(({ failure }) => failure !== undefined)?.failure,
  absent: absentFromAll(results),
  redacted: [...new Set(results.flatMap(({ redacted }) => redacted))],
  passesSecrets: results.some(({ passesSecrets }) => passesSecrets) && results.every(({ matched }) => matched === 0),
  values: [...new Map(results.flatMap(({ values }) => values).toReversed())].toReversed()
})

const countByNode = (results: ReadonlyArray<Searched>) => {
  const isOne = new Set(results.map(({ execution }) => execution.workflowId)).size === 1
  const rows = results.flatMap(({ execution, nodes }) =>
    nodes.map((row) => ({ ...row, ...(isOne ? {} : { workflow: execution.workflow?.name ?? execution.workflowId }) }))
  )
  return Rows.grouped(rows, ({ node, workflow = "" }) => [workflow, node])
    .map(({ first, rows }) => ({ ...first, matched: sumAll(rows.map(({ matched }) => matched)) }))
    .toSorted((a, b) => b.matched - a.matched)
}

const gaps = (
  runs: ReadonlyArray<SearchedRun>,
  all: ReadonlyArray<Execution.Execution>,
  nodes: Search["nodes"] = []
): ReadonlyArray<ItemView.Note> => {
  const names = [...new Set(all.flatMap(Execution.nodeNames))]
  const [over, open] = [
    all.filter(({ status }) => ExecutionHead.isOver(status)),
    all.filter(({ status }) => !ExecutionHead.isOver(status))
  ]
  return [
    ItemView.hiddenNotes.runs(all.filter(({ isRedacted }) => isRedacted).length),
    ItemView.noteAbout(open.length, "run", (some) => `Not ended yet: ${some}, searched as far as n8n shows data.`),
    ItemView.noteAbout(
      over.filter(({ runs, unreadable }) => runs.size === 0 && unreadable === undefined).length,
      "run",
      (some) => `n8n has no data for ${some}.`
    ),
    ItemView.noteAbout(
      runs.filter(({ isCut }) => isCut).length,
      "run",
      (some) => `${some} started more sub-workflows than are searched (${maxExecutions - 1}).`
    ),
    ItemView.noteAbout(
      all.filter(({ unreadable }) => unreadable !== undefined).length,
      "run",
      (some) => `n8n cannot deliver the data of ${some}.`
    ),
    ItemView.noteAbout(
      runs.filter(({ executions }) => executions.some(({ subRuns }) => subRuns.unnamed.length > 0)).length,
      "run",
      (some) => `The sub-workflow's runs of a failed node were not found in ${some}: search that workflow's own runs.`
    ),
    ...nodes.filter((name) => all.length > 0 && !names.includes(name))
      .map((name) => `No run has a node '${name}'. ${suggestion(name, names)}`)
  ]
}

type Runs = ReadonlyArray<Selection.Selected<SearchedRun>>

/** Times at which the runs began, ISO 8601, the first one first. */
const startsOf = (runs: Runs) => runs.flatMap(({ head }) => head.startedAt ?? []).toSorted()

const versionOf = ({ value }: Runs[number]) => value?.executions[0]?.execution.version?.slice(0, 8)

const countOf = (runs: Runs) => ({
  runs: runs.length,
  matched: runs.filter(({ value }) => matchedIn(value) > 0).length
})

const countByStatus = (runs: Runs) =>
  Object.fromEntries(
    [...Map.groupBy(runs, ({ head }) => head.status ?? "unknown")].map(([status, some]) => [status, countOf(some)])
  )

/** Runs by version, the one that began to run last first. */
const countByVersion = (runs: Runs) =>
  Object.fromEntries(
    [...Map.groupBy(runs, (run) => versionOf(run) ?? "unknown")]
      .map(([version, some]) => [version, { ...countOf(some), firstRun: startsOf(some)[0] ?? "" }] as const)
      .toSorted(([, a], [, b]) => b.firstRun < a.firstRun ? -1 : 1)
  )

/**
 * Searches the chosen runs, each with the executions that it started, newest first.
 *
 * An execution that was both chosen and started by a chosen run is searched and its items are counted once; it counts
 * as a match of both.
 */
export const search = Effect.fn("RunSearch.search")(function*(query: Selection.Query, wanted: Search) {
  const { condition, limit, nodes, offset, redacts } = wanted
  const executions = yield* Executions
  const { again } = placeOf(query.cursor)
  // Each execution could have all of the matches that are skipped or shown.
  const searchAll = { ...wanted, offset: 0, limit: offset + limit }
  const started = new Map<string, Effect.Effect<Searched, Errors.N8nError, N8nClient | Executions>>()

  const searchExecution = Effect.fnUntraced(function*(id: string) {
    const execution = yield* executions.get(id)
    const { matches, slots: _, ...found } = yield* searchIn(execution, searchAll)
    const places = matches.map(({ index, slot }) => ({ execution, index, slot }))
    const subRuns = wanted.isList ? { runs: [], unnamed: [] } : yield* SubRuns.of(execution)
    return { ...found, execution, places, subRuns } satisfies Searched
  })

  const searchOnce = Effect.fnUntraced(function*(id: string) {
    const search = started.get(id) ?? (yield* Effect.cached(searchExecution(id)))
    started.set(id, search)
    return yield* search
  })

  const searchRun = Effect.fnUntraced(function*(head: ExecutionHead.Listed) {
    const ids = new Set([String(head.id)])
    const results: Array<Searched> = []
    for (const id of ids) {
      if (results.length >= maxExecutions) return { executions: results, isCut: true }
      const result = yield* Effect.catchTag(searchOnce(id), "NotFoundError", (gone) =>
        // n8n may have pruned the run of a sub-workflow.
        results.length === 0 ? Effect.fail(gone) : Effect.succeed(undefined))
      if (result === undefined) continue
      results.push(result)
      for (const { executionId } of result.subRuns.runs) ids.add(executionId)
    }
    return { executions: results, isCut: false }
  })

  const selected = yield* Selection.select(
    { ...query, ...again },
    searchRun,
    ({ executions }) => sumAll(executions.map(({ execution }) => bytesOf(execution)))
  )
  if (again !== undefined && selected.isCut) {
    return yield* Selection.timedOut()
  }
  const isEnough = again === undefined || selected.nextCursor === undefined || again.last >= (query.last ?? Infinity)
  const selection = { ...selected, isComplete: selected.isComplete && isEnough }
  const runs = selection.runs.flatMap(({ value }) => value ?? [])
  const results = [...new Set(runs.flatMap(({ executions }) => executions))]
  const hasVersions = new Set(selection.runs.map(versionOf)).size > 1
  const totals = combined(results)
  const visible = results.filter(isVisible)
  return {
    runs: {
      searched: runs.length,
      matched: runs.filter((run) => matchedIn(run) > 0).length,
      complete: selection.isComplete
    },
    /** Arguments that continue after some of the matches shown: with the others of these runs, then with older runs. */
    next: (count: number) =>
      count > 0 && offset + count < totals.matched
        ? defined({ cursor: cursorIn(offset + count, selection.again), last: query.last })
        : Selection.next(selection, query),
    byStatus: countByStatus(selection.runs),
    byVersion: hasVersions ? countByVersion(selection.runs) : undefined,
    executions: selection.runs.filter(({ value }) => matchedIn(value) > 0).map((run) =>
      defined({
        id: String(run.head.id),
        calledBy: run.value?.executions[0]?.execution.calledBy?.executionId,
        version: hasVersions ? versionOf(run) : undefined,
        status: run.head.status ?? "unknown",
        startedAt: run.head.startedAt ?? null,
        matched: matchedIn(run.value)
      })
    ),
    found: totals,
    nodes: countByNode(results),
    matches: shown(runs, wanted).map((place) => ({
      ...place,
      item: wanted.without === undefined ? itemAt(place, redacts) : undefined
    })),
    hint: selection.hint,
    notes: [
      selection.note,
      !selection.isCut && selection.nextCursor !== undefined &&
      `Older runs were not searched${selection.isComplete ? "" : ": next"}.`,
      ...gaps(runs, results.map(({ execution }) => execution), nodes),
      ...(visible.length === 0 || wanted.without !== undefined ? [] : ItemSearch.notes(totals, {
        samples: () =>
          visible.filter(({ absent }) => totals.absent.some((path) => absent.includes(path))).slice(0, maxSamples)
            .flatMap(({ execution }) =>
              ItemSearch.firstItems(execution, ItemSearch.outputs(execution, nodes), redacts)
            ),
        isFoundElsewhere: condition().where === undefined
      }))
    ]
  }
})
