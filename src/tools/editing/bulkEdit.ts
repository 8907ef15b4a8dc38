import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import * as ItemView from "../../executions/ItemView.ts"
import * as Fleet from "../../fleet/Fleet.ts"
import { Operation } from "../../fleet/Operations.ts"
import * as Plans from "../../fleet/Plans.ts"
import * as Deprecated from "../../n8n/Deprecated.ts"
import * as Links from "../../n8n/Links.ts"
import * as batches from "../shared/Batches.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

const maxOperations = 50

const optional = Schema.optionalKey

/** `Selection.parameters`, which list_workflows describes. */
const Select = Schema.Struct({
  ids: optional(Schema.Array(Schema.String.pipe(Links.workflowId))),
  names: optional(Schema.Array(Schema.String)),
  name: optional(Schema.String),
  tags: optional(Schema.Array(Schema.String)),
  active: optional(Schema.Boolean),
  uses: optional(Schema.String.check(Schema.isMinLength(2, { message: "uses must have two characters or more" }))),
  without: optional(Schema.Literals(["errorWorkflow", "tags", "runs"]))
})

const inWords = ({ changes, entries, publish }: Plans.Plan) => {
  const published = entries.filter(({ active }) => active).length
  const immediate = [...new Set(entries.flatMap(({ inForce = [] }) => inForce))]
  const live = published === 0
    ? ""
    : publish === "keep"
    ? `, ${published} of which are published again`
    : `, as drafts where published${immediate.length === 0 ? "" : `, but for ${immediate.join(", ")}`}`
  const groups = changes.map(({ change, workflows }) => `${workflows} × ${Visible.label(change, 70)}`)
  return `Change ${counted(entries.length, "workflow")}${live}: ${Rows.listed(groups, 5, "; ")}?`
}

/** Workflows that are left out, by the dry run or since. */
const leftOut = (state: Fleet.State, isPlan: boolean) => [
  ...state.plan.refused,
  ...isPlan ? [] : batches.leftOut(state)
]

