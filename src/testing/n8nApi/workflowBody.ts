/** Body of a workflow. */
import {
  type Check,
  fields,
  flag,
  kindOf,
  listOf,
  nullable,
  number,
  oneOf,
  optional,
  readOnly,
  record,
  required,
  text,
  timestamps
} from "./body.ts"

const telemetryTag = fields(required({ key: text, value: text }))

const node = fields({
  ...optional({
    id: text,
    name: text,
    webhookId: text,
    disabled: flag,
    notesInFlow: flag,
    notes: text,
    type: text,
    typeVersion: number,
    executeOnce: flag,
    alwaysOutputData: flag,
    retryOnFail: flag,
    maxTries: number,
    waitBetweenTries: number,
    continueOnFail: flag,
    onError: text,
    position: listOf(number),
    parameters: record,
    credentials: record
  }),
  ...optional({ customTelemetryTags: fields(optional({ tag: listOf(telemetryTag) })) }, "2"),
  ...optional(timestamps)
})

const settings = fields({
  ...optional({
    saveExecutionProgress: flag,
    saveManualExecutions: flag,
    saveDataErrorExecution: oneOf("all", "none"),
    saveDataSuccessExecution: oneOf("all", "none"),
    executionTimeout: number,
    errorWorkflow: text,
    timezone: text,
    executionOrder: text
  }),
  ...optional({ binaryMode: oneOf("separate", "combined") }, "2"),
  ...optional({ callerPolicy: oneOf("any", "none", "workflowsFromAList", "workflowsFromSameOwner"), callerIds: text }),
  ...optional({ timeSavedMode: oneOf("fixed", "dynamic") }, "2"),
  ...optional({ timeSavedPerExecution: number }),
  ...optional({ redactionPolicy: oneOf("none", "non-manual", "manual-only", "all") }, "2"),
  ...optional({ availableInMCP: flag }),
  ...optional({ customTelemetryTags: listOf(telemetryTag), credentialResolverId: text }, "2")
})

const nodeGroup = fields({
  ...required({ id: text, name: text }),
  ...optional({ description: text }),
  ...required({ nodeIds: listOf(text) })
})

const share = fields(optional({
  role: text,
  workflowId: text,
  projectId: text,
  project: fields(optional({ id: readOnly(text), name: text, type: readOnly(text) }), true),
  ...timestamps
}))

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

const workflow = (additional: Readonly<Record<string, Check>>) =>
  fields({
    ...optional({ id: readOnly(text) }),
    ...required({ name: text }),
    ...optional({ active: readOnly(flag), ...timestamps }),
    ...optional({ isArchived: readOnly(), versionId: readOnly(), triggerCount: readOnly() }, "2"),
    ...required({ nodes: listOf(node) }),
    connections: { check: connections, required: "checked" },
    ...required({ settings }),
    ...optional({ nodeGroups: listOf(nodeGroup) }, "2"),
    ...optional({ staticData }),
    ...optional({ pinData: nullable(record), parentFolderId: nullable(text), meta: readOnly() }, "2"),
    ...optional({ tags: readOnly(), shared: listOf(share), activeVersion: readOnly() }),
    ...optional(additional, "2")
  })

export const newWorkflow: Check = workflow({ projectId: text })

export const changedWorkflow: Check = workflow({ description: text })
