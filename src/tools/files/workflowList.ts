import * as Schema from "effect/Schema"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import { WorkflowFiles } from "../../workflows/files/WorkflowFiles.ts"
import { nounOf } from "../../workflows/Reference.ts"
import * as parameters from "../shared/Parameters.ts"

/** Lists the workflows in a folder. */
export const workflowList = Tool.make({
  name: "workflow_list",
  title: "List workflow files",
  searchHint: "find workflow JSON files, drafts in the project",
  description: "List drafts and workflow files.",
  annotations: { ...Tool.readOnly, openWorldHint: false },
  scopes: [],
  input: Schema.Struct({
    directoryPath: parameters.optional(Schema.String, "Default: files root."),
    limit: parameters.limit,
    offset: parameters.rowOffset
  }),
  output: Schema.Struct({
    workflows: Schema.Array(Schema.Struct({
      id: Schema.optionalKey(Schema.String),
      name: Schema.String,
      path: Schema.String,
      lastModified: Schema.String
    })),
    total: Schema.Int,
    unreadable: Schema.optionalKey(Schema.Array(Schema.Struct({ path: Schema.String, reason: Schema.String })))
  }),
  handler: ({ directoryPath, limit, offset }) =>
    WorkflowFiles.use((files) => files.list(directoryPath, { limit, offset })),
  summarize: ({ total, unreadable, workflows }) =>
    defined({ workflows, total, unreadable: unreadable.length === 0 ? undefined : unreadable }),
  budget: () => ({ lists: { unreadable: 5 } }),
  totals: ({ total, workflows }, { offset }) => parameters.totals("workflows", offset + workflows.length, total),
  next: ({ offset, ...rest }) => (path, count) =>
    path === "workflows" ? Hints.call("workflow_list", { ...rest, offset: offset + count }) : undefined,
  message: ({ total, workflows }) => ({
    en: `${workflows.length} of ${
      counted(total, workflows.some(({ path }) => nounOf(path) === "draft") ? "draft" : "workflow file")
    }`,
    ja: "ワークフロー一覧を取得しました"
  })
})
