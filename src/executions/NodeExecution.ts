/** Second step of debugging: input, parameters and output of one run of a node. */
import * as Effect from "effect/Effect"
import { sumAll } from "effect/Number"
import * as Schema from "effect/Schema"
import type * as Interpreter from "../base/Interpreter.ts"
import { defined, obj } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import * as Redact from "../base/Redact.ts"
import * as Rows from "../base/Rows.ts"
import * as Connections from "../n8n/model/Connections.ts"
import * as Graph from "../workflow/Graph.ts"
import * as Execution from "./Execution.ts"
import * as ItemSearch from "./ItemSearch.ts"
import * as ItemView from "./ItemView.ts"
import * as Lineage from "./Lineage.ts"
import * as ResolvedParameters from "./ResolvedParameters.ts"

/** Page of a list of items, filtered by a condition if there is one. */
const side = {
  note: Schema.optionalKey(Schema.String),
  matched: Schema.optionalKey(Schema.Int),
  total: Schema.optionalKey(Schema.Int),
  /** Number of items on which the condition failed. */
  failedItems: Schema.optionalKey(Schema.Int),
  items: Schema.Array(
    // `index` is the position in the whole list, where a condition chose the items.
    Schema.Struct({ index: Schema.optionalKey(Schema.Int), ...Execution.Item.fields })
  )
}

export { type Predicate, Problem } from "../base/Interpreter.ts"
export type { Field } from "./ItemView.ts"

/**
 * Run of a node. `executionTime` is in milliseconds, times are ISO 8601; absent for a node that did not run (`status:
 * "notRun"`, with the reason in `note`).
 */
export const NodeExecution = Schema.Struct({
  executionId: Schema.String,
  nodeName: Schema.String,
  nodeType: Schema.String,
  status: Schema.String,
  note: Schema.optionalKey(Schema.String),
  redacted: Schema.optionalKey(Schema.Literal(true)),
  executionTime: Schema.optionalKey(Schema.Finite),
  startTime: Schema.optionalKey(Schema.String),
  endTime: Schema.optionalKey(Schema.String),
  /** Index of the run from 0. Default: the last run. */
  runIndex: Schema.optionalKey(Schema.Int),
  runCount: Schema.Int,
  outputs: Schema.Array(
    Schema.Struct({
      output: Schema.String,
      name: Schema.optionalKey(Schema.String),
      items: Schema.Int
    })
  ),
  input: Schema.Struct({
    sources: Schema.Array(
      Schema.Struct({
        input: Schema.String,
        node: Schema.optionalKey(Schema.String),
        output: Schema.optionalKey(Schema.Int),
        run: Schema.optionalKey(Schema.Int),
        count: Schema.Int
      })
    ),
    ...side
  }),
  output: Schema.Struct({
    /** Output that the items belong to. */
    output: Schema.optionalKey(Schema.String),
    ...side
  }),
  /**
   * `resolved`: every expression in `parameters` is replaced by its value for the input item `parametersItem`; `partly`:
   * all but those in `unresolved`; `written`: none is.
   */
  parametersAs: Schema.optionalKey(Schema.Literals(["resolved", "partly", "written"])),
  parametersItem: Schema.optionalKey(Schema.Int),
  unresolved: Schema.optionalKey(Schema.Array(Schema.Struct({ path: Schema.String, reason: Schema.String }))),
  parameters: Schema.Json,
  error: Schema.NullOr(Execution.ErrorDetail)
})
export interface NodeExecution extends Schema.Schema.Type<typeof NodeExecution> {}

/** Requested run and page. `runIndex` and `outputIndex` count from 0. */
export interface Request {
  readonly nodeName: string
  readonly runIndex?: number | undefined
  readonly outputIndex?: number | undefined
  readonly itemOffset: number
  readonly itemLimit: number
}

/** Selection of items and fields. */
export interface Choice {
  readonly where: Interpreter.Predicate | undefined
  /** Paths of an item to return; all if empty. */
  readonly fields: ReadonlyArray<ItemView.Field>
  readonly redacts: boolean
}

