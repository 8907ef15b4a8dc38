/** Plans of changes to many workflows, and what became of them, as stored by the server. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { randomBytes } from "node:crypto"
import { Author } from "../base/CallContext.ts"
import { Documents } from "../base/Documents.ts"
import * as Errors from "../base/Errors.ts"
import { sha256 } from "../base/Hash.ts"
import { canonical, defined, type Obj } from "../base/Json.ts"
import * as Rows from "../base/Rows.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import { Operation as EditOperation } from "../workflow/edit/WorkflowEdit.ts"
import { editableKeys } from "../workflows/WorkflowEdit.ts"
import { Operation, Swap } from "./Operations.ts"

/** Place that a change differs in, by digests of its values. */
const Place = Schema.Struct({
  at: Schema.Array(Schema.Union([Schema.String, Schema.Int])),
  before: Schema.String,
  after: Schema.String,
  /** Both values as readers see them. */
  values: Schema.String
})
/** Place that a change differs in. */
export interface Place extends Schema.Schema.Type<typeof Place> {}

const Entry = Schema.Struct({
  /** Id of the workflow, or path of its file. */
  id: Schema.String,
  name: Schema.String,
  isFile: Schema.optionalKey(Schema.Boolean),
  active: Schema.Boolean,
  /** Whether a draft waits that its caller has not made. */
  hasDraft: Schema.Boolean,
  /** Whether nodes change, which have drafts, and not only settings. */
  hasNodes: Schema.optionalKey(Schema.Boolean),
  /** Publication that an operation asks for. */
  publication: Schema.optionalKey(Schema.Literals(["publish", "unpublish"])),
  /** Version that runs before the change. */
  running: Schema.optionalKey(Schema.String),
  /** Parts such as `settings.timezone` that take effect immediately although the nodes wait as a draft. */
  inForce: Schema.optionalKey(Schema.Array(Schema.String)),
  before: Schema.String,
  after: Schema.String,
  places: Schema.optionalKey(Schema.Array(Place))
})
/** Workflow of a plan. */
export interface Entry extends Schema.Schema.Type<typeof Entry> {}

/** Values before and after a change, of equal ones as one. */
export const Values = Schema.Struct({
  values: Schema.String,
  count: Schema.Int,
  /** Whether the text is part of a longer word, as in `notlegacy.example.com`. */
  insideWord: Schema.optionalKey(Schema.Boolean),
  /** Places: `Workflow: Node`. */
  at: Schema.Array(Schema.String)
})

export const Group = Schema.Struct({
  change: Schema.String,
  workflows: Schema.Int,
  nodes: Schema.optionalKey(Schema.Int),
  names: Schema.Array(Schema.String),
  values: Schema.optionalKey(Schema.Array(Values))
})

/** One of the changes of a workflow, described equally in all workflows; `node` if it is one of a node. */
export interface Change {
  readonly change: string
  readonly node?: string | undefined
  readonly values?: ReadonlyArray<{ readonly values: string; readonly insideWord?: boolean }>
  readonly id: string
  readonly name: string
}

/** Groups equal changes, those of most workflows first; of each the distinct values, the most frequent first. */
export const grouped = (changes: ReadonlyArray<Change>): ReadonlyArray<typeof Group.Type> =>
  Rows.grouped(changes, ({ change }) => change).map(({ first: { change }, rows }) => {
    const names = new Map(rows.map(({ id, name }) => [id, name]))
    const nodes = rows.filter(({ node }) => node !== undefined).length
    const all = rows.flatMap(({ name, node, values = [] }) =>
      values.map((each) => ({ ...each, at: node === undefined ? name : `${name}: ${node}` }))
    )
    const values = Rows.grouped(all, ({ insideWord, values }) => [values, insideWord])
      .map(({ count, first: { at: _, ...first }, rows }) => ({ ...first, count, at: rows.map(({ at }) => at) }))
      .toSorted((a, b) => b.count - a.count)
    return defined({
      change,
      workflows: names.size,
      nodes: nodes === 0 ? undefined : nodes,
      names: [...names.values()],
      values: values.length === 0 ? undefined : values
    })
  }).toSorted((a, b) => b.workflows - a.workflows)

export const Refused = Schema.Struct({ id: Schema.String, name: Schema.String, why: Schema.String })
export type Refused = typeof Refused.Type

/** Nodes that an upgrade left for the same reason. */
export const Left = Schema.Struct({
  type: Schema.String,
  nodes: Schema.Int,
  workflows: Schema.Int,
  why: Schema.String,
  decision: Schema.String,
  /** Ways to upgrade it nevertheless, for `accept`. */
  choices: Schema.optionalKey(Schema.Array(Schema.Struct({ key: Schema.String, does: Schema.String }))),
  /** Nodes: `Workflow: Node`. */
  names: Schema.Array(Schema.String)
})
export type Left = typeof Left.Type

