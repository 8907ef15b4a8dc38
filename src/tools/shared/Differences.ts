/** Differences between two versions of a workflow, as tools show them. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Minimize from "../../answer/Minimize.ts"
import * as Tool from "../../answer/Tool.ts"
import * as Turn from "../../base/Turn.ts"
import * as OutputNames from "../../catalogue/OutputNames.ts"
import { typesOf } from "../../n8n/model/Workflow.ts"
import * as ReadableDiff from "../../workflow/diff/ReadableDiff.ts"
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
  const view = yield* Turn.run(() => ReadableDiff.steps(before, after, { node, namesOf, showsSecrets, isOther }))
  const data: object = node === undefined ? { ...view, settings: view.settings ?? "same" } : view
  return data as Difference
})

/** Budget of a difference below a path: fields are shortened first, then omitted; all changed nodes are named. */
export const budget = (total: number, path = ""): Minimize.Budget => ({
  total,
  rooms: { [`${path}nodes[].fields[]`]: [900, 400, 160] },
  lists: { [`${path}nodes[].fields`]: [Infinity, Infinity, Infinity, 4, 2, 1, 0] }
})
