import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import { without } from "../../base/Json.ts"
import * as Visible from "../../base/Visible.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import { WorkflowFiles } from "../../workflows/files/WorkflowFiles.ts"
import { nounOf } from "../../workflows/Reference.ts"
import { WorkflowStore } from "../../workflows/store/WorkflowStore.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

const notOfTheFile = new Set(["id", "active", "tags", "versionId"])

/** `PUT /workflows/{id}` with a file's workflow, except its id, state and tags. */
export const replaceWorkflowFromFile = Tool.make({
  name: "replace_workflow_from_file",
  title: "Replace workflow from file",
  searchHint: "overwrite, deploy, sync a workflow from a JSON file, git",
  description:
    "Replace a workflow with a file or draft, but its id and tags; published again unless a draft waits. Undo: workflow_restore.",
  annotations: Tool.destructive,
  scopes: ["workflow:update", "workflow:read"],
  input: Schema.Struct({
    id: parameters.workflowId,
    filePath: parameters.workflowFile,
    expectedVersionId: writing.expectedVersionId,
    confirm: writing.confirm,
    raw: writing.raw
  }),
  output: writing.Replaced,
  handler: ({ confirm, expectedVersionId, filePath, id }) =>
    Effect.gen(function*() {
      const { repairs, value } = yield* WorkflowFiles.use((files) => files.workflow(filePath))
      const current = yield* N8nClient.use((n8n) => n8n.getWorkflow(id))
      yield* writing.requireConsent(
        confirm,
        `Replace workflow ${id} ('${Visible.label(current.name)}') with the ${nounOf(filePath)} ${filePath}?`
      )
      const patch = without(value, (_, key) => notOfTheFile.has(key))
      const written = yield* WorkflowStore.use((store) =>
        store.write({ kind: "n8n", id }, patch, {
          operation: "replace_workflow_from_file",
          // What runs stays as it is while a draft waits, perhaps of someone else.
          publish: Workflow.hasDraft(current) ? "hold" : "keep",
          expected: expectedVersionId
        })
      )
      const overwritten = written.isWritten && Workflow.hasDraft(current)
        ? [
          `a draft that waited, perhaps of someone else, was overwritten: ${
            Hints.call("workflow_restore", { id, version: current.versionId ?? "" })
          } brings it back`
        ]
        : []
      return { ...written, warnings: [...repairs, ...overwritten, ...written.warnings] }
    }).pipe(writing.withUrl),
  summarize: (written, { raw }) => writing.summarize(written, raw, { isWhole: true }),
  message: ({ held, id }, { filePath }) => ({
    en: `Replaced ${held === undefined ? "" : "the nodes of "}workflow '${id}' with the ${nounOf(filePath)}`,
    ja: "ファイルでワークフローを置き換えました"
  })
})
