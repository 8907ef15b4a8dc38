import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { obj } from "../domain/Json.ts"
import { N8nClient } from "../N8nClient.ts"
import * as Tool from "../Tool.ts"
import { WorkflowFiles } from "../WorkflowFiles.ts"
import { WorkflowStore } from "../WorkflowStore.ts"
import * as parameters from "./parameters.ts"
import * as writing from "./writing.ts"

const filePath = Schema.String.check(Schema.isMinLength(1, { message: "File path is required" }))
  .annotate({ description: "A .json file under the files root; relative to it, or absolute." })
  .pipe(Schema.annotateKey({ messageMissingKey: "File path is required" }))

/** The file's id, state and tags are not this workflow's. */
const notOfTheFile = new Set(["id", "active", "tags", "versionId"])

/** `POST /workflows` of a file, unpublished. */
export const createWorkflowFromFile = Tool.make({
  name: "create_workflow_from_file",
  title: "Create workflow from file",
  searchHint: "import, upload, deploy a workflow JSON file, template",
  description:
    "Create a workflow in n8n from an exported JSON file, unpublished. What is repaired or left out is named in warnings.",
  annotations: Tool.additive,
  scopes: ["workflow:create", "workflow:read"],
  input: Schema.Struct({ filePath, raw: parameters.raw("Adds the workflow as read back.") }),
  output: writing.Output,
  handler: ({ filePath }) =>
    Effect.gen(function*() {
      const { repairs, value } = yield* WorkflowFiles.use((files) => files.read(filePath))
      const written = yield* WorkflowStore.use((store) => store.create(value, { source: "file" }))
      return { ...written, warnings: [...repairs, ...written.warnings] }
    }).pipe(writing.withUrl),
  summarize: (written, { raw }) => writing.summarize(written, raw),
  message: ({ id }) => ({
    en: `Created workflow '${id}' from a file`,
    ja: "ファイルからワークフローを作成しました"
  })
})

/** `PUT /workflows/{id}` of a file: everything but id, state and tags. */
export const replaceWorkflowFromFile = Tool.make({
  name: "replace_workflow_from_file",
  title: "Replace workflow from file",
  searchHint: "overwrite, deploy, sync a workflow from a JSON file, git",
  description:
    "Replace a workflow's name, nodes, connections and settings by those of a JSON file. Its id, state and tags stay. The state before is kept: workflow_restore.",
  annotations: Tool.destructive,
  scopes: ["workflow:update", "workflow:read"],
  input: Schema.Struct({
    id: parameters.workflowId,
    filePath,
    expectedVersionId: writing.expectedVersionId,
    confirm: writing.confirm,
    raw: parameters.raw("Adds the workflow as read back.")
  }),
  output: writing.Output,
  handler: ({ confirm, expectedVersionId, filePath, id }) =>
    Effect.gen(function*() {
      const { repairs, value } = yield* WorkflowFiles.use((files) => files.read(filePath))
      const { name } = yield* N8nClient.use((n8n) => n8n.getWorkflow(id))
      yield* writing.confirmed(confirm, `Replace the workflow '${name}' (${id}) by the file ${filePath}?`)
      const patch = Object.fromEntries(Object.entries(obj(value) ?? {}).filter(([key]) => !notOfTheFile.has(key)))
      const written = yield* WorkflowStore.use((store) =>
        store.update(id, patch, { operation: "replace_workflow_from_file", source: "file", expectedVersionId })
      )
      return { ...written, warnings: [...repairs, ...written.warnings] }
    }).pipe(writing.withUrl),
  summarize: (written, { raw }) => writing.summarize(written, raw),
  message: ({ id }) => ({
    en: `Replaced workflow '${id}' by the file`,
    ja: "ファイルでワークフローを置き換えました"
  })
})
