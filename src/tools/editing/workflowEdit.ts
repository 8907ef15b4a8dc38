import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined, type Obj } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import { nodes } from "../../n8n/model/Workflow.ts"
import * as WorkflowDiff from "../../workflow/diff/WorkflowDiff.ts"
import * as WorkflowEdit from "../../workflow/edit/WorkflowEdit.ts"
import * as editing from "../shared/Editing.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

const Objects = Schema.Array(Schema.Record(Schema.String, Schema.Json))

const addedNodes = ({ result, workflow }: { readonly result: WorkflowEdit.Edited; readonly workflow: Obj }) => {
  const ids = new Set<unknown>(result.added.map(({ id }) => id))
  return nodes(workflow).flatMap(({ id, name, parameters, type, typeVersion }) =>
    ids.has(id) ? [defined({ name, type, typeVersion, parameters }) as Readonly<Record<string, Schema.Json>>] : []
  )
}

/** Applies several changes, all or nothing. */
export const workflowEdit = Tool.make({
  name: "workflow_edit",
  title: "Edit workflow",
  searchHint:
    "modify, update, fix, rename, delete, remove a node, its parameters, code, in a workflow; patch, find and replace text, tidy layout, dry run",
  description:
    "Apply operations in order, all or nothing; problems are new ones. On n8n 2.40+ it stays a draft unless publish.",
  annotations: { ...Tool.destructive, idempotentHint: false },
  scopes: editing.scopes,
  input: Schema.Struct({
    workflowId: parameters.anyWorkflowId,
    operations: Schema.Array(WorkflowEdit.Operation).check(Schema.isMinLength(1), Schema.isMaxLength(500)).annotate({
      description: "node, from, to, after: name or id. null removes."
    }),
    publish: parameters.flag("If valid; else write nothing."),
    dryRun: writing.dryRun,
    expectedVersionId: writing.expectedVersionId,
    raw: editing.raw
  }),
  output: Schema.Struct({
    applied: Schema.Boolean,
    changes: Schema.Array(Schema.String),
    added: Schema.optionalKey(Objects),
    /** New sub-workflows: `{id, name, active}`. */
    created: Schema.optionalKey(Objects),
    /** Nodes that an upgrade did not change, with the decision that a person has to make. */
    left: Schema.optionalKey(Objects),
    unchanged: Schema.Record(Schema.String, Schema.Int),
    ...writing.findingsFields,
    ...editing.outcomeFields
  }),
  handler: ({ dryRun, expectedVersionId, operations, publish, workflowId }) =>
    editing.edit(workflowId, operations, {
      operation: "workflow_edit",
      publish,
      dryRun,
      expected: expectedVersionId
    }),
  summarize: (changed, { dryRun, raw }) => ({
    applied: changed.isWritten,
    changes: changed.result.changes,
    ...(changed.result.added.length === 0 ? {} : { added: addedNodes(changed) }),
    ...(changed.result.left.length === 0 ? {} : { left: changed.result.left.map((each) => ({ ...each })) }),
    unchanged: WorkflowDiff.unchanged(changed.before, changed.workflow),
    ...editing.findings(changed),
    ...editing.outcome(changed, { dryRun, raw })
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
