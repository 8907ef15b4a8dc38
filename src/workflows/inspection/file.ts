/** Workflows in the JSON of a file, and files that look like broken ones. Pure. */
import { type Obj, obj, str } from "../../base/Json.ts"

/** Keys of exported workflows. */
const keys: ReadonlySet<string> = new Set(
  ("active activeVersion activeVersionId connections createdAt description id isArchived meta name nodeGroups nodes " +
    "parentFolder parentFolderId pinData projectId settings shared staticData tags triggerCount updatedAt " +
    "versionCounter versionId").split(" ")
)

const isNode = (value: unknown) => {
  const node = obj(value)
  return node !== undefined && (str(node["type"]) ?? "").includes(".") &&
    ("typeVersion" in node || "parameters" in node || "position" in node)
}

/** Whether a value is a workflow, or was to be one. */
const isWorkflow = (value: unknown): value is Obj => {
  const object = obj(value)
  if (object === undefined || !("nodes" in object)) return false
  const { connections, nodes } = object
  return Array.isArray(nodes)
    ? nodes.some(isNode) || nodes.length === 0 && obj(connections) !== undefined
    : obj(connections) !== undefined || Object.keys(object).every((key) => keys.has(key))
}

export interface Inside {
  readonly workflow: Obj
  /** Its path in the file: ``, `[3].`, `workflow.` */
  readonly prefix: string
}

/** Workflows in a value: itself, each of a list, or one in a wrapper. */
export const workflowsIn = (value: unknown, prefix = "", depth = 0): ReadonlyArray<Inside> => {
  if (isWorkflow(value)) return [{ workflow: value, prefix }]
  if (depth > 3) return []
  if (Array.isArray(value)) {
    return value.flatMap((each, index) => workflowsIn(each, `${prefix.replace(/\.$/, "")}[${index}].`, depth + 1))
  }
  const object = obj(value)
  return ["workflow", "data"].flatMap((key) => {
    const inner = object?.[key]
    if (typeof inner !== "object" || inner === null) return []
    return workflowsIn(inner, `${prefix}${key}.`, depth + 1).map(({ prefix, workflow }) => ({
      prefix,
      workflow: "name" in workflow || object?.["name"] === undefined ? workflow : { name: object["name"], ...workflow }
    }))
  })
}

/** Whether a text that cannot be parsed looks like a workflow. */
export const looksBroken = (text: string): boolean =>
  /"nodes"\s*:/.test(text) && /"(?:connections|typeVersion)"\s*:|n8n-nodes-/.test(text)
