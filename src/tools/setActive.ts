import * as Schema from "effect/Schema"
import * as Tool from "../Tool.ts"
import { WorkflowStore } from "../WorkflowStore.ts"
import * as parameters from "./parameters.ts"
import * as writing from "./writing.ts"

const input = Schema.Struct({ id: parameters.workflowId })

/** `POST /workflows/{id}/publish` (`/activate` on 1.x); answers once it has taken effect. */
export const activateWorkflow = Tool.make({
  name: "activate_workflow",
  title: "Publish workflow",
  searchHint: "activate, turn on, go live, deploy, enable a workflow",
  description: "Publish (activate) a workflow as it is now, drafts included, so that its trigger runs it.",
  annotations: { ...Tool.destructive, destructiveHint: false },
  scopes: ["workflow:activate", "workflow:read"],
  input,
  output: writing.Output,
  handler: ({ id }) => writing.withUrl(WorkflowStore.use((store) => store.setActive(id, true))),
  summarize: (written) => writing.summarize(written, false),
  message: ({ id }) => ({ en: `Published workflow '${id}'`, ja: "ワークフローを有効化しました" })
})

/** `POST /workflows/{id}/unpublish` (`/deactivate` on 1.x); answers once it has taken effect. */
export const deactivateWorkflow = Tool.make({
  name: "deactivate_workflow",
  title: "Unpublish workflow",
  searchHint: "deactivate, turn off, pause, disable a workflow",
  description: "Unpublish (deactivate) a workflow: its trigger runs it no more. Runs under way go on.",
  annotations: { ...Tool.destructive, destructiveHint: false },
  scopes: ["workflow:deactivate", "workflow:read"],
  input,
  output: writing.Output,
  handler: ({ id }) => writing.withUrl(WorkflowStore.use((store) => store.setActive(id, false))),
  summarize: (written) => writing.summarize(written, false),
  message: ({ id }) => ({ en: `Unpublished workflow '${id}'`, ja: "ワークフローを無効化しました" })
})
