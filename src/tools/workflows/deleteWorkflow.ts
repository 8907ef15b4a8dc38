import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import * as Visible from "../../base/Visible.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Publication from "../../workflows/Publication.ts"
import { WorkflowStore } from "../../workflows/store/WorkflowStore.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

/** `DELETE /workflows/{id}`, or `POST /workflows/{id}/archive`; a published one is unpublished. Its snapshot stays. */
export const deleteWorkflow = Tool.make({
  name: "delete_workflow",
  title: "Delete workflow",
  searchHint: "remove, drop, get rid of, archive a workflow",
  description: "Delete a workflow and its executions. Undo, without these: workflow_restore.",
  annotations: Tool.destructive,
  unlisted: { raw: "never" },
  scopes: ["workflow:delete", "workflow:read"],
  input: Schema.Struct({
    id: parameters.workflowId,
    confirm: writing.confirm,
    archive: parameters.flag("Archive instead (n8n 2); executions stay."),
    raw: parameters.flag("No effect.")
  }),
  output: Schema.Struct({
    id: Schema.String,
    archived: Schema.optionalKey(Schema.Literal(true)),
    hint: Schema.optionalKey(Schema.String)
  }),
  handler: ({ archive, confirm, id }) =>
    Effect.gen(function*() {
      const { name } = yield* N8nClient.use((n8n) => n8n.getWorkflow(id))
      const hint = writing.dependentsHint(yield* Publication.dependents(id))
      if (!archive) {
        const question = `Delete workflow ${id} and its executions ('${Visible.label(name)}')?`
        yield* writing.requireConsent(confirm, hint === undefined ? question : `${question} ${hint}`)
      }
      const store = yield* WorkflowStore
      yield* archive ? store.archive(id) : store.remove(id)
      return { hint }
    }),
  summarize: ({ hint }, { archive, id }) => defined({ id, archived: archive ? true as const : undefined, hint }),
  message: ({ archived, id }) =>
    archived === true
      ? { en: `Archived workflow '${id}'`, ja: "ワークフローをアーカイブしました" }
      : { en: `Deleted workflow '${id}'`, ja: "ワークフローを削除しました" }
})
