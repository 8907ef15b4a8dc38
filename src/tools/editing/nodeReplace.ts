import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import type * as WorkflowEdit from "../../workflow/edit/WorkflowEdit.ts"
import * as editing from "../shared/Editing.ts"
import * as parameters from "../shared/Parameters.ts"

const nothing: WorkflowEdit.Report = { nodeId: "", maintainedConnections: [], removedConnections: [] }

/** Replaces a node with one of another type. */
export const nodeReplace = Tool.make({
  name: "node_replace",
  title: "Replace node",
  searchHint: "swap a node, change its type, keep its connections",
  description: "Give a node another type; connections and parameters that fit stay.",
  annotations: Tool.destructive,
  scopes: editing.scopes,
  input: Schema.Struct({
    workflowId: parameters.anyWorkflowId,
    targetNodeId: parameters.required("targetNodeId", "Id or name."),
    newNodeType: editing.nodeType("newNodeType"),
    parameters: editing.nodeParameters("Override those that stay."),
    raw: editing.raw
  }),
  output: Schema.Struct({
    nodeId: Schema.String,
    compatibilityReport: Schema.Struct({
      maintainedConnections: Schema.Array(Schema.String),
      removedConnections: Schema.Array(Schema.String)
    }),
    changes: Schema.Array(Schema.String),
    ...editing.outcomeFields
  }),
  handler: ({ newNodeType: type, parameters, targetNodeId: node, workflowId }) =>
    editing.edit(workflowId, [defined({ op: "replaceNode" as const, node, type, parameters })], {
      operation: "node_replace"
    }),
  summarize: (changed, { raw }) => {
    const [{ nodeId, ...compatibilityReport } = nothing] = changed.result.reports
    return { nodeId, compatibilityReport, changes: changed.result.changes, ...editing.outcome(changed, { raw }) }
  },
  message: () => ({ en: "Replaced the node", ja: "ノードを置き換えました" })
})
