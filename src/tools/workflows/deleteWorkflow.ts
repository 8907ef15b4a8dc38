import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import * as Visible from "../../base/Visible.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import { WorkflowStore } from "../../workflows/store/WorkflowStore.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

/** `DELETE /workflows/{id}`; a published one is unpublished first. Its snapshot stays. */
export const deleteWorkflow = Tool.make({
  name: "delete_workflow",
  title: "Delete workflow",
  searchHint: "remove, drop, get rid of a workflow",
  description: "Delete a workflow and its executions. A snapshot is kept: workflow_restore recreates the workflow.",
  annotations: Tool.destructive,
  scopes: ["workflow:delete", "workflow:read"],
  input: Schema.Struct({
    id: parameters.workflowId,
    confirm: writing.confirm,
    raw: parameters.raw("No effect.")
  }),
  output: Schema.Struct({ id: Schema.String }),
  handler: ({ confirm, id }) =>
    Effect.gen(function*() {
      const { name } = yield* N8nClient.use((n8n) => n8n.getWorkflow(id))
      yield* writing.requireConsent(confirm, `Delete workflow ${id} and its executions ('${Visible.label(name)}')?`)
      yield* WorkflowStore.use((store) => store.remove(id))
    }),
  summarize: (_, { id }) => ({ id }),
  message: ({ id }) => ({ en: `Deleted workflow '${id}'`, ja: "ワークフローを削除しました" })
})
