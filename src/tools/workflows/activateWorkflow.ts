import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { WorkflowStore } from "../../workflows/store/WorkflowStore.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

/** `POST /workflows/{id}/publish` (`/activate` on 1.x); answers once it has taken effect. */
export const activateWorkflow = Tool.make({
  name: "activate_workflow",
  title: "Publish workflow",
  searchHint: "activate, turn on, go live, deploy, enable a workflow",
  description: "Publish (activate) a workflow, draft included.",
  annotations: Tool.destructive,
  scopes: ["workflow:activate", "workflow:read"],
  input: Schema.Struct({ id: parameters.workflowId }),
  output: writing.Output,
  handler: ({ id }) => writing.withUrl(WorkflowStore.use((store) => store.setActive(id, true))),
  summarize: (written) => writing.summarize(written, false),
  message: ({ id }) => ({ en: `Published workflow '${id}'`, ja: "ワークフローを有効化しました" })
})
