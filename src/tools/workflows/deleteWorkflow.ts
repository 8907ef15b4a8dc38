import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import * as Visible from "../../base/Visible.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Publication from "../../workflows/Publication.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

/** `DELETE /workflows/{id}`, or `POST /workflows/{id}/archive`; a published one is unpublished. Its snapshot stays. */
export const deleteWorkflow = Tool.make({
  name: "delete_workflow",
  title: "Delete workflow",
  searchHint: "remove, drop, get rid of, archive a workflow",
  description: "Delete a workflow and its executions. Undo, without executions: workflow_restore.",
  annotations: Tool.destructive,
  unlisted: { raw: "never" },
  scopes: ["workflow:delete", "workflow:read"],
  input: Schema.Struct({
    id: parameters.workflowId,
    confirm: writing.confirm,
    archive: parameters.flag("Archive it instead (n8n 2); executions stay."),
    raw: parameters.flag("No effect.")
  }),
  output: Schema.Struct({
    id: Schema.String,
    archived: Schema.optionalKey(Schema.Literal(true)),
    hint: Schema.optionalKey(Schema.String)
  }),
  handler: ({ archive, confirm, id }) =>
    Effect.gen(function*() {
      if (!archive) {
        const { name } = yield* N8nClient.use((n8n) => n8n.getWorkflow(id))
        yield* writing.requireConsent(confirm, `Delete workflow ${id} and its executions ('${Visible.label(name)}')?`)
      }
      return { dependents: yield* Publication.remove(id, archive) }
    }),
  summarize: ({ dependents }, { archive, id }) =>
    defined({ id, archived: archive ? true as const : undefined, hint: writing.dependentsHint(dependents) }),
  message: ({ archived, id }) =>
    archived === true
      ? { en: `Archived workflow '${id}'`, ja: "ワークフローをアーカイブしました" }
      : { en: `Deleted workflow '${id}'`, ja: "ワークフローを削除しました" }
})
