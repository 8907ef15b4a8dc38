import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import * as JsonText from "../../base/JsonText.ts"
import * as Limits from "../../n8n/model/Limits.ts"
import { newSettings } from "../../workflow/repair/WorkflowInput.ts"
import { WorkflowFiles } from "../../workflows/files/WorkflowFiles.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

/** Creates a draft, which is stored immediately. */
export const workflowCreate = Tool.make({
  name: "workflow_create",
  title: "Create draft",
  searchHint: "new workflow file, draft, build offline, start from scratch",
  description: "Start a workflow as a draft, without n8n. Next: workflow_edit, create_workflow_from_file.",
  unlisted: { active: "never" },
  annotations: { ...Tool.additive, openWorldHint: false },
  scopes: [],
  input: Schema.Struct({
    name: parameters.required("Name", "Its name.").check(
      // Both n8n and JSON Schema count code points.
      Schema.makeFilter<string>((name) => Limits.nameFault(name) === undefined, {
        message: `n8n accepts names of at most ${Limits.nameLength} characters`,
        toJsonSchema: () => ({ maxLength: Limits.nameLength })
      })
    ),
    description: parameters.optional(Schema.String, "What it is for."),
    active: parameters.optional(Schema.Boolean, "Recorded only."),
    settings: Schema.optionalKey(writing.jsonObject("Workflow settings.")),
    filePath: parameters.optional(Schema.String, "Default: from its name.")
  }),
  output: Schema.Struct({ workflowId: Schema.String, workflowData: Schema.Json, filePath: Schema.String }),
  handler: ({ active, description, filePath, name, settings }) =>
    Effect.gen(function*() {
      const files = yield* WorkflowFiles
      const workflow = defined({
        name,
        description,
        nodes: [],
        connections: {},
        active,
        settings: newSettings(settings ?? {})
      })
      if (filePath !== undefined) {
        const created = yield* files.create(filePath, JsonText.rewrite("", workflow))
        return { workflow, workflowId: filePath, filePath: created.path }
      }
      const { id, path } = yield* files.createDraft(name, JsonText.rewrite("", workflow))
      return { workflow, workflowId: id, filePath: path }
    }),
  summarize: ({ filePath, workflow, workflowId }) => ({ workflowId, workflowData: workflow as Schema.Json, filePath }),
  message: ({ workflowId }) => ({ en: `Started '${workflowId}'`, ja: "ワークフローを作成しました" })
})