export const bulkEdit = Tool.make({
  name: "bulk_edit",
  title: "Edit many workflows",
  searchHint:
    "change, update, replace in all workflows together; migrate a credential, url, sub-workflow, setting; batch",
  description:
    "Change selected workflows. dryRun returns grouped changes and a plan; plan applies or continues it; both show its state, differences on n8n. Undo: workflow_restore(batch).",
  annotations: { ...Tool.destructive, idempotentHint: false },
  scopes: ["workflow:list", "workflow:read", "workflow:update"],
  partialScopes: { "credential:list": "credential" },
  input: Schema.Struct({
    select: parameters.optional(Select, "As in list_workflows; all are met."),
    operations: parameters.optional(
      Schema.Array(Operation).check(Schema.isMinLength(1), Schema.isMaxLength(maxOperations)),
      "As in workflow_edit; node also {type?, name?}: all that match. Also replace: find, with, node?, path?; " +
        "credential: from, to, type?; calls (sub- and error workflows): from, to (ids or names); settings: settings, onlyWhereUnset?"
    ),
    publish: parameters.optional(
      Plans.Publish,
      "keep (default): publish published ones again, with plan its drafts too. draft: drafts only."
    ),
    plan: parameters.optional(Schema.String, "From a dry run; replaces select, operations."),
    dryRun: writing.dryRun,
    confirm: writing.confirm,
    raw: parameters.flag("Longer lists.")
  }),
  output: Schema.Struct({
    plan: Schema.optionalKey(Schema.String),
    workflows: Schema.Int,
    /** Published workflows that run with the change, by what n8n has now, or would. */
    published: Schema.optionalKey(Schema.Int),
    /** Published workflows whose change is a draft, or would be. */
    drafts: Schema.optionalKey(Schema.Int),
    /** Parts that take effect immediately, or have, although the nodes of these published workflows wait as drafts. */
    inForce: Schema.optionalKey(Schema.Array(Schema.String)),
    /** Planned changes, or with `plan` and `dryRun` what differs from the workflows before the batch. */
    changes: Schema.optionalKey(Schema.Array(Plans.Group)),
    /** Nodes that an upgrade did not change, with the decision that a person has to make. */
    left: Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Json))),
    ...batches.fields,
    unchanged: Schema.optionalKey(Schema.Int),
    hint: Schema.optionalKey(Schema.String)
  }),
  handler: ({ confirm, dryRun, operations, plan, publish, select }) =>
    Effect.gen(function*() {
      if (plan !== undefined) {
        if (select !== undefined || operations !== undefined) {
          return yield* parameters.invalid("plan", "plan cannot be combined with select and operations", {
            _tag: "MakePlan",
            maxPlans: Plans.maxPlans
          })
        }
        const stored = yield* Plans.read(plan)
        if (dryRun) {
          const state = yield* Fleet.state(plan)
          return { state, step: "continued" as const, differences: yield* Fleet.differences(state) }
        }
        if (publish === "draft" && stored.publish !== publish) {
          return yield* parameters.invalid(
            "publish",
            "The plan publishes its changes",
            "Make another with publish: 'draft'."
          )
        }
        const also = publish === "keep" ? publish : undefined
        if (stored.entries.length > 1) {
          yield* writing.requireConsent(confirm, inWords(also === undefined ? stored : { ...stored, publish: also }))
        }
        return { state: yield* Fleet.apply(plan, also), step: "continued" as const }
      }
      if (select === undefined || operations === undefined) {
        return yield* parameters.invalid(
          select === undefined ? "select" : "operations",
          "select and operations are required, or the plan of a dry run",
          "Nothing was written."
        )
      }
      const { plan: made, unchanged } = yield* Fleet.plan({ select, operations, publish: publish ?? "keep" })
      if (dryRun || made.entries.length === 0) {
        return { state: { plan: made, outcomes: new Map(), warnings: [] }, unchanged, step: "planned" as const }
      }
      if (made.entries.length > 1) yield* writing.requireConsent(confirm, inWords(made))
      return { state: yield* Fleet.apply(made.id), unchanged, step: "applied" as const }
    }),
  summarize: ({ differences, state, step, unchanged }, { dryRun }) => {
    const { changes, entries, id, left = [], publish } = state.plan
    const isPlan = step === "planned"
    const isUntouched = isPlan || dryRun && state.outcomes.size === 0
    const outcome = batches.summarize(state, leftOut(state, isPlan))
    const deprecated = Deprecated.hint([...state.outcomes.values()].flatMap(({ deprecated = [] }) => deprecated))
    const isLive = ({ active, hasDraft, hasNodes, id }: Fleet.Entry) =>
      isPlan ? active ? !hasDraft && (publish === "keep" || hasNodes === false) : undefined : state.live?.get(id)
    const published = entries.filter((entry) => isLive(entry) === true).length
    const waiting = entries.filter((entry) => isLive(entry) === false)
    const drafts = waiting.length
    const inForce = [...new Set(waiting.flatMap((entry) => entry.inForce ?? []))]
    return defined({
      plan: entries.length === 0 ? undefined : id,
      workflows: entries.length,
      published: published > 0 ? published : undefined,
      drafts: drafts > 0 ? drafts : undefined,
      inForce: inForce.length > 0 ? inForce : undefined,
      changes: isUntouched ? changes : differences?.groups,
      left: left.length === 0 || step === "continued" && !isUntouched ? undefined : left,
      ...(isPlan ? Struct.pick(outcome, ["refused"]) : outcome),
      unchanged,
      hint: isPlan
        ? entries.length === 0
          ? outcome.refused !== undefined
            ? "Nothing was written; see refused."
            : left.length === 0
            ? "Nothing would change."
            : "Nothing can be upgraded without a decision; see left."
          : ItemView.joinNotes([
            `Nothing was written. bulk_edit(plan: '${id}') applies exactly this.`,
            published > 0 &&
            `${counted(published, "published workflow")} ${
              published === 1 ? "changes" : "change"
            } immediately; publish: 'draft' makes drafts, for workflow_prove.`
          ])
        : outcome.notDone !== undefined
        ? `bulk_edit(plan: '${id}') continues.`
        : ItemView.joinNotes([
          differences !== undefined && differences.unknown > 0 &&
          `${counted(differences.unknown, "workflow")} cannot be compared: their snapshots are gone.`,
          !dryRun && waiting.some(({ hasDraft }) => !hasDraft) &&
          `bulk_edit(plan: '${id}', publish: 'keep') publishes the drafts.`,
          !dryRun && outcome.done !== undefined && `workflow_restore(batch: '${id}') takes it back.`,
          deprecated !== undefined && Hints.text(deprecated)
        ])
    })
  },
  message: ({ changes, done = 0, notDone = 0, refused, workflows }, { dryRun, plan }) => {
    const also = refused === undefined ? "" : "; some were left out"
    const isPlan = changes !== undefined && plan === undefined
    return isPlan
      ? { en: `Would change ${counted(workflows, "workflow")}${also}`, ja: "一括編集の内容を確認しました" }
      : {
        en: `Changed ${done} of ${counted(workflows, "workflow")}${
          notDone === 0 ? "" : `; ${notDone} not done`
        }${also}${dryRun && done > 0 ? "; changes lists all that differs on n8n" : ""}`,
        ja: "ワークフローを一括編集しました"
      }
  },
  budget: (_, { raw }) =>
    raw ? {} : {
      lists: { changes: 12, left: 12, refused: 12, warnings: 5, "changes[].names": 5, "left[].names": 5 },
      rooms: { "refused[].name": 80, "refused[].why": 130 }
    },
  next: (_, { plan }) => () => plan === undefined ? undefined : `bulk_edit(plan: '${plan}', dryRun: true, raw: true)`
})
