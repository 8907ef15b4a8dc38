import * as Schema from "effect/Schema"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import * as ItemView from "../../executions/ItemView.ts"
import * as Publication from "../../workflows/Publication.ts"
import * as Reference from "../../workflows/Reference.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

const hintOf = (
  { changed, former, hasDraft, isWritten, upcoming, workflow: { id } }: Publication.Published
) => {
  const publish = (version?: string) => Hints.call("activate_workflow", { id: Reference.format(id, version) })
  const open = upcoming?.open ?? []
  return ItemView.joinNotes([
    !isWritten && "It ran already; nothing was done. To register its triggers again, deactivate_workflow first.",
    changed !== "nothing" && former !== undefined && `${publish(former)} takes this back.`,
    hasDraft && `The newer draft stays unpublished: ${publish()} publishes it.`,
    open.length > 0 && `Not in nextRuns: ${Visible.line(Rows.listed(open, 3, "; "))}.`,
    upcoming?.timeZone === "unknown" && open.length > 0 && "settings.timezone sets the time zone."
  ])
}

/** `POST /workflows/{id}/publish` (`/activate` on 1.x); returns once it has taken effect. */
export const activateWorkflow = Tool.make({
  name: "activate_workflow",
  title: "Publish workflow",
  searchHint: "activate, turn on, go live, deploy, enable a workflow, publish or roll back to a version",
  description: "Publish (activate) a workflow, draft included.",
  annotations: Tool.destructive,
  scopes: ["workflow:activate", "workflow:read"],
  input: Schema.Struct({
    id: parameters.referenceFor("Workflow ID", "Id, name, ID@VERSION (n8n 2.40+)."),
    name: parameters.optional(Schema.String, "For the version."),
    description: parameters.optional(Schema.String, "For the version.")
  }),
  output: Schema.Struct({
    ...writing.Published.fields,
    nextRuns: Schema.optionalKey(Schema.Array(Schema.String)),
    timeZone: Schema.optionalKey(Schema.String)
  }),
  handler: ({ id, ...labels }) => writing.withUrl(Publication.publish(id, labels)),
  summarize: (published) =>
    defined({
      ...writing.summarize(published, false, { hint: hintOf(published) }),
      changed: published.isWritten && published.changed === "nothing" ? undefined : published.changed,
      nextRuns: published.upcoming?.starts.length === 0 ? undefined : published.upcoming?.starts,
      timeZone: published.upcoming?.timeZone
    }),
  message: ({ changed, id }) => ({
    en: changed === "nothing" ? `Workflow '${id}' was published already` : `Published workflow '${id}'`,
    ja: "ワークフローを有効化しました"
  })
})
