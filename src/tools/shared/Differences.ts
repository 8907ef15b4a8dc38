/** Differences between two versions of a workflow, as tools show them. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Minimize from "../../answer/Minimize.ts"
import * as Tool from "../../answer/Tool.ts"
import type * as Truncated from "../../answer/Truncated.ts"
import * as Turn from "../../base/Turn.ts"
import * as OutputNames from "../../catalogue/OutputNames.ts"
import { typesOf } from "../../n8n/model/Workflow.ts"
import * as Comparison from "../../workflow/diff/Comparison.ts"
import type * as WorkflowDiff from "../../workflow/diff/WorkflowDiff.ts"

const Field = Schema.Struct({
  path: Schema.String,
  before: Schema.optionalKey(Schema.Json),
  after: Schema.optionalKey(Schema.Json),
  /** Hunks of a unified diff, for long texts. */
  diff: Schema.optionalKey(Schema.String)
})

export const fields = {
  /** Whether nothing differs, apart from positions. */
  same: Schema.Boolean,
  moved: Schema.Int,
  nodes: Schema.Array(
    Schema.Struct({
      node: Schema.String,
      change: Schema.Literals(["added", "removed", "changed", "renamed"]),
      formerName: Schema.optionalKey(Schema.String),
      type: Schema.optionalKey(Schema.String),
      fields: Schema.optionalKey(Schema.Array(Field))
    })
  ),
  connections: Schema.Struct({ added: Schema.Array(Schema.String), removed: Schema.Array(Schema.String) }),
  /** `same`, `unknown`, or fields as above. */
  settings: Schema.optionalKey(Schema.Json),
  /** `before` and `after`. */
  name: Schema.optionalKey(Schema.Json),
  /** Pinned data, static data, groups, description. */
  other: Schema.optionalKey(Schema.Json)
}

const Difference = Schema.Struct(fields)
export type Difference = typeof Difference.Type

export const view = Effect.fnUntraced(function*(
  before: WorkflowDiff.Document,
  after: WorkflowDiff.Document,
  { isOther = false, node }: { readonly isOther?: boolean; readonly node?: string | undefined } = {}
) {
  const namesOf = yield* OutputNames.forNodes([before, after].flatMap(typesOf).map((type) => ({ type })))
  const showsSecrets = !(yield* Tool.RedactSecrets)
  const view = yield* Turn.run(() => Comparison.steps(before, after, { node, namesOf, showsSecrets, isOther }))
  const data: object = node === undefined ? { ...view, settings: view.settings ?? "same" } : view
  return data as Difference
})

/** Sizes to which a field is shortened, tried in order; if even the last is too large, nodes are only named. */
const leastRoom = 160
const rooms = [900, 400, leastRoom]

const separators = 4

const shortened = (node: Difference["nodes"][number], room: number): Difference["nodes"][number] =>
  node.fields === undefined ? node : {
    ...node,
    fields: node.fields.map((field) => Minimize.cost(field) <= room ? field : Minimize.fit(field, room))
  }

/** Shortens the fields of changed nodes until all fit into a budget; `next` is the call that shows one in full. */
export const trim = <A extends Difference>(difference: A, budget: number, next: string): A => {
  const isFit = (some: A) => Minimize.cost(some) <= budget
  if (isFit(difference)) return difference
  for (const room of rooms) {
    const shorter = { ...difference, nodes: difference.nodes.map((node) => shortened(node, room)) }
    if (isFit(shorter)) return shorter
  }
  const total = difference.nodes.length
  const marked = (nodes: Difference["nodes"], count: number) => {
    const mark: Truncated.Mark = { path: "nodes.fields", kept: count, total, next }
    return { ...difference, nodes, _truncated: mark }
  }
  const bareNodes = difference.nodes.map(({ fields: _, ...node }) => node)
  let left = budget - Minimize.cost(marked(bareNodes, total))
  let count = 0
  const nodes = difference.nodes.map((node, index) => {
    const small = shortened(node, leastRoom)
    const bare = bareNodes[index] ?? node
    const needed = Minimize.cost(small) - Minimize.cost(bare) + separators
    if (needed > left) return bare
    left -= needed
    count++
    return small
  })
  return marked(nodes, count)
}
