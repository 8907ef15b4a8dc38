import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined, type Obj, obj, str } from "../../base/Json.ts"
import * as JsonText from "../../base/JsonText.ts"
import * as Rows from "../../base/Rows.ts"
import { workflowKeys } from "../../n8n/model/Workflow.ts"
import * as Contents from "../../workflow/Contents.ts"
import * as LiteralSecrets from "../../workflow/LiteralSecrets.ts"
import * as Placeholders from "../../workflow/Placeholders.ts"
import { WorkflowFiles } from "../../workflows/files/WorkflowFiles.ts"
import * as Reference from "../../workflows/Reference.ts"
import { keepFile } from "../../workflows/store/Snapshots.ts"
import * as Workflows from "../../workflows/Workflows.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

const referenced = Effect.fnUntraced(function*(reference: string) {
  const { notes, repairs, value } = yield* Workflows.open(reference)
  const workflow = obj(value) ?? {}
  const fault = Contents.faultOf(workflow)
  if (fault !== undefined) {
    return yield* parameters.invalid("workflowId", `'${reference}' is not a workflow: ${fault}`, "Nothing was written.")
  }
  return { workflow: writing.withoutCopies(workflow), notes: [...notes, ...repairs] }
})

/** Refuses keys that another program could read from a new file. */
const onlyWorkflow = (data: Obj) => {
  const foreign = Object.keys(data).filter((key) => !workflowKeys.has(key))
  return foreign.length === 0 ? Effect.void : parameters.invalid(
    "workflowData",
    `workflowData has keys that are not part of a workflow: ${Rows.listed(foreign, 8)}`,
    "Nothing was written. Remove them."
  )
}

/** Writes a workflow's JSON to a file; a workflow that is overwritten becomes a snapshot. */
export const workflowSave = Tool.make({
  name: "workflow_save",
  title: "Save workflow to file",
  searchHint: "export, write, back up a workflow or a version of it as JSON",
  description: "Write a workflow to a file. Undo: workflow_restore.",
  annotations: Tool.destructive,
  scopes: ["workflow:read"],
  input: Schema.Struct({
    workflowId: parameters.referenceFor("workflowId", "Workflow to write."),
    workflowData: Schema.optionalKey(writing.jsonObject("Or the workflow itself.")),
    filePath: parameters.workflowFile
  }),
  output: Schema.Struct({ filePath: Schema.String, warnings: Schema.optionalKey(Schema.Array(Schema.String)) }),
  handler: ({ filePath, workflowData, workflowId }) =>
    Effect.gen(function*() {
      const files = yield* WorkflowFiles
      const keep = keepFile("workflow_save")
      if (workflowData === undefined) {
        const { notes, workflow } = yield* referenced(workflowId)
        // Written unchanged: only workflowData can contain placeholders.
        const written = yield* files.save(
          filePath,
          (before) => before?.rewriting(workflow) ?? JsonText.rewriting("", workflow),
          keep
        )
        return { ...written, warnings: [...notes, ...LiteralSecrets.warnings(workflow)] }
      }
      const fault = Contents.faultOf({ name: "", ...workflowData })
      if (fault !== undefined) {
        return yield* parameters.invalid(
          "workflowData",
          `workflowData is not a workflow: ${fault}`,
          "Nothing was written. Omit workflowData to write the workflow that workflowId names."
        )
      }
      const { place } = Reference.parse(workflowId)
      const data = str(workflowData["id"]) === undefined && place.kind === "n8n" && place.id !== ""
        ? { ...workflowData, id: place.id }
        : workflowData
      const written = yield* files.save(
        filePath,
        (before) =>
          Effect.gen(function*() {
            if (before === undefined) yield* onlyWorkflow(data)
            const workflow = yield* Placeholders.restore(data, before?.value)
            return yield* (before?.rewriting(workflow) ?? JsonText.rewriting("", workflow))
          }),
        keep
      )
      return { ...written, warnings: [] }
    }),
  summarize: ({ path, warnings }) =>
    defined({ filePath: path, warnings: warnings.length === 0 ? undefined : warnings }),
  message: ({ filePath }) => ({ en: `Saved ${filePath}`, ja: "ワークフローを保存しました" })
})
