import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { WorkflowFiles } from "../../workflows/files/WorkflowFiles.ts"
import { nounOf } from "../../workflows/Reference.ts"
import { WorkflowStore } from "../../workflows/store/WorkflowStore.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

/** `POST /workflows` with a file's workflow, then requests that set its description and publish it. */
export const createWorkflowFromFile = Tool.make({
  name: "create_workflow_from_file",
  title: "Create workflow from file",
  searchHint: "import, upload, deploy a workflow JSON file, template",
  description: "Create a workflow from a file or draft, unpublished unless active.",
  // With `active`, its triggers start it.
  annotations: { ...Tool.additive, destructiveHint: true },
  scopes: ["workflow:create", "workflow:read"],
  input: Schema.Struct({
    filePath: parameters.workflowFile,
    active: parameters.optional(Schema.Boolean, "Publish it."),
    raw: writing.raw
  }),
  output: writing.Created,
  handler: ({ active, filePath }) =>
    Effect.gen(function*() {
      const { repairs, value } = yield* WorkflowFiles.use((files) => files.workflow(filePath))
      // Tags are those of the n8n that the file is from.
      const { tags: _, ...workflow } = value
      const written = yield* WorkflowStore.use((store) =>
        store.write({ kind: "new" }, workflow, {
          operation: "create_workflow_from_file",
          source: "file",
          publish: active === true ? "now" : "keep"
        })
      )
      const empty = written.workflow.nodes.length === 0
        ? [`${nounOf(filePath) === "draft" ? "The draft" : "The file"} has no nodes: the workflow in n8n is empty`]
        : []
      return { ...written, warnings: [...repairs, ...empty, ...written.warnings] }
    }).pipe(
      writing.warnDuplicateName((id) => `replace_workflow_from_file(id: '${id}', filePath: '${filePath}')`),
      writing.withUrl
    ),
  summarize: (written, { raw }) => writing.created(written, raw),
  message: ({ id }, { filePath }) => ({
    en: `Created workflow '${id}' from a ${nounOf(filePath)}`,
    ja: "ファイルからワークフローを作成しました"
  })
})
