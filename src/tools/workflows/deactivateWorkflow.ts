import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import * as Publication from "../../workflows/Publication.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

/** `POST /workflows/{id}/unpublish` (`/deactivate` on 1.x); returns once it has taken effect. */
export const deactivateWorkflow = Tool.make({
  name: "deactivate_workflow",
  title: "Unpublish workflow",
  searchHint: "deactivate, turn off, pause, disable a workflow",
  description: "Unpublish (deactivate) a workflow; its runs continue.",
  annotations: Tool.destructive,
  scopes: ["workflow:deactivate", "workflow:read"],
  input: Schema.Struct({ id: parameters.workflowId }),
  output: writing.Output,
  handler: ({ id }) => writing.withUrl(Publication.unpublish(id)),
  summarize: (written) =>
    defined({
      ...writing.summarize(written, false, { hint: writing.dependentsHint(written.dependents) }),
      changed: written.isWritten ? undefined : written.changed
    }),
  message: ({ changed, id }) => ({
    en: changed === undefined ? `Unpublished workflow '${id}'` : `Workflow '${id}' was not published`,
    ja: "ワークフローを無効化しました"
  })
})