const iso = (epoch: number) => epoch > 0 && epoch <= 8.64e15 ? new Date(epoch).toISOString() : undefined

/** Reason why a node did not run, derived from its neighbours. */
const whyNot = (execution: Execution.Execution, name: string, disabled: boolean): string => {
  if (disabled) return "It is disabled."
  const graph = Graph.make(execution.workflow?.connections)
  const before = graph.into(name).filter(Graph.isMain)
  const served = Graph.served(graph, name)
  if (before.length === 0) {
    return served.length === 0
      ? "Nothing is connected to it, and it did not start the execution."
      : `It serves ${Rows.names(served)}, which did not use it.`
  }
  const reasons = [...Map.groupBy(before, (link) => link.from)].map(([from, out]) => {
    const runs = execution.runs.get(from)
    if (runs === undefined) return `'${from}', the node before it, did not run either`
    const outputs = runs.flatMap((run) => run.outputs)
    const sent = out.some(({ output: { index } }) =>
      outputs.some((output) => output.type === "main" && output.index === index && output.count > 0)
    )
    if (sent) return `'${from}', the node before it, sent it items, but the execution did not reach it`
    if (Execution.nodeStatus(runs) === "error") return `'${from}', the node before it, failed`
    return `'${from}', the node before it, ran and sent no items to ${
      out.map((link) => Connections.portLabel(link.output)).join(", ")
    }`
  })
  return `${reasons.join("; ")}.`
}

const didNotRun = (execution: Execution.Execution, name: string): NodeExecution => {
  const node = Execution.nodeOf(execution, name)
  return {
    executionId: execution.id,
    nodeName: name,
    nodeType: node?.type ?? "unknown",
    status: "notRun",
    note: `This node did not run. ${whyNot(execution, name, node?.disabled === true)}`,
    runCount: 0,
    outputs: [],
    input: { sources: [], items: [] },
    output: { items: [] },
    parameters: (node?.parameters ?? {}) as Schema.Json,
    error: null
  }
}

const locate = (execution: Execution.Execution, request: Request) => {
  const { nodeName, outputIndex, runIndex } = request
  const run = execution.runs.get(nodeName)?.at(runIndex ?? -1)
  if (run === undefined) return undefined
  const shown = outputIndex === undefined
    ? run.outputs.find(({ count }) => count > 0) ?? run.outputs[0]
    : run.outputs[outputIndex]
  const output: ReadonlyArray<Execution.Part> = shown === undefined
    ? []
    : [{ count: shown.count, slot: { node: nodeName, run: run.index, side: "output", port: shown } }]
  const node = Execution.nodeOf(execution, nodeName)
  return { execution, request, run, node, shown, input: Execution.inputs(execution, nodeName, run), output }
}

type Located = NonNullable<ReturnType<typeof locate>>

/** Run with a page of its items; `totals` has the full length of each list that continues, by path. */
export interface Page {
  readonly node: NodeExecution
  readonly totals: Readonly<Record<string, number>>
}

interface Side {
  readonly page: Omit<NodeExecution["output"], "output">
  readonly first: number
  readonly length: number
  readonly search?: ItemSearch.Found
  /** Requested paths that no item of the page has, and the existing ones. */
  readonly lacking?: { readonly paths: ReadonlyArray<string>; readonly jsons: ReadonlyArray<unknown> }
}

/** Length of a list, and the offset, which is ignored for one item: it is meant for the other side. */
const rangeOf = (parts: ReadonlyArray<Execution.Part>, { itemOffset }: Request) => {
  const length = sumAll(parts.map(({ count }) => count))
  return { length, first: length === 1 ? 0 : itemOffset }
}

const beyond = (length: number, offset: number, what: string) =>
  length > 0 && offset >= length ? `Nothing from itemOffset ${offset} on: ${length} ${what} in all.` : undefined

const pageOf = ({ execution, request }: Located, parts: ReadonlyArray<Execution.Part>): Side => {
  const { first, length } = rangeOf(parts, request)
  const items = Execution.slice(execution, parts, first, request.itemLimit)
  return { first, length, page: defined({ note: beyond(length, first, "items"), items }) }
}