/** Whether published workflows are published again with the change, or get a draft. */
export const Publish = Schema.Literals(["keep", "draft"])

/** Sub-workflow that an extraction creates. */
const Created = Schema.Struct({
  operation: Schema.Int,
  /** Id in the plan's workflows. */
  key: Schema.String,
  /** Id on n8n, once it is there; `""` if a request to create it may have arrived. */
  id: Schema.optionalKey(Schema.String),
  workflow: Schema.Record(Schema.String, Schema.Json)
})
/** Sub-workflow that an extraction creates. */
export interface Created extends Schema.Schema.Type<typeof Created> {}

/** Plan of changes, as stored. */
export const Plan = Schema.Struct({
  id: Schema.String,
  createdAt: Schema.String,
  operations: Schema.Array(Operation),
  swaps: Schema.Array(Schema.NullOr(Swap)),
  publish: Publish,
  /** Whether it was applied, or began to be. */
  isBegun: Schema.optionalKey(Schema.Boolean),
  /** Release of n8n to upgrade to; default: the connected one. */
  release: Schema.optionalKey(Schema.String),
  /** Sub-workflows that extractions create, by the index of the operation. */
  created: Schema.optionalKey(Schema.Array(Created)),
  entries: Schema.Array(Entry),
  changes: Schema.Array(Group),
  refused: Schema.Array(Refused),
  left: Schema.optionalKey(Schema.Array(Left))
})
/** Plan of changes, as stored. */
export interface Plan extends Schema.Schema.Type<typeof Plan> {}

/** Edit of one workflow as a dry run showed it; `before` is the digest of the state that it changes. */
export const Edit = Schema.Struct({
  id: Schema.String,
  workflowId: Schema.String,
  operations: Schema.Array(EditOperation),
  before: Schema.String
})
/** Edit of one workflow, as stored. */
export interface Edit extends Schema.Schema.Type<typeof Edit> {}

/** Proof of a written workflow on its recorded runs. */
export const Proven = Schema.Struct({
  /** Version that was proven. */
  versionId: Schema.optionalKey(Schema.String),
  runs: Schema.Int,
  same: Schema.Int,
  /** Runs of which nothing could be compared from some node on. */
  unknown: Schema.optionalKey(Schema.Int),
  /** Changed nodes that no replayed run reached. */
  unreached: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Triggers whose new versions were not tested, and the reasons. */
  untested: Schema.optionalKey(Schema.Array(Schema.String))
})
/** Proof of a written workflow on its recorded runs. */
export interface Proven extends Schema.Schema.Type<typeof Proven> {}

/** Outcome for a workflow; `after` is the digest of what n8n stored. Only what was done and restored is stored. */
export const Outcome = Schema.Struct({
  state: Schema.Literals(["done", "refused", "changed", "restored"]),
  why: Schema.optionalKey(Schema.String),
  /** Digest of the state that was changed, if it is not that of the plan. */
  before: Schema.optionalKey(Schema.String),
  proven: Schema.optionalKey(Proven),
  /** Deprecated nodes for which n8n refused it. */
  deprecated: Schema.optionalKey(Schema.Array(Schema.Struct({ node: Schema.String, type: Schema.String }))),
  after: Schema.optionalKey(Schema.String),
  published: Schema.optionalKey(Schema.Boolean),
  warnings: Schema.optionalKey(Schema.Array(Schema.String))
})
/** Outcome for a workflow, as stored. */
export interface Outcome extends Schema.Schema.Type<typeof Outcome> {}

/** Maximum number of plans of a caller; older ones are removed with their outcomes. */
export const maxPlans = 30

const pattern = /^plan-\d{14}-[\da-f]{6}$/

export const newId = Effect.map(
  Clock.currentTimeMillis,
  (now) => `plan-${new Date(now).toISOString().replace(/\D/g, "").slice(0, 14)}-${randomBytes(3).toString("hex")}`
)

const PlanJson = Schema.fromJsonString(Plan)
const EditJson = Schema.fromJsonString(Edit)
const OutcomeJson = Schema.fromJsonString(Outcome)
const [encodePlan, decodePlan] = [Schema.encodeEffect(PlanJson), Schema.decodeEffect(PlanJson)]
const [encodeOutcome, decodeOutcome] = [Schema.encodeEffect(OutcomeJson), Schema.decodeEffect(OutcomeJson)]

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (body: Uint8Array) => new TextDecoder().decode(body)

