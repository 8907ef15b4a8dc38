import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import * as editing from "../shared/Editing.ts"
import * as parameters from "../shared/Parameters.ts"

/** Connects two nodes. */
export const connectionCreate = Tool.make({
  name: "connection_create",
  title: "Connect nodes",
  searchHint: "wire, link, branch, error output, ai tool to agent",
  description: "Connect two nodes. Ports by index or as in the editor: true, error, a Switch rule, ai_tool.",
  annotations: { ...Tool.additive, idempotentHint: true },
  scopes: editing.scopes,
  input: Schema.Struct({
    workflowId: parameters.anyWorkflowId,
    sourceNodeId: parameters.required("sourceNodeId", "Id or name; for AI, the sub-node."),
    targetNodeId: parameters.required("targetNodeId", "Id or name."),
    sourceOutput: parameters.optional(Schema.String, "Default: first."),
    targetInput: parameters.optional(Schema.String, "Default: first."),
    raw: editing.raw
  }),
  output: Schema.Struct({
    connection: Schema.Struct({
      sourceNodeId: Schema.String,
      targetNodeId: Schema.String,
      sourceOutput: Schema.String,
      targetInput: Schema.String
    }),
    changes: Schema.Array(Schema.String),
    ...editing.outcomeFields
  }),
  handler: ({ sourceNodeId: from, sourceOutput, targetInput, targetNodeId: to, workflowId }) =>
    editing.edit(workflowId, [defined({ op: "connect" as const, from, to, sourceOutput, targetInput })], {
      operation: "connection_create"
    }),
  summarize: (changed, { raw, sourceNodeId, sourceOutput, targetInput, targetNodeId }) => ({
    connection: {
      sourceNodeId,
      targetNodeId,
      sourceOutput: sourceOutput ?? "main",
      targetInput: targetInput ?? "main"
    },
    changes: changed.result.changes,
    ...editing.outcome(changed, { raw })
  }),
  message: ({ connection: { sourceNodeId, targetNodeId } }) => ({
    en: `Connected '${sourceNodeId}' to '${targetNodeId}'`,
    ja: "接続を作成しました"
  })
})