const matchesOf = Effect.fnUntraced(
  function*({ execution, request }: Located, parts: ReadonlyArray<Execution.Part>, { redacts, where }: Choice) {
    const { first } = rangeOf(parts, request)
    const options = { slots: parts, offset: first, limit: request.itemLimit, redacts }
    const search = yield* ItemSearch.search(execution, { where }, options)
    const page = defined({
      note: beyond(search.matched, first, "matches"),
      matched: search.matched,
      total: search.scanned,
      failedItems: search.failed || undefined,
      items: search.matches.map(({ item, position }) => ({ index: position, ...item }))
    })
    const result: Side = { search, first, length: search.matched, page }
    return result
  }
)

const withFields = (side: Side, { fields, redacts }: Choice): Side => {
  if (fields.length === 0) return { ...side, page: { ...side.page, items: side.page.items.map(ItemView.withoutNoise) } }
  if (side.page.items.length === 0) return side
  // A value picked from a name/value pair could no longer be recognised as a secret, so redact first.
  const clean = side.page.items.map(({ json, ...item }) => ({ ...item, json: redacts ? Redact.redact(json) : json }))
  const jsons = clean.map(({ json }) => json)
  const items = clean.map((item) =>
    ItemView.withoutNoise({ ...item, json: ItemView.pick(item.json, fields) as Schema.Json })
  )
  return { ...side, lacking: { paths: ItemView.missing(jsons, fields), jsons }, page: { ...side.page, items } }
}

/** Side with notes about it, without remarks that apply to the other. */
const noted = (
  execution: Execution.Execution,
  side: Side,
  other: Side,
  slots: ReadonlyArray<Execution.Part>,
  redacts: boolean
): Side => {
  const { lacking, page, search } = side
  const isAbsentThere = (path: string) =>
    other.search === undefined || other.search.scanned === 0 ||
    other.search.absent.some((absent) => JsonPath.isWithin(path, absent))
  const paths = lacking?.paths.filter((path) => other.lacking?.paths.includes(path) ?? true) ?? []
  const note = ItemView.joinNotes([
    page.note,
    ...(search === undefined
      ? []
      : ItemSearch.notes({ ...search, absent: search.absent.filter(isAbsentThere) }, {
        samples: () => ItemSearch.firstItems(execution, slots, redacts),
        isFoundElsewhere: (other.search?.matched ?? 0) > 0
      })),
    lacking !== undefined && paths.length > 0 && ItemView.missingNote(paths, lacking.jsons)
  ])
  return note === undefined ? side : { ...side, page: { ...page, note } }
}

const assemble = (
  { execution, input, node, request, run, shown }: Located,
  namesOf: Connections.OutputNames,
  sides: { readonly input: Side; readonly output: Side }
): Page => {
  const goesOn = ({ first, length, page }: Side) => first + page.items.length < length ? length : undefined
  return {
    totals: defined({ "input.items": goesOn(sides.input), "output.items": goesOn(sides.output) }),
    node: defined({
      executionId: execution.id,
      nodeName: request.nodeName,
      nodeType: node?.type ?? "unknown",
      status: run.status,
      executionTime: run.executionTime,
      startTime: iso(run.startTime),
      endTime: iso(run.startTime + run.executionTime),
      runIndex: run.index,
      runCount: execution.runs.get(request.nodeName)?.length ?? 0,
      outputs: run.outputs.map((output) =>
        defined({
          output: Connections.portLabel(output),
          name: node && Execution.outputName(node, run, output, namesOf),
          items: output.count
        })
      ),
      input: {
        sources: input.map(({ count, input, source, type }) =>
          defined({
            input: Connections.portLabel({ type, index: input }),
            node: source?.node,
            output: source?.output,
            run: source?.run,
            count
          })
        ),
        ...sides.input.page
      },
      output: { ...defined({ output: shown && Connections.portLabel(shown) }), ...sides.output.page },
      redacted: execution.isRedacted ? true as const : undefined,
      parameters: (node?.parameters ?? {}) as Schema.Json,
      error: run.error === undefined ? null : Execution.errorDetail(run.error)
    })
  }
}

