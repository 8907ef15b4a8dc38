/** How tools show what differs between two states of a workflow. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Minimize from "../../answer/Minimize.ts"
import * as Tool from "../../answer/Tool.ts"
import type * as Truncated from "../../answer/Truncated.ts"
import * as OutputNames from "../../catalogue/OutputNames.ts"
import { typesOf } from "../../n8n/model/Workflow.ts"
import * as Comparison from "../../workflows/diff/Comparison.ts"
import type * as WorkflowDiff from "../../workflows/diff/WorkflowDiff.ts"

const Field = Schema.Struct({
  path: Schema.String,
  before: Schema.optionalKey(Schema.Json),
  after: Schema.optionalKey(Schema.Json),
  /** Of a long text: the hunks of a unified diff. */
  diff: Schema.optionalKey(Schema.String)
})

/** The fields of a difference. */
export const fields = {
  /** Nothing differs, but perhaps positions. */
  same: Schema.Boolean,
  /** How many nodes stand elsewhere. */
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
  settings: Schema.optionalKey(Schema.Array(Field)),
  name: Schema.optionalKey(Schema.Struct({ before: Schema.Json, after: Schema.Json })),
  /** Pinned data, static data, groups, description. */
  other: Schema.optionalKey(Schema.Array(Field))
}

const Difference = Schema.Struct(fields)
/** A difference as tools answer it. */
export type Difference = typeof Difference.Type

/** What differs, with outputs by their names; secrets as the server shows them. */
export const view = Effect.fnUntraced(function*(
  before: WorkflowDiff.Document,
  after: WorkflowDiff.Document,
  node?: string
) {
  const namesOf = yield* OutputNames.forNodes([before, after].flatMap(typesOf).map((type) => ({ type })))
  const showsSecrets = !(yield* Tool.RedactSecrets)
  return Comparison.make(before, after, { node, namesOf, showsSecrets }) as Difference
})

/** Room of one value, wider first; at last nodes are only named. */
const leastRoom = 160
const rooms = [900, 400, leastRoom]

/** Commas and brackets, at most. */
const separators = 4

const shortened = (node: Difference["nodes"][number], room: number): Difference["nodes"][number] =>
  node.fields === undefined ? node : {
    ...node,
    fields: node.fields.map((field) => Minimize.cost(field) <= room ? field : Minimize.fit(field, room))
  }

/** All changed nodes in a budget, with as much of each as there is room for; `next` is the call that shows one whole. */
export const trim = <A extends Difference>(difference: A, budget: number, next: string): A => {
  const isFit = (some: A) => Minimize.cost(some) <= budget
  if (isFit(difference)) return difference
  for (const room of rooms) {
    const shorter = { ...difference, nodes: difference.nodes.map((node) => shortened(node, room)) }
    if (isFit(shorter)) return shorter
  }
  const total = difference.nodes.length
  const marked = (nodes: Difference["nodes"], kept: number) => {
    const mark: Truncated.Mark = { path: "nodes.fields", kept, total, next }
    return { ...difference, nodes, _truncated: mark }
  }
  const named = difference.nodes.map(({ fields: _, ...node }) => node)
  let left = budget - Minimize.cost(marked(named, total))
  let kept = 0
  const nodes = difference.nodes.map((node, index) => {
    const small = shortened(node, leastRoom)
    const bare = named[index] ?? node
    const needed = Minimize.cost(small) - Minimize.cost(bare) + separators
    if (needed > left) return bare
    left -= needed
    kept++
    return small
  })
  return marked(nodes, kept)
}
