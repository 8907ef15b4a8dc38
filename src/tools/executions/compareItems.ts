import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import type { Execution } from "../../executions/Execution.ts"
import { checkNode, Executions } from "../../executions/Executions.ts"
import * as ItemComparison from "../../executions/ItemComparison.ts"
import * as ItemSearch from "../../executions/ItemSearch.ts"
import * as ItemView from "../../executions/ItemView.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import * as conditions from "../shared/Conditions.ts"
import * as ExecutionSummaries from "../shared/ExecutionSummaries.ts"
import * as parameters from "../shared/Parameters.ts"

const Side = Schema.Struct({
  execution: Schema.optionalKey(Schema.String),
  node: Schema.String,
  /** Run with the items; `runs` if there are several, as in a loop. */
  run: Schema.optionalKey(Schema.Int),
  runs: Schema.optionalKey(Schema.Int),
  /** Output, or several: `main[0], main[1]`. */
  output: Schema.String,
  items: Schema.Int
})

const listNodes = parameters.callTools(
  ["get_execution"],
  "get_execution lists the nodes that ran, with their item counts."
)

const sideOf = Effect.fnUntraced(function*(
  execution: Execution,
  name: string,
  parameter: string,
  options: ItemComparison.SideOptions
) {
  yield* checkNode(execution, name, parameter)
  if (execution.isRedacted) {
    return yield* parameters.invalid("id", ItemView.hiddenNotes.execution(execution), ExecutionSummaries.hiddenAdvice)
  }
  const side = ItemComparison.sideOf(execution, name, options)
  if (side !== undefined) return { ...side, execution }
  return yield* parameters.invalid(
    parameter,
    `Node '${name}' has no output in execution '${execution.id}'`,
    ItemView.incomplete(execution) ?? listNodes
  )
})

type Compared = Effect.Success<ReturnType<typeof sideOf>>

interface Sides {
  readonly from: Compared
  readonly to: Compared
}

const amount = ({ count, node }: Compared) => `${counted(count, "item")} of ${Rows.quote(node)}`

const portsOf = (
  { parts }: ItemComparison.Side
) => [...new Set(parts.map(({ slot }) => Connections.portLabel(slot.port)))]

/** Sentence about the other outputs with items of both nodes. */
const notCompared = (sides: ReadonlyArray<Compared>) => {
  const others = sides.flatMap((side) => {
    const outputs = (side.execution.runs.get(side.node) ?? []).flatMap((run) => run.outputs)
    return [...Map.groupBy(outputs, Connections.portLabel)].flatMap(([label, all]) => {
      const items = all.reduce((sum, { count }) => sum + count, 0)
      return items === 0 || portsOf(side).includes(label)
        ? []
        : [`${label} of '${side.node}' (${counted(items, "item")})`]
    })
  })
  return others.length > 0 && `Not compared: ${[...new Set(others)].join(", ")}.`
}

const samples = ({ execution, parts: [first] }: Compared, redacts: boolean) =>
  first === undefined ? [] : ItemSearch.samples(execution, first.slot, 5, redacts)

const noteOf = (
  { asked, from, to }: Sides & { readonly asked: Sides },
  { likelyKey, pairedBy, sharedKeys = 0, withoutKey }: ItemComparison.Comparison,
  { isDefault, isInput, key, missing, redacts }: {
    readonly isDefault: boolean
    readonly isInput: boolean
    readonly key: string | undefined
    readonly missing: ReadonlyArray<string>
    readonly redacts: boolean
  }
) => {
  const isOfOne = from.execution === to.execution
  return ItemView.joinNotes([
    ItemView.incomplete(from.execution),
    !isOfOne && ItemView.incomplete(to.execution),
    isInput && "Without output in one execution: the inputs are compared.",
    isDefault && `to was left out: '${asked.to.node}' is the last node that ran after '${asked.from.node}'.`,
    to.node !== asked.to.node &&
    `Compared up to '${to.node}', the last node that pairs with '${from.node}': after it items are aggregated.`,
    from.node !== asked.from.node &&
    `${
      amount(asked.from)
    } became more: compared from '${from.node}', the first node after it that pairs with '${to.node}'.`,
    notCompared([from, to]),
    pairedBy === "none" && from.count > to.count &&
    `'${to.node}' aggregates the items of the other node: only key can pair them.`,
    pairedBy === "none" && from.count < to.count &&
    `${amount(from)} became ${to.count}: nothing to pair. Start at '${
      ItemComparison.nodesAfter(from.execution, from.node, to.node)[0] ?? to.node
    }', the first node after it.`,
    likelyKey &&
    `The pairs look crossed: '${likelyKey}' differs in them, although most of its values are on both sides. Pair with key: '${likelyKey}'.`,
    ItemView.noteAbout(
      sharedKeys,
      "value",
      (values) => `'${key}' is the same in several items (${values}): these were paired in order.`
    ),
    withoutKey && `Items without '${key}': ${withoutKey.from} of from, ${withoutKey.to} of to.`,
    missing.length > 0 && ItemView.missingNote(missing, samples(to, redacts))
  ])
}