/** Side of an execution whose items n8n hid. */
const hidden: Side = { first: 0, length: 0, page: { note: ItemView.hiddenNotes.items, items: [] } }

/** Reads one run; for a node that did not run, the reason. */
export const read = (execution: Execution.Execution, request: Request, namesOf: Connections.OutputNames): Page => {
  const located = locate(execution, request)
  if (located === undefined) return { node: didNotRun(execution, request.nodeName), totals: {} }
  const sideOf = (parts: ReadonlyArray<Execution.Part>) => execution.isRedacted ? hidden : pageOf(located, parts)
  return assemble(located, namesOf, { input: sideOf(located.input), output: sideOf(located.output) })
}

/**
 * Position of the input item for which expressions are evaluated: the first one chosen, or the origin of the first
 * output item chosen, else the failing one.
 */
const itemOf = ({ execution, output: [part], request }: Located, { error, input, output }: NodeExecution) => {
  const chosen = output.items[0]?.index
  const origin = part === undefined || chosen === undefined
    ? undefined
    : Lineage.linksOf(obj(execution.items(part.slot, chosen, 1)[0])?.["pairedItem"])[0]?.item
  return input.items[0]?.index ?? origin ?? (request.itemOffset === 0 ? error?.itemIndex : undefined) ??
    (input.sources[0]?.count === 1 ? 0 : request.itemOffset)
}

const withValues = Effect.fnUntraced(function*(located: Located, page: Page, redacts: boolean) {
  const { execution, node, run } = located
  if (node === undefined) return page
  const item = itemOf(located, page.node)
  const { count, parameters, unresolved } = yield* ResolvedParameters.resolve(execution, { node, run, item, redacts })
  if (count + unresolved.length === 0) return page
  const isWritten = count === 0 || execution.isRedacted
  const result: Page = {
    ...page,
    node: defined({
      ...page.node,
      parametersAs: isWritten ? "written" as const : unresolved.length === 0 ? "resolved" as const : "partly" as const,
      parametersItem: isWritten || page.node.input.sources.length === 0 ? undefined : item,
      unresolved: execution.isRedacted || unresolved.length === 0 ? undefined : unresolved,
      parameters: isWritten ? page.node.parameters : parameters as Schema.Json
    })
  }
  return result
})

/** Whether a condition is about one side only: `!sent` matches every item that lacks the field. */
const choosesOnly = ({ page: one }: Side, { page: other }: Side) =>
  one.matched !== undefined && one.matched > 0 && one.matched !== one.total &&
  other.total !== undefined && other.total > 1 && other.matched === other.total

const unlisted = ({ first, page }: Side): Side => ({
  first,
  length: 0,
  page: { ...page, note: "Not listed: where is true for all of them.", items: [] }
})

/** Like {@link read}, with selected items and the values of expressions. Fails with a problem of the condition. */
export const choose = Effect.fnUntraced(function*(
  execution: Execution.Execution,
  request: Request,
  namesOf: Connections.OutputNames,
  choice: Choice
) {
  const located = locate(execution, request)
  if (located === undefined) return read(execution, request, namesOf)
  if (execution.isRedacted) return yield* withValues(located, read(execution, request, namesOf), choice.redacts)
  const sideOf = (parts: ReadonlyArray<Execution.Part>) =>
    (choice.where === undefined ? Effect.succeed(pageOf(located, parts)) : matchesOf(located, parts, choice))
      .pipe(Effect.map((side) => withFields(side, choice)))
  const [input, output] = [yield* sideOf(located.input), yield* sideOf(located.output)]
  const page = assemble(located, namesOf, {
    input: choosesOnly(output, input)
      ? unlisted(input)
      : noted(execution, input, output, located.input, choice.redacts),
    output: noted(execution, output, input, located.output, choice.redacts)
  })
  return yield* withValues(located, page, choice.redacts)
})