const own = Effect.gen(function*() {
  const { instance } = yield* N8nClient
  const { collection } = yield* Documents
  return collection("plans", `${instance.key}\n${(yield* Author) ?? ""}`)
})

const outcomeName = (plan: string, workflow: string) =>
  `${plan}.${workflow.length > 60 ? sha256(workflow) : Buffer.from(workflow).toString("base64url")}`

const store = Effect.fnUntraced(function*(id: string, json: string, isEmpty = false) {
  const { list, remove, write } = yield* own
  yield* write(id, bytes(json))
  // It takes the place of none that can be undone.
  if (isEmpty) return
  const names = yield* list
  const old = new Set(names.filter((name) => pattern.test(name)).toSorted().toReversed().slice(maxPlans))
  const dropped = names.filter((name) => old.has(name.replace(/\..*$/, "")))
  yield* Effect.forEach(dropped, (name) => Effect.ignore(remove(name)), { discard: true })
})

export const save = Effect.fn("Plans.save")(function*(plan: Plan) {
  yield* store(plan.id, yield* Effect.orDie(encodePlan(plan)), plan.entries.length === 0)
})

/** Digest of all that an edit may change. */
const digestOf = (workflow: Obj): string =>
  sha256(canonical(Object.fromEntries(editableKeys.map((key) => [key, workflow[key] ?? null])))).slice(0, 32)

/** Stores an edit that a dry run showed; returns its id. */
export const saveEdit = Effect.fn("Plans.saveEdit")(
  function*(workflowId: string, operations: Edit["operations"], before: Obj) {
    const id = yield* newId
    const edit: Edit = { id, workflowId, operations, before: digestOf(before) }
    yield* store(id, yield* Effect.orDie(Schema.encodeEffect(EditJson)(edit)))
    return id
  }
)

const unknown = (id: string) =>
  new Errors.NotFoundError({
    operation: "read plan",
    resourceType: "Plan",
    resourceId: id.slice(0, 60),
    hint: { _tag: "MakePlan", maxPlans }
  })

const stored = Effect.fnUntraced(function*(id: string) {
  const body = pattern.test(id) ? yield* (yield* own).read(id) : undefined
  return body === undefined ? yield* unknown(id) : text(body)
})

export const read = Effect.fn("Plans.read")(function*(id: string) {
  return yield* Effect.mapError(decodePlan(yield* stored(id)), () => unknown(id))
})

/**
 * Operations of an edit that a dry run showed; `check` fails for another workflow, and for one that is not in the state
 * that it changes.
 */
export const readEdit = Effect.fn("Plans.readEdit")(function*(id: string, workflowId: string) {
  const edit = yield* Effect.mapError(Schema.decodeEffect(EditJson)(yield* stored(id)), () => unknown(id))
  // Only when the workflow has been read: its name may stand for its id.
  const check = (now: Obj) =>
    edit.workflowId !== workflowId ?
      Errors.invalid(
        "plan",
        `The plan is one of the workflow '${edit.workflowId}'`,
        "Nothing was written. Call with the workflowId of the dry run."
      ) :
      digestOf(now) === edit.before ?
      Effect.void :
      Errors.invalid(
        "plan",
        "The workflow has changed since the dry run",
        "Nothing was written. Repeat the dry run with the operations."
      )
  return { operations: edit.operations, check }
})

/** Removes a plan, and what is recorded of it. */
export const discard = Effect.fn("Plans.discard")(function*(id: string) {
  const { list, remove } = yield* own
  yield* read(id)
  const names = (yield* list).filter((name) => name === id || name.startsWith(`${id}.`))
  yield* Effect.forEach(names, remove, { discard: true })
})

export const record = Effect.fn("Plans.record")(function*(plan: string, workflow: string, outcome: Outcome) {
  yield* (yield* own).write(outcomeName(plan, workflow), bytes(yield* Effect.orDie(encodeOutcome(outcome))))
})

/** Outcomes by the id of the workflow; a damaged one counts as none. */
export const outcomes = Effect.fn("Plans.outcomes")(function*({ entries, id }: Plan) {
  const { list, read } = yield* own
  const names = new Set(yield* list)
  const all = yield* Effect.forEach(
    entries.filter((entry) => names.has(outcomeName(id, entry.id))),
    (entry) =>
      read(outcomeName(id, entry.id)).pipe(
        Effect.flatMap((body) => decodeOutcome(text(body ?? new Uint8Array()))),
        Effect.map((outcome) => [[entry.id, outcome] as const]),
        Effect.catchTag("SchemaError", () => Effect.succeed([]))
      ),
    { concurrency: 8 }
  )
  return new Map(all.flat())
})
