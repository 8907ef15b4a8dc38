import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { WorkflowStore } from "../../workflows/store/WorkflowStore.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

/** `POST /workflows/{id}/unpublish` (`/deactivate` on 1.x); answers once it has taken effect. */
export const deactivateWorkflow = Tool.make({
  name: "deactivate_workflow",
  title: "Unpublish workflow",
  searchHint: "deactivate, turn off, pause, disable a workflow",
  description: "Unpublish (deactivate) a workflow. Running executions continue.",
  annotations: Tool.destructive,
  scopes: ["workflow:deactivate", "workflow:read"],
  input: Schema.Struct({ id: parameters.workflowId }),
  output: writing.Output,
  handler: ({ id }) => writing.withUrl(WorkflowStore.use((store) => store.setActive(id, false))),
  summarize: (written) => writing.summarize(written, false),
  message: ({ id }) => ({ en: `Unpublished workflow '${id}'`, ja: "ワークフローを無効化しました" })
})
