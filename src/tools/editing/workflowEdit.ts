import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined, type Obj } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as ItemView from "../../executions/ItemView.ts"
import * as Plans from "../../fleet/Plans.ts"
import { nodes } from "../../n8n/model/Workflow.ts"
import * as WorkflowDiff from "../../workflow/diff/WorkflowDiff.ts"
import * as WorkflowEdit from "../../workflow/edit/WorkflowEdit.ts"
import * as editing from "../shared/Editing.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

const addedNodes = ({ result, workflow }: { readonly result: WorkflowEdit.Edited; readonly workflow: Obj }) => {
  const ids = new Set<unknown>(result.added.map(({ id }) => id))
  return nodes(workflow).flatMap(({ id, name, parameters, type, typeVersion }) =>
    ids.has(id) ? [defined({ name, type, typeVersion, parameters }) as Readonly<Record<string, Schema.Json>>] : []
  )
}

/** Lines of the operations, with those of settings as they are stored. */
const changesOf = ({ before, result: { changes, ofSettings }, workflow }: {
  readonly before: Obj
  readonly result: WorkflowEdit.Edited
  readonly workflow: Obj
}) => {
  const settings = WorkflowDiff.lines(before["settings"] ?? {}, workflow["settings"] ?? {}, "settings")
  const [first] = ofSettings
  return changes.flatMap((line, index) => index === first ? settings : ofSettings.has(index) ? [] : [line])
}

/** Applies several changes, all or nothing. */
export const workflowEdit = Tool.make({
  name: "workflow_edit",
  title: "Edit workflow",
  searchHint:
    "modify, update, fix, rename, delete, remove a node, its parameters, code, in a workflow; patch, find and replace text, tidy layout, dry run",
  description:
    "Apply operations in order, all or nothing; problems are new ones. A published one gets a draft (2.40+) unless publish.",
  annotations: { ...Tool.destructive, idempotentHint: false },
  scopes: editing.scopes,
  input: Schema.Struct({
    workflowId: parameters.anyWorkflowId,
    operations: parameters.optional(
      Schema.Array(WorkflowEdit.Operation).check(Schema.isMinLength(1), Schema.isMaxLength(500)),
      "node, from, to, after: name or id. null removes."
    ),
    plan: parameters.optional(Schema.String, "Of a dry run, instead."),
    publish: parameters.flag("If valid, else nothing."),
    dryRun: writing.dryRun,
    expectedVersionId: writing.expectedVersionId,
    raw: editing.raw
  }),
  output: Schema.Struct({
    applied: Schema.Boolean,
    changes: Schema.Array(Schema.String),
    added: Schema.optionalKey(writing.Objects),
    /** New sub-workflows: `{id, name, active}`. */
    created: Schema.optionalKey(writing.Objects),
    /** Nodes that an upgrade did not change, with the decision that a person has to make. */
    left: Schema.optionalKey(writing.Objects),
    unchanged: Schema.Record(Schema.String, Schema.Int),
    /** Of a dry run: workflow_edit with it makes these changes. */
    plan: Schema.optionalKey(Schema.String),
    problems: writing.Objects,
    missingCredentials: Schema.optionalKey(writing.Objects),
    inForce: writing.inForce,
    ...editing.outcomeFields
  }),
  handler: ({ dryRun, expectedVersionId, operations, plan, publish, workflowId }) =>
    Effect.gen(function*() {
      if ((operations === undefined) === (plan === undefined)) {
        return yield* parameters.invalid(
          "operations",
          "Either operations or the plan of a dry run is required",
          "Give one of them."
        )
      }
      const stored = plan === undefined ? undefined : yield* Plans.readEdit(plan, workflowId)
      const all = operations ?? stored?.operations ?? []
      const edited = yield* editing.edit(workflowId, all, {
        operation: "workflow_edit",
        publish,
        dryRun,
        expected: expectedVersionId,
        check: stored?.check
      })
      const isNew = dryRun && plan === undefined && changesOf(edited).length > 0
      return { ...edited, plan: isNew ? yield* Plans.saveEdit(workflowId, all, edited.before) : undefined }
    }),
  summarize: (changed, { dryRun, raw, workflowId }) => ({
    applied: changed.isWritten,
    changes: changesOf(changed),
    ...(changed.result.added.length === 0 ? {} : { added: addedNodes(changed) }),
    ...(changed.result.left.length === 0
      ? {}
      : { left: changed.result.left.map((each) => ({ ...each, choices: [...each.choices] })) }),
    unchanged: WorkflowDiff.unchanged(changed.before, changed.workflow),
    ...(changed.plan === undefined ? {} : { plan: changed.plan }),
    ...editing.findings(changed),
    ...editing.outcome(changed, { dryRun, raw }),
    ...(changed.plan === undefined ? {} : defined({
      hint: ItemView.joinNotes([
        writing.hintOf(changed, { isDry: true, offered: changed.offered }),
        `workflow_edit(workflowId: '${workflowId}', plan: '${changed.plan}') makes exactly these changes.`
      ])
    }))
  }),
  budget: () => ({ lists: { changes: 40 } }),
  message: ({ applied, changes, missingCredentials, problems }, { dryRun }) => {
    const what = applied || dryRun === true ? counted(changes.length, "change") : "Nothing to change"
    return {
      en: `${applied ? "Made " : dryRun === true ? "Would make " : ""}${what}${
        problems.length === 0 ? "" : `; ${counted(problems.length, "new problem")}`
      }${editing.missing(missingCredentials)}`,
      ja: applied ? "ワークフローを編集しました" : dryRun === true ? "変更内容を確認しました" : "変更はありません"
    }
  }
})
