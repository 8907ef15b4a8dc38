import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import * as Errors from "../../base/Errors.ts"
import { type Obj, obj, str } from "../../base/Json.ts"
import { workflowKeys } from "../../n8n/model/WorkflowKeys.ts"
import * as JsonText from "../../workflows/files/JsonText.ts"
import { WorkflowFiles } from "../../workflows/files/WorkflowFiles.ts"
import * as Placeholders from "../../workflows/Placeholders.ts"
import { placeOf } from "../../workflows/WorkflowPlace.ts"
import * as Workflows from "../../workflows/Workflows.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

/** A new file holds a workflow and nothing that another program could read in it. */
const onlyWorkflow = (data: Obj) => {
  const foreign = Object.keys(data).filter((key) => !workflowKeys.has(key))
  return foreign.length === 0 ? Effect.void : Effect.fail(
    new Errors.ValidationError({
      reason: `workflowData has keys that no workflow has: ${foreign.slice(0, 8).join(", ")}`,
      field: "workflowData",
      hint: "Nothing was written. Leave them out."
    })
  )
}

/** Writes a workflow's JSON into a file; a workflow that was there is kept as a snapshot. */
export const workflowSave = Tool.make({
  name: "workflow_save",
  title: "Save workflow to file",
  searchHint: "export, write, back up a workflow as JSON",
  description:
    "Write a workflow's JSON to a .json file under the files root, for example to keep one from n8n in git. Undo: workflow_restore.",
  annotations: { ...Tool.destructive, openWorldHint: false },
  scopes: [],
  input: Schema.Struct({
    workflowId: Schema.String.annotate({ description: "Its id; written to the file if workflowData has none." }),
    workflowData: writing.jsonObject("The whole workflow: {name, nodes, connections, settings}."),
    filePath: parameters.required("File path", "Where: a .json path under the files root.")
  }),
  output: Schema.Struct({ filePath: Schema.String }),
  handler: ({ filePath, workflowData, workflowId }) =>
    Effect.gen(function*() {
      if (!Array.isArray(workflowData["nodes"]) || obj(workflowData["connections"]) === undefined) {
        return yield* new Errors.ValidationError({
          reason: "workflowData is no workflow: it needs 'nodes' (a list) and 'connections' (an object)",
          field: "workflowData",
          hint: "Nothing was written. Pass the whole workflow, as workflow_load returns it."
        })
      }
      const isLive = workflowId !== "" && placeOf(workflowId).kind === "n8n"
      const data = str(workflowData["id"]) === undefined && isLive ? { ...workflowData, id: workflowId } : workflowData
      const files = yield* WorkflowFiles
      return yield* files.save(
        filePath,
        (before) =>
          Effect.gen(function*() {
            if (before === undefined) yield* onlyWorkflow(data)
            const workflow = yield* Placeholders.restore(data, before?.value)
            return JsonText.rewrite(before?.text ?? "", workflow)
          }),
        Workflows.keepFile("workflow_save")
      )
    }),
  summarize: ({ path }) => ({ filePath: path }),
  message: ({ filePath }) => ({ en: `Saved ${filePath}`, ja: "ワークフローを保存しました" })
})
