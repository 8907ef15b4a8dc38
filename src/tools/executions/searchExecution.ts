import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Visible from "../../base/Visible.ts"
import * as OutputNames from "../../catalogue/OutputNames.ts"
import * as Execution from "../../executions/Execution.ts"
import { checkNode, Executions } from "../../executions/Executions.ts"
import * as ItemSearch from "../../executions/ItemSearch.ts"
import * as ItemView from "../../executions/ItemView.ts"
import * as RunSearch from "../../executions/RunSearch.ts"
import * as Selection from "../../executions/Selection.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { cursorAfter } from "../../n8n/N8nClient.ts"
import * as conditions from "../shared/Conditions.ts"
import * as ExecutionSummaries from "../shared/ExecutionSummaries.ts"
import * as parameters from "../shared/Parameters.ts"

const Match = Schema.Struct({
  /** Ids of the execution and of the one that called it as a sub-workflow; only in a search over several runs. */
  execution: Schema.optionalKey(Schema.String),
  calledBy: Schema.optionalKey(Schema.String),
  /** State of the run in a list of runs; `error` for a node that returned nothing because it failed. */
  status: Schema.optionalKey(Schema.String),
  startedAt: Schema.optionalKey(Schema.String),
  node: Schema.String,
  /** Place and item; absent with `without`. */
  run: Schema.optionalKey(Schema.Int),
  output: Schema.optionalKey(Schema.String),
  name: Schema.optionalKey(Schema.String),
  index: Schema.optionalKey(Schema.Int),
  item: Schema.optionalKey(Execution.Item)
})

const Runs = Schema.Struct({
  searched: Schema.Int,
  matched: Schema.Int,
  /** Whether all requested runs were searched. */
  complete: Schema.Boolean
})

const counts = { runs: Schema.Int, matched: Schema.Int }

/** Returns a function that names the outputs of nodes with several outputs. */
const outputNames = (matches: ReadonlyArray<RunSearch.Match>) => {
  const places = matches.flatMap(({ execution, slot }) => {
    const run = execution.runs.get(slot.node)?.[slot.run]
    const node = Execution.nodeOf(execution, slot.node)
    return run === undefined || node === undefined || run.outputs.length < 2 ? [] : [{ slot, run, node }]
  })
  if (places.length === 0) return Effect.succeed(() => undefined)
  return Effect.map(OutputNames.forNodes(places.map(({ node }) => node)), (namesOf) => (slot: Execution.Slot) => {
    const place = places.find((candidate) => candidate.slot === slot)
    return place === undefined ? undefined : Execution.outputName(place.node, place.run, slot.port, namesOf)
  })
}

const searchOne = Effect.fnUntraced(function*(id: string, search: RunSearch.Search) {
  const { condition, nodes = [], redacts } = search
  const execution = yield* (yield* Executions).get(id)
  for (const name of nodes) yield* checkNode(execution, name, "nodes")
  const { matches, nodes: counts, slots, ...found } = yield* RunSearch.searchIn(execution, search)
  const active = new Set(slots.map(({ slot }) => slot.node))
  const note = (names: ReadonlyArray<string>, title: string) => names.length > 0 && `${title}: ${names.join(", ")}.`
  return {
    runs: undefined,
    byStatus: undefined,
    byVersion: undefined,
    executions: undefined,
    found,
    nodes: counts,
    matches: matches.map((match) => ({ ...match, execution })),
    next: (count: number) =>
      count > 0 && search.offset + count < found.matched
        ? { cursor: RunSearch.cursorIn(search.offset + count) }
        : undefined,
    notes: [
      ItemView.incomplete(execution),
      ...(search.without !== undefined ? [] : [
        note(nodes.filter((name) => !execution.runs.has(name)), "Did not run"),
        note(nodes.filter((name) => execution.runs.has(name) && !active.has(name)), "Without output")
      ]),
      ...(search.without !== undefined ? [] : execution.isRedacted
        ? [`${ItemView.hiddenNotes.execution(execution)}. ${Hints.text(ExecutionSummaries.hiddenAdvice)}`]
        : ItemSearch.notes(found, {
          samples: () => ItemSearch.firstItems(execution, slots, redacts),
          isFoundElsewhere: condition().where === undefined
        }))
    ]
  }
})

