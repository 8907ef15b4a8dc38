/** Body of a workflow. */
import { type Check, kindOf, of, type Shape } from "./body.ts"
import shapes from "./workflowBody.json" with { type: "json" }

/** 2.x returns this error for missing connections too. */
const connections: Check = (value, path) => kindOf(value) === "object" ? undefined : `${path} must be object`

const isJson = (value: string) => {
  try {
    JSON.parse(value)
    return true
  } catch {
    return false
  }
}

const staticData: Check = (value, path, version) => {
  if (kindOf(value) === "object" || value === null) return undefined
  if (typeof value === "string" && isJson(value)) return undefined
  if (version === "2") return `${path} ${typeof value === "string" ? "must be a JSON string" : "Invalid input"}`
  const first = typeof value === "string" ? "must match format \"jsonString\"" : "must be string"
  return [first, "must be object", "must match a schema in anyOf"].map((problem) => `${path} ${problem}`).join(", ")
}

const workflow = (additional: Shape & object) =>
  of({
    id: "readOnly text",
    "name!": "text",
    active: "readOnly flag",
    createdAt: "readOnly text",
    updatedAt: "readOnly text",
    "isArchived@2": "readOnly",
    "versionId@2": "readOnly",
    "triggerCount@2": "readOnly",
    "nodes!": [shapes.node],
    "connections!": connections,
    "settings!": shapes.settings,
    "nodeGroups@2": [shapes.nodeGroup],
    staticData,
    "pinData@2": "nullable record",
    "parentFolderId@2": "nullable text",
    "meta@2": "readOnly",
    tags: "readOnly",
    shared: [shapes.share],
    activeVersion: "readOnly",
    ...additional
  })

export const newWorkflow: Check = workflow({ "projectId@2": "text" })

export const changedWorkflow: Check = workflow({ "description@2": "text" })
