import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined, obj } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Redact from "../../base/Redact.ts"
import type { Execution } from "../../executions/Execution.ts"
import { Executions } from "../../executions/Executions.ts"
import * as ItemComparison from "../../executions/ItemComparison.ts"
import * as ItemFields from "../../executions/ItemFields.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import * as parameters from "../shared/Parameters.ts"
import * as conditions from "./conditions.ts"

const Side = Schema.Struct({ node: Schema.String, run: Schema.Int, output: Schema.String, items: Schema.Int })

const Unpaired = Schema.Struct({
  count: Schema.Int,
  first: Schema.Array(Schema.Union([Schema.Int, Schema.String]))
})

/** Maximum length of an answer, which is for reading rather than paging. */
const maxChars = 12_000

const sideOf = Effect.fnUntraced(function*(execution: Execution, name: string, parameter: "from" | "to") {
  yield* conditions.checkNode(execution, name, parameter)
  const side = ItemComparison.sideOf(execution, name)
  if (side !== undefined) return side
  return yield* parameters.invalid(
    parameter,
    `Node '${name}' has no output in execution '${execution.id}'`,
    conditions.incomplete(execution) ?? "get_execution lists the nodes that ran, with their item counts."
  )
})

/** Names the other runs and outputs of both nodes that have items. */
const notCompared = (execution: Execution, sides: ReadonlyArray<ItemComparison.Side>) => {
  const parts = sides.flatMap(({ slot: { node, port, run } }) => [
    ...(run === 0 ? [] : [`${counted(run, "earlier run")} of '${node}'`]),
    ...(execution.runs.get(node)?.[run]?.outputs ?? [])
      .filter(({ count, index, type }) => count > 0 && (index !== port.index || type !== port.type))
      .map((output) => `${Connections.portLabel(output)} of '${node}' (${counted(output.count, "item")})`)
  ])
  return parts.length === 0 ? undefined : `Not compared: ${[...new Set(parts)].join(", ")}.`
}

/** First items of a side, redacted where secrets are. */
const samples = (execution: Execution, { slot }: ItemComparison.Side, redacts: boolean) =>
  execution.items(slot, 0, 5).map((stored) => {
    const json = obj(stored)?.["json"]
    return redacts ? Redact.redact(json) : json
  })

const shownSide = ({ count, slot }: ItemComparison.Side) => ({
  node: slot.node,
  run: slot.run,
  output: Connections.portLabel(slot.port),
  items: count
})

/** Compares the items of two nodes. */
export const compareItems = Tool.make({
  name: "compare_items",
  title: "Compare the items of two nodes",
  searchHint: "diff items, what did a node change, lost or duplicated records, before and after",
  description:
    "How did items change between two nodes? Changes by path, rarest first, with examples; lost and new items. Uses each node's last run.",
  annotations: Tool.readOnly,
  scopes: ["execution:read"],
  input: Schema.Struct({
    id: parameters.executionId,
    from: parameters.required("from", "Earlier node."),
    to: parameters.required("to", "Later node."),
    key: parameters.optional(
      Schema.String,
      "Path that pairs items (orderNo); default: n8n's item links, else position."
    ),
    ignore: conditions.paths("Paths to ignore."),
    fields: conditions.paths("Compare only these paths."),
    limit: parameters.int("limit", { minimum: 1, maximum: 50 }, 10, "Examples to show.")
  }),
  output: Schema.Struct({
    from: Side,
    to: Side,
    pairedBy: Schema.Literals(["key", "pairedItem", "place"]),
    same: Schema.Int,
    changed: Schema.Int,
    note: Schema.optionalKey(Schema.String),
    paths: Schema.Array(
      Schema.Struct({
        path: Schema.String,
        count: Schema.Int,
        kind: Schema.optionalKey(Schema.Literals(["added", "removed"])),
        roundingOnly: Schema.optionalKey(Schema.Int)
      })
    ),
    examples: Schema.Array(
      Schema.Struct({
        index: Schema.Int,
        key: Schema.optionalKey(Schema.String),
        path: Schema.String,
        before: Schema.optionalKey(Schema.Json),
        after: Schema.optionalKey(Schema.Json)
      })
    ),
    onlyInFrom: Unpaired,
    onlyInTo: Unpaired,
    duplicated: Schema.optionalKey(Unpaired)
  }),
  handler: (input) =>
    Effect.gen(function*() {
      const [fields, ignore] = [
        yield* conditions.parsePaths("fields", input.fields),
        yield* conditions.parsePaths("ignore", input.ignore)
      ]
      const [key] = yield* conditions.parsePaths("key", input.key === undefined ? [] : [input.key])
      const execution = yield* (yield* Executions).get(input.id)
      const [from, to] = [yield* sideOf(execution, input.from, "from"), yield* sideOf(execution, input.to, "to")]
      const redacts = yield* Tool.RedactSecrets
      const comparison = yield* ItemComparison.compare(execution, {
        from,
        to,
        key: key?.steps,
        fields: fields.map(({ steps }) => steps),
        ignore: ignore.map(({ steps }) => steps),
        limit: input.limit,
        redacts
      })
      const { withoutKey } = comparison
      for (const [side, count] of [[from, withoutKey?.from], [to, withoutKey?.to]] as const) {
        if (key === undefined || count !== side.count || count === 0) continue
        const hint = ItemFields.note([key.path], samples(execution, side, redacts))
        return yield* parameters.invalid("key", `No item of '${side.slot.node}' has '${key.path}'`, hint)
      }
      const missing = fields.filter((_, index) => comparison.missing?.includes(index))
      const notes = [
        conditions.incomplete(execution),
        notCompared(execution, [from, to]),
        comparison.likelyKey &&
        `The pairs look crossed: '${comparison.likelyKey}' differs in them, although most values are on both sides. Pair with key: '${comparison.likelyKey}'.`,
        comparison.sharedKeys === undefined
          ? undefined
          : `'${key?.path}' is the same in several items (${
            counted(comparison.sharedKeys, "value")
          }): these were paired in order.`,
        withoutKey && `Items without '${key?.path}': ${withoutKey.from} of from, ${withoutKey.to} of to.`,
        missing.length === 0
          ? undefined
          : ItemFields.note(missing.map(({ path }) => path), samples(execution, to, redacts))
      ].filter((note) => note !== undefined)
      return { from, to, comparison, note: notes.length === 0 ? undefined : notes.join(" ") }
    }),
  summarize: ({ comparison, from, note, to }) => {
    const { changed, duplicated, examples, onlyInFrom, onlyInTo, pairedBy, paths, same } = comparison
    return defined({
      from: shownSide(from),
      to: shownSide(to),
      pairedBy,
      same,
      changed,
      note,
      paths,
      examples: examples as ReadonlyArray<
        (typeof examples)[number] & { readonly before?: Schema.Json; readonly after?: Schema.Json }
      >,
      onlyInFrom,
      onlyInTo,
      duplicated
    })
  },
  message: ({ changed, onlyInFrom, onlyInTo, same }) => ({
    en: `${changed} changed, ${same} the same, ${onlyInFrom.count} only in from, ${onlyInTo.count} only in to`,
    ja: `変更 ${changed} 件、同一 ${same} 件、from のみ ${onlyInFrom.count} 件、to のみ ${onlyInTo.count} 件`
  }),
  maxChars: () => maxChars
})
