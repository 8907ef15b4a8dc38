import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { WorkflowStore } from "../../workflows/store/WorkflowStore.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

/** `PUT /workflows/{id}` of the current workflow with the arguments; other parts keep their values. */
export const updateWorkflow = Tool.make({
  name: "update_workflow",
  title: "Update workflow",
  searchHint: "change, modify, rename a workflow, its nodes, settings, tags",
  description: "Change a workflow: omitted parts stay; a published one is published again. Undo: workflow_restore.",
  annotations: Tool.destructive,
  empty: { nodes: "removes all nodes", tags: "removes all tags" },
  scopes: ["workflow:update", "workflow:read"],
  input: Schema.Struct({
    id: parameters.workflowId,
    name: parameters.optional(Schema.String, "New name."),
    nodes: parameters.optional(
      writing.nodes,
      "All nodes; credentials stay unless {}."
    ),
    connections: parameters.optional(writing.connections, "All connections."),
    settings: writing.settings,
    active: parameters.optional(Schema.Boolean, "Publish or unpublish."),
    tags: writing.tags("All tags, by name."),
    expectedVersionId: writing.expectedVersionId,
    raw: writing.raw
  }),
  output: writing.Output,
  handler: ({ active, connections, expectedVersionId, id, name, nodes, settings, tags }) =>
    writing.withUrl(
      WorkflowStore.use((store) =>
        store.write({ kind: "n8n", id }, defined({ name, nodes, connections, settings, tags }), {
          operation: "update_workflow",
          publish: active === undefined ? "keep" : active ? "now" : "never",
          expected: expectedVersionId
        })
      )
    ),
  summarize: (written, { raw }) => writing.summarize(written, raw),
  message: ({ id }) => ({ en: `Updated workflow '${id}'`, ja: "ワークフローを更新しました" })
})
