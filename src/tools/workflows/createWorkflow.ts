import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { WorkflowStore } from "../../workflows/store/WorkflowStore.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

/** `POST /workflows`, then requests that set its tags and publish it. */
export const createWorkflow = Tool.make({
  name: "create_workflow",
  title: "Create workflow",
  searchHint: "new automation, build, add a workflow to n8n",
  description: "Create a workflow on n8n, unpublished unless active.",
  // With `active`, its triggers start it.
  annotations: { ...Tool.additive, destructiveHint: true },
  scopes: ["workflow:create", "workflow:read"],
  unlisted: { project: "onRequest", folder: "onRequest" },
  input: Schema.Struct({
    name: parameters.required("Workflow name", "Its name."),
    nodes: writing.nodes,
    connections: writing.connections,
    settings: writing.settings,
    active: parameters.optional(Schema.Boolean, "Publish it."),
    tags: writing.tags("Names; missing ones are created."),
    ...parameters.place,
    raw: writing.raw
  }),
  output: writing.Output,
  handler: ({ active, folder, project, raw: _, ...workflow }) =>
    WorkflowStore.use((store) =>
      store.write({ kind: "new", ...defined({ projectId: project, parentFolderId: folder }) }, workflow, {
        operation: "create_workflow",
        publish: active === true ? "now" : "keep"
      })
    ).pipe(
      writing.warnDuplicateName((id) => `update_workflow(id: '${id}', nodes: […], connections: {…})`),
      writing.withUrl
    ),
  summarize: (written, { raw }) => writing.created(written, raw),
  message: ({ id }) => ({ en: `Created workflow '${id}'`, ja: "ワークフローを作成しました" })
})