export const compareItems = Tool.make({
  name: "compare_items",
  title: "Compare the items of two nodes",
  searchHint: "diff items, what did a node change, lost or duplicated records",
  description: "How did items change between two nodes or executions? By path, rarest first; lost, new ones.",
  annotations: Tool.readOnly,
  scopes: ["execution:read"],
  // The node that made a change is always named; callers of before ask for it.
  unlisted: { steps: "never" },
  input: Schema.Struct({
    id: parameters.executionId,
    from: parameters.required("from", "Earlier node."),
    to: parameters.optional(Schema.String, "Default: last; with otherId: from."),
    otherId: Schema.optionalKey(parameters.executionIdFor("Execution of to, if not id.")),
    key: parameters.optional(Schema.String, "Path that pairs and names items; default: n8n's links, else position."),
    ignore: conditions.paths("Not these paths."),
    fields: conditions.paths("Only these paths."),
    limit: parameters.int("limit", { minimum: 1, maximum: 50 }, 10, "Examples."),
    steps: parameters.flag("Always given.")
  }),
  output: Schema.Struct({
    from: Side,
    to: Side,
    pairedBy: ItemComparison.PairedBy,
    /** Numbers of equal pairs, and of pairs with altered values, added keys and removed keys; a pair can have all three. */
    same: Schema.Int,
    altered: Schema.Int,
    added: Schema.Int,
    removed: Schema.Int,
    note: Schema.optionalKey(Schema.String),
    /** Path of the values that name items here, as `key` and in the lists of items without a partner. */
    namedBy: Schema.optionalKey(Schema.String),
    paths: Schema.Array(ItemComparison.PathCount),
    examples: Schema.Array(ItemComparison.Example),
    onlyInFrom: ItemComparison.Unpaired,
    onlyInTo: ItemComparison.Unpaired,
    duplicated: Schema.optionalKey(ItemComparison.Unpaired)
  }),
  handler: (input) =>
    Effect.gen(function*() {
      const [fields, ignore] = [
        yield* conditions.parsePaths("fields", input.fields),
        yield* conditions.parsePaths("ignore", input.ignore)
      ]
      const [key] = yield* conditions.parsePaths("key", input.key === undefined ? [] : [input.key])
      const { get } = yield* Executions
      const execution = yield* get(input.id)
      const other = input.otherId === undefined || input.otherId === input.id ? execution : yield* get(input.otherId)
      yield* checkNode(execution, input.from, "from")
      const later = input.to ??
        (other === execution ? ItemComparison.nodesAfter(execution, input.from).at(-1) : input.from)
      if (later === undefined) {
        return yield* parameters.invalid(
          "to",
          `to is required: no node with an output ran after '${input.from}'`,
          listNodes
        )
      }
      // A failed run has no output: its inputs are compared with those of the other run.
      const isInput = execution !== other && later === input.from &&
        [execution, other].some((each) => ItemComparison.sideOf(each, later) === undefined)
      const towards = execution === other ? later : undefined
      const asked = {
        from: yield* sideOf(execution, input.from, "from", { isInput, towards }),
        to: yield* sideOf(other, later, "to", { isInput })
      }
      const redacts = yield* Tool.RedactSecrets
      const comparison = yield* ItemComparison.compare(execution, {
        ...asked,
        other,
        key: key?.steps,
        fields: fields.map(({ steps }) => steps),
        ignore: ignore.map(({ steps }) => steps),
        limit: input.limit,
        redacts
      })
      const [from, to] = [{ ...comparison.from, execution }, { ...comparison.to, execution: other }]
      const { withoutKey } = comparison
      for (const [side, count] of [[from, withoutKey?.from], [to, withoutKey?.to]] as const) {
        if (key === undefined || count !== side.count || count === 0) continue
        const hint = ItemView.missingNote([key.path], samples(side, redacts))
        return yield* parameters.invalid("key", `No item of '${side.node}' has '${key.path}'`, hint)
      }
      const missing = fields.filter((_, index) => comparison.missing?.includes(index)).map(({ path }) => path)
      const isDefault = input.to === undefined && other === execution
      const note = noteOf({ from, to, asked }, comparison, { key: key?.path, missing, redacts, isInput, isDefault })
      const rowOf = (side: Compared) => {
        const runs = [...new Set(side.parts.map(({ slot }) => slot.run))]
        return defined({
          execution: execution === other ? undefined : side.execution.id,
          node: side.node,
          run: runs.length > 1 ? undefined : runs[0],
          runs: runs.length > 1 ? runs.length : undefined,
          output: portsOf(side).join(", "),
          items: side.count
        })
      }
      return { from: rowOf(from), to: rowOf(to), comparison, note }
    }),
  summarize: ({ comparison, ...rest }) =>
    defined({ ...Struct.omit(comparison, ["likelyKey", "missing", "sharedKeys", "withoutKey"]), ...rest }),
  message: ({ added, altered, onlyInFrom, onlyInTo, pairedBy, paths, removed, same }) => {
    if (pairedBy === "none") {
      return { en: "Items were aggregated or split: nothing to pair", ja: "集約されているため、対応付けできません" }
    }
    const keys = (kind: "added" | "removed") =>
      Rows.names(paths.flatMap(({ path, ...each }) => each[kind] === undefined ? [] : [path]), 3, 200)
    const gained = added === 0 ? "" : `, ${added} gained ${keys("added")}`
    const lost = removed === 0 ? "" : `, ${removed} lost ${keys("removed")}`
    return {
      en:
        `${altered} altered${gained}${lost}, ${same} the same, ${onlyInFrom.count} only in from, ${onlyInTo.count} only in to`,
      ja:
        `変更 ${altered} 件、キー追加 ${added} 件、キー削除 ${removed} 件、同一 ${same} 件、from のみ ${onlyInFrom.count} 件、to のみ ${onlyInTo.count} 件`
    }
  },
  budget: () => ({ total: 12_000 })
})
