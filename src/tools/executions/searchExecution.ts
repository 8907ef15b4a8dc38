import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import * as OutputNames from "../../catalogue/OutputNames.ts"
import * as Execution from "../../executions/Execution.ts"
import { Executions } from "../../executions/Executions.ts"
import * as ItemFields from "../../executions/ItemFields.ts"
import * as ItemSearch from "../../executions/ItemSearch.ts"
import * as Noise from "../../executions/Noise.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import * as parameters from "../shared/Parameters.ts"
import * as conditions from "./conditions.ts"

const Match = Schema.Struct({
  node: Schema.String,
  run: Schema.Int,
  output: Schema.String,
  name: Schema.optionalKey(Schema.String),
  index: Schema.Int,
  item: Execution.Item
})

/** Names the outputs of nodes that have several. */
const outputNames = (execution: Execution.Execution, matches: ReadonlyArray<ItemSearch.Match>) => {
  const runOf = ({ node, run }: Execution.Slot) => execution.runs.get(node)?.[run]
  const nodes = new Map(
    matches.flatMap(({ slot }) => {
      const node = execution.workflow?.nodes.find(({ name }) => name === slot.node)
      return node === undefined || (runOf(slot)?.outputs.length ?? 0) < 2 ? [] : [[slot.node, node] as const]
    })
  )
  if (nodes.size === 0) return Effect.succeed(() => undefined)
  return Effect.map(OutputNames.forNodes([...nodes.values()]), (namesOf) => (slot: Execution.Slot) => {
    const [node, run] = [nodes.get(slot.node), runOf(slot)]
    return node === undefined || run === undefined ? undefined : Execution.outputName(node, run, slot.port, namesOf)
  })
}

/** Searches all output items of an execution in one pass. */
export const searchExecution = Tool.make({
  name: "search_execution",
  title: "Search an execution's items",
  searchHint: "find items, records, values in execution data, which node, grep, filter, trace a record",
  description:
    "Which items contain a value or meet a condition? Searches the output of all nodes in all runs: follow one record, find the odd one among thousands.",
  annotations: Tool.readOnly,
  scopes: ["execution:read"],
  input: Schema.Struct({
    id: parameters.executionId,
    text: parameters.optional(Schema.String.check(Schema.isMinLength(1)), "Text in a key or value."),
    where: conditions.where,
    nodes: parameters.optional(Schema.Array(Schema.String), "Only these nodes."),
    fields: conditions.fields,
    limit: parameters.int("limit", { minimum: 1, maximum: 50 }, 10, "Matches to show; all are counted.")
  }),
  output: Schema.Struct({
    matched: Schema.Int,
    scanned: Schema.Int,
    failedItems: Schema.optionalKey(Schema.Int),
    note: Schema.optionalKey(Schema.String),
    nodes: Schema.Array(Schema.Struct({ node: Schema.String, matched: Schema.Int })),
    matches: Schema.Array(Match)
  }),
  handler: ({ fields: paths, id, limit, nodes, text, where: source }) =>
    Effect.gen(function*() {
      if (text === undefined && source === undefined) {
        return yield* parameters.invalid(
          "text",
          "text or where is required",
          "For example text: \"cus_123\", or where: \"amount < 0\"."
        )
      }
      const [where, fields] = [yield* conditions.compile(source), yield* conditions.parsePaths("fields", paths)]
      const execution = yield* (yield* Executions).get(id)
      for (const name of nodes ?? []) yield* conditions.checkNode(execution, name, "nodes")
      const among = { slots: ItemSearch.outputs(execution, nodes), redacts: yield* Tool.RedactSecrets }
      const result = yield* ItemSearch.search(execution, { text, where }, { ...among, limit, spreads: true }).pipe(
        Effect.mapError((problem) => conditions.wrongExpression(source ?? "", problem))
      )
      const idle = (nodes ?? []).filter((name) => !execution.runs.has(name))
      const empty = (nodes ?? []).filter((name) =>
        execution.runs.has(name) && !among.slots.some(({ slot }) => slot.node === name)
      )
      const jsons = result.matches.map(({ item }) => item.json)
      const missing = jsons.length === 0 ? [] : ItemFields.missing(jsons, fields)
      const notes = [
        conditions.incomplete(execution),
        idle.length === 0 ? undefined : `Did not run: ${idle.join(", ")}.`,
        empty.length === 0 ? undefined : `Without output: ${empty.join(", ")}.`,
        ...ItemSearch.notes(execution, result, { ...among, isFoundElsewhere: where === undefined }),
        missing.length === 0 ? undefined : ItemFields.note(missing, jsons, "match shown")
      ].filter((note) => note !== undefined)
      return { fields, result, notes, names: yield* outputNames(execution, result.matches) }
    }),
  summarize: ({ fields, names, notes, result: { failed, matched, matches, nodes, scanned } }) =>
    defined({
      matched,
      scanned,
      failedItems: failed === 0 ? undefined : failed,
      note: notes.length === 0 ? undefined : notes.join(" "),
      nodes,
      matches: matches.map(({ index, item, slot }) =>
        defined({
          node: slot.node,
          run: slot.run,
          output: Connections.portLabel(slot.port),
          name: names(slot),
          index,
          item: Noise.without(
            fields.length === 0 ? item : { ...item, json: ItemFields.pick(item.json, fields) as Schema.Json }
          )
        })
      )
    }),
  message: ({ matched, scanned }) => ({
    en: `${matched} of ${scanned} items match`,
    ja: `${scanned} 件中 ${matched} 件のアイテムが一致しました`
  })
})
