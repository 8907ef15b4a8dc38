import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as WorkflowEdit from "../domain/edits/WorkflowEdit.ts"
import { Problem } from "../domain/problems/Problem.ts"
import { truncated } from "../domain/Truncated.ts"
import * as Tool from "../Tool.ts"
import * as editing from "./editing.ts"
import * as parameters from "./parameters.ts"
import * as writing from "./writing.ts"

/** The same problem, wherever in the list its node stands now. */
const same = ({ message, node, path }: Problem) => `${node ?? ""} ${path.replace(/^nodes\[\d+\]/, "")} ${message}`

/** Any number of changes as one. */
export const workflowEdit = Tool.make({
  name: "workflow_edit",
  title: "Edit workflow",
  searchHint: "modify, update, fix, rename, delete, remove a node, its parameters, in a workflow; patch, dry run",
  description:
    "Change a workflow (file, draft or n8n) by several operations, all or nothing; problems lists what they brought. On n8n the result stays a draft.",
  annotations: Tool.destructive,
  scopes: ["workflow:update", "workflow:read"],
  input: Schema.Struct({
    workflowId: editing.workflowId,
    operations: Schema.Array(WorkflowEdit.Operation).check(Schema.isMinLength(1), Schema.isMaxLength(500)).annotate({
      description: "In order; as node_add and connection_create take them."
    }),
    dryRun: Schema.Boolean.annotate({ description: "Only tell what would change.", default: false })
      .pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
    expectedVersionId: writing.expectedVersionId,
    raw: parameters.raw("Adds workflowData.")
  }),
  output: Schema.Struct({
    applied: Schema.Boolean,
    changes: Schema.Array(Schema.String),
    problems: Schema.Array(Schema.Struct({ ...Problem.fields, ...truncated })),
    ...editing.saved,
    ...truncated
  }),
  handler: ({ dryRun, expectedVersionId, operations, workflowId }) =>
    Effect.gen(function*() {
      const changed = yield* editing.edit(workflowId, operations, {
        operation: "workflow_edit",
        dryRun,
        expectedVersionId
      })
      const known = new Set((yield* editing.problems(changed.before)).map(same))
      const problems = yield* editing.problems(changed.workflow)
      return { ...changed, problems: problems.filter((problem) => !known.has(same(problem))) }
    }),
  summarize: ({ problems, ...changed }, { dryRun, raw }) => ({
    applied: !dryRun,
    changes: changed.result.changes,
    problems,
    ...editing.told(changed, raw)
  }),
  message: ({ applied, changes, problems }) => ({
    en: `${applied ? "Made" : "Would make"} ${changes.length} change${changes.length === 1 ? "" : "s"}${
      problems.length === 0 ? "" : `; they bring ${problems.length} problem${problems.length === 1 ? "" : "s"}`
    }`,
    ja: applied ? "ワークフローを編集しました" : "変更内容を確認しました"
  })
})
