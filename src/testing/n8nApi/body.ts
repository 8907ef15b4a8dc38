/** What the API takes as a body, and what is wrong with another one: one fault an answer, in the words of each n8n. */
import type { Major } from "./server.ts"

/** Says what is wrong with a value; nothing when all is well. */
export type Check = (value: unknown, path: string, version: Major) => string | undefined

interface Field {
  readonly check: Check
  /** `"checked"`: 2.x does not look whether it is there, but what it is. */
  readonly required?: true | "checked"
  readonly in?: Major
}

const kindOf = (value: unknown) => value === null ? "null" : Array.isArray(value) ? "array" : typeof value

const is = (kind: string): Check => (value, path, version) => {
  if (kindOf(value) === kind) return undefined
  return version === "2" ? `${path} Expected ${kind}, received ${kindOf(value)}` : `${path} must be ${kind}`
}

const text = is("string")
const number = is("number")
const flag = is("boolean")
const record = is("object")

const oneOf = (...values: ReadonlyArray<string>): Check => (value, path, version) => {
  if (typeof value === "string" && values.includes(value)) return undefined
  if (version === "1") {
    const allowed = `${path} must be equal to one of the allowed values: ${values.join(", ")}`
    return text(value, path, version) ?? allowed
  }
  const expected = values.map((each) => `'${each}'`).join(" | ")
  return typeof value === "string"
    ? `${path} Invalid enum value. Expected ${expected}, received '${value}'`
    : `${path} Expected ${expected}, received ${kindOf(value)}`
}

const listOf = (item: Check): Check => (value, path, version) => {
  if (!Array.isArray(value)) return is("array")(value, path, version)
  return firstOf(value.map((each, index) => item(each, `${path}/${index}`, version)))
}

const nullable = (check: Check): Check => (value, ...where) => value === null ? undefined : check(value, ...where)

/** 1.x looks at the type first where it is a simple one, and is at a loss for words when another is null. */
const readOnly = (check?: Check): Check => (value, path, version) => {
  if (version === "2") return `${path} is read-only`
  if (check === undefined && value === null) return `${path} must pass "readOnly" keyword validation`
  return check?.(value, path, version) ?? `${path} is read-only`
}

const firstOf = (problems: ReadonlyArray<string | undefined>) => problems.find((problem) => problem !== undefined)

/** n8n 2 looks at the fields in its own order and at unknown keys last; n8n 1 at what lacks, what is unknown, the rest. */
const fields = (all: Readonly<Record<string, Field>>, isOpen = false): Check => (value, path, version) => {
  if (kindOf(value) !== "object") return record(value, path, version)
  const given = value as Readonly<Record<string, unknown>>
  const known = Object.entries(all).filter(([, field]) => field.in === undefined || field.in === version)
  const unknown = isOpen ? [] : Object.keys(given).filter((key) => !known.some(([name]) => name === key))
  const missing = known.map(([key, { required }]) =>
    required !== undefined && given[key] === undefined ? `${path} must have required property '${key}'` : undefined
  )
  const wrong = known.map(([key, { check, required }], index) => {
    const isChecked = given[key] !== undefined || (required === "checked" && version === "2")
    return isChecked ? check(given[key], `${path}/${key}`, version) : missing[index]
  })
  const strange = unknown.length === 0
    ? undefined
    : version === "2"
    ? `${path} Unrecognized key(s) in object: ${unknown.map((key) => `'${key}'`).join(", ")}`
    : `${path} must NOT have additional properties`
  return firstOf(version === "2" ? [...wrong, strange] : [...missing, strange, ...wrong])
}

const optional = (checks: Readonly<Record<string, Check>>, version?: Major): Readonly<Record<string, Field>> =>
  Object.fromEntries(
    Object.entries(checks).map(([key, check]) => [key, { check, ...(version !== undefined && { in: version }) }])
  )

const stamps = { createdAt: readOnly(text), updatedAt: readOnly(text) }

const telemetryTag = fields({ key: { check: text, required: true }, value: { check: text, required: true } })

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
  ...optional(stamps)
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
  id: { check: text, required: true },
  name: { check: text, required: true },
  description: { check: text },
  nodeIds: { check: listOf(text), required: true }
})

const share = fields(optional({
  role: text,
  workflowId: text,
  projectId: text,
  project: fields(optional({ id: readOnly(text), name: text, type: readOnly(text) }), true),
  ...stamps
}))

/** n8n 2 says so even when there are none. */
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

const workflow = (more: Readonly<Record<string, Check>>) =>
  fields({
    ...optional({ id: readOnly(text) }),
    name: { check: text, required: true },
    ...optional({ active: readOnly(flag), ...stamps }),
    ...optional({ isArchived: readOnly(), versionId: readOnly(), triggerCount: readOnly() }, "2"),
    nodes: { check: listOf(node), required: true },
    connections: { check: connections, required: "checked" },
    settings: { check: settings, required: true },
    ...optional({ nodeGroups: listOf(nodeGroup) }, "2"),
    ...optional({ staticData }),
    ...optional({ pinData: nullable(record), parentFolderId: nullable(text), meta: readOnly() }, "2"),
    ...optional({ tags: readOnly(), shared: listOf(share), activeVersion: readOnly() }),
    ...optional(more, "2")
  })

/** `POST /workflows`. */
export const newWorkflow: Check = workflow({ projectId: text })

/** `PUT /workflows/{id}`. */
export const changedWorkflow: Check = workflow({ description: text })

const ofVersion = fields(optional({ versionId: text, name: text, description: text }), true)

/** `POST /workflows/{id}/publish` and `/activate`, which on 1.x take no notice of a body. */
export const publication: Check = (value, path, version) =>
  version === "1" ? undefined : ofVersion(value, path, version)

/** `PUT /workflows/{id}/tags`. */
export const tagIds: Check = listOf(fields({ id: { check: text, required: true } }))

/** `POST /tags`. */
export const newTag: Check = fields({ ...optional({ id: readOnly(text) }), name: { check: text, required: true } })

/** `POST /credentials`; whether its data fits its type is not looked at. */
export const newCredential: Check = fields({
  name: { check: text, required: true },
  type: { check: text, required: true },
  data: { check: record, required: true }
}, true)

/** `POST /executions/{id}/retry`. */
export const retry: Check = fields(optional({ loadWorkflow: flag }), true)
