import * as Schema from "effect/Schema"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined, obj } from "../../base/Json.ts"
import * as Workflows from "../../workflows/Workflows.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

/** Reads a workflow's JSON from n8n, a file or a draft. */
export const workflowLoad = Tool.make({
  name: "workflow_load",
  title: "Load workflow",
  searchHint: "read a workflow JSON file or draft, export from n8n",
  description: "Read a workflow's complete JSON; get_workflow costs less.",
  annotations: Tool.readOnly,
  scopes: ["workflow:read"],
  input: Schema.Struct({ workflowIdOrPath: parameters.reference }),
  output: Schema.Struct({
    workflowId: Schema.String,
    source: Schema.Literals(["n8n", "file", "draft"]),
    workflowData: Schema.Json,
    warnings: Schema.optionalKey(Schema.Array(Schema.String))
  }),
  handler: ({ workflowIdOrPath }) => Workflows.open(workflowIdOrPath, "workflowIdOrPath"),
  summarize: ({ notes, place, repairs, value }, { workflowIdOrPath }) => {
    const workflow = obj(value)
    return defined({
      workflowId: workflowIdOrPath,
      source: place.kind,
      workflowData: (workflow === undefined ? value : writing.withoutCopies(workflow)) as Schema.Json,
      warnings: repairs.length + notes.length === 0 ? undefined : [...repairs, ...notes]
    })
  },
  next: ({ workflowIdOrPath }) => (path, count) =>
    path === "workflowData.nodes"
      ? Hints.call("get_workflow", { id: workflowIdOrPath, nodes: ["*"], offset: count })
      : path.startsWith("workflowData.connections")
      ? Hints.call("get_workflow_connections", { id: workflowIdOrPath })
      : undefined,
  message: ({ source, workflowId }) => ({
    en: `Loaded ${source === "n8n" ? "workflow " : ""}'${workflowId}'`,
    ja: "ワークフローを読み込みました"
  })
})
