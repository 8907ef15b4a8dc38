import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { N8nClient } from "../N8nClient.ts"
import * as Tool from "../Tool.ts"
import { WorkflowStore } from "../WorkflowStore.ts"
import * as parameters from "./parameters.ts"
import * as writing from "./writing.ts"

/** `DELETE /workflows/{id}`; a published one is unpublished first. Its snapshot stays. */
export const deleteWorkflow = Tool.make({
  name: "delete_workflow",
  title: "Delete workflow",
  searchHint: "remove, drop, get rid of a workflow",
  description: "Delete a workflow and, with it, its executions. A snapshot is kept: workflow_restore creates it anew.",
  annotations: Tool.destructive,
  scopes: ["workflow:delete", "workflow:read"],
  input: Schema.Struct({
    id: parameters.workflowId,
    confirm: writing.confirm,
    raw: parameters.raw("No more than id.")
  }),
  output: Schema.Struct({ id: Schema.String }),
  handler: ({ confirm, id }) =>
    Effect.gen(function*() {
      const { name } = yield* N8nClient.use((n8n) => n8n.getWorkflow(id))
      yield* writing.confirmed(confirm, `Delete the workflow '${name}' (${id}) and its executions?`)
      yield* WorkflowStore.use((store) => store.remove(id))
    }),
  summarize: (_, { id }) => ({ id }),
  message: ({ id }) => ({ en: `Deleted workflow '${id}'`, ja: "ワークフローを削除しました" })
})