const maxMatches = 50

interface Request {
  readonly [parameter: string]: unknown
}

/** Whether nothing is searched for: the items are listed. */
const isUnconditional = ({ text, where, without }: Request) => (text ?? where ?? without) === undefined

/** Whether the newest runs are listed, each with its result. */
const isList = ({ fields, id, nodes, ...rest }: Request) =>
  isUnconditional(rest) && (fields ?? id ?? nodes) === undefined

/** Searches the output items of one execution, or of a set of runs. */
export const searchExecution = Tool.make({
  name: "search_execution",
  title: "Search executions' items",
  searchHint: "find values in execution data, which node, which runs, grep, filter, trace a record",
  description: "Find or list items of one run (id) or many by text or condition; counts by status, version.",
  annotations: Tool.readOnly,
  empty: { text: "the text null is searched" },
  unlisted: { offset: "never" },
  scopes: ["execution:read"],
  partialScopes: {
    "execution:list": "several runs",
    "workflow:list": "workflowName",
    "workflow:read": "names of workflows"
  },
  input: Schema.Struct({
    id: Schema.optionalKey(parameters.executionIdFor("Omit for many.")),
    ...Selection.parameters,
    last: parameters.optionalInt("last", { minimum: 1, maximum: 200 }, "Newest runs (20)."),
    text: parameters.optional(Schema.String.check(Schema.isMinLength(1)), "In a key or value."),
    where: conditions.where,
    nodes: parameters.optional(Schema.Array(Schema.String), "Only these."),
    without: parameters.optional(
      Schema.Literals(["items", "runs"]),
      "Nodes without items, or not run."
    ),
    fields: conditions.fields,
    limit: parameters.int("limit", { minimum: 1, maximum: maxMatches }, 10, "Rows."),
    offset: parameters.offset("offset", "Nodes to skip.")
  }),
  output: Schema.Struct({
    runs: Schema.optionalKey(Runs),
    byStatus: Schema.optionalKey(Schema.Record(Schema.String, Schema.Struct(counts))),
    /** Of n8n 2, if several versions ran, newest first; `firstRun` is the start of the first of these runs. */
    byVersion: Schema.optionalKey(
      Schema.Record(Schema.String, Schema.Struct({ ...counts, firstRun: Schema.String }))
    ),
    /** Runs with matches, in their own items or in executions that they started; `version` if several versions ran. */
    executions: Schema.optionalKey(Schema.Array(
      Schema.Struct({
        id: Schema.String,
        calledBy: Schema.optionalKey(Schema.String),
        version: Schema.optionalKey(Schema.String),
        status: Schema.String,
        startedAt: Schema.NullOr(Schema.String),
        matched: Schema.Int
      })
    )),
    /** Arguments of the call that continues: with the other matches of these runs, then with older runs. */
    next: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
    matched: Schema.Int,
    scanned: Schema.Int,
    failedItems: Schema.optionalKey(Schema.Int),
    note: Schema.optionalKey(Schema.String),
    nodes: Schema.Array(
      Schema.Struct({ node: Schema.String, workflow: Schema.optionalKey(Schema.String), matched: Schema.Int })
    ),
    matches: Schema.Array(Match)
  }),
  handler: (input) =>
    Effect.gen(function*() {
      const { offset: _, ...args } = input
      const { fields: paths, id, limit, nodes, text, where: source, without, ...query } = args
      const { cursor, ...several } = query
      if (without !== undefined && (text ?? source) !== undefined) {
        return yield* parameters.invalid(
          "without",
          "without looks at no items: text and where do not apply",
          "For example without: \"items\", nodes: [\"Get orders\"]."
        )
      }
      const choice = Object.keys(several)
      if (id !== undefined && choice.length > 0) {
        return yield* parameters.invalid(
          choice[0] ?? "",
          `id is one run; ${choice.join(", ")} choose several`,
          "Omit one of them."
        )
      }
      const [where, fields] = [yield* conditions.compiler(source), yield* conditions.parsePaths("fields", paths)]
      const search: RunSearch.Search = {
        condition: () => ({ text, where: where() }),
        onProblem: (problem) => conditions.wrongExpression(source ?? "", problem),
        nodes,
        without,
        isList: isList(input),
        offset: RunSearch.placeOf(cursor).offset,
        limit,
        redacts: yield* Tool.RedactSecrets
      }
      const result = id === undefined
        ? yield* RunSearch.search({ ...query, defaultLast: 20 }, search)
        : yield* searchOne(id, search)
      const jsons = result.matches.flatMap(({ item }) => item === undefined ? [] : [item.json])
      const missing = jsons.length === 0 ? [] : ItemView.missing(jsons, fields)
      const note = ItemView.joinNotes([
        ...result.notes,
        "hint" in result && Hints.text(result.hint),
        missing.length > 0 && ItemView.missingNote(missing, jsons, "match shown")
      ])
      const next = (count: number) => {
        const rest = result.next(count)
        return rest && { ...args, ...rest }
      }
      return {
        fields,
        note,
        next,
        result,
        matches: result.matches,
        hasEarlier: search.offset > 0,
        names: yield* outputNames(result.matches)
      }
    }),
  ending: ({ matches, ...rest }) => ({
    size: matches.length,
    after: (count) => ({ ...rest, matches: matches.slice(0, count) })
  }),
  summarize: ({ fields, hasEarlier, matches, names, next, note, result }, input) => {
    const { text } = input
    const isOfRuns = isList(input)
    const { byStatus, byVersion, executions, found: { failed, matched, scanned }, nodes, runs } = result
    return defined({
      runs,
      // The first page has those of all matches of these runs.
      byStatus: hasEarlier ? undefined : byStatus,
      byVersion: hasEarlier ? undefined : byVersion,
      next: next(matches.length),
      matched,
      scanned,
      failedItems: failed || undefined,
      note,
      // The rows of a list say as much of each run.
      executions: hasEarlier || isOfRuns ? undefined : executions,
      nodes,
      matches: matches.toSorted((a, b) => a.position - b.position).map(({ execution, index, item, slot }) => ({
        ...defined({ execution: runs && execution.id, calledBy: runs && execution.calledBy?.executionId }),
        ...(isOfRuns ? defined({ status: Visible.label(execution.status), startedAt: execution.startedAt }) : {}),
        node: slot.node,
        ...(item === undefined && Execution.nodeStatus(execution.runs.get(slot.node) ?? []) === "error"
          ? { status: "error" }
          : {}),
        ...(item === undefined ? {} : defined({
          ...(isOfRuns ? {} : { run: slot.run, output: Connections.portLabel(slot.port) }),
          name: names(slot),
          index,
          item: ItemView.withoutNoise(
            fields.length > 0
              ? { ...item, json: ItemView.pick(item.json, fields) as Schema.Json }
              : text === undefined
              ? item
              : ItemView.pieces(item, text)
          )
        }))
      }))
    })
  },
  next: (input, { executions = [] }) => (path, count) => {
    const last = executions[count - 1]
    return path === "executions" && last !== undefined
      ? Hints.again("search_execution", input, { cursor: cursorAfter(last.id), offset: undefined })
      : undefined
  },
  paged: ["nodes"],
  budget: (_, input) => ({
    ...(isList(input) ? { total: 500 + 220 * input.limit } : {}),
    lists: { executions: input.limit }
  }),
  message: ({ matched, matches, next, runs, scanned }, input) => {
    const { without } = input
    const where = runs === undefined ? "" : `, in ${runs.matched} of ${counted(runs.searched, "run")}`
    const more = matches.length === matched
      ? ""
      : `; ${matches.length} shown${next === undefined ? "" : ": next continues"}`
    const what = isUnconditional(input)
      ? counted(matched, "item")
      : without === undefined
      ? `${matched} of ${scanned} items match`
      : `${matched} of ${counted(scanned, "node")} ${without === "runs" ? "did not run" : "ran and returned no items"}`
    return {
      en: `${what}${where}${more}`,
      ja: isUnconditional(input) ? `アイテム ${matched} 件` : `${scanned} 件中 ${matched} 件のアイテムが一致しました`
    }
  }
})
