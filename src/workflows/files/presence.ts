/** Workflows in files that are not workflow files: whether they contain one, and the ids in them. Pure. */
import { obj, str } from "../../base/Json.ts"

// Repetitions have bounds, so that the time grows with the text alone.
/** A value of a key `id`: of JSON, also as a string in JSON, of YAML, of code. */
const values = /(?<![\w$-])id\\{0,9}["'`]?\s{0,99}[:=]\s{0,99}\\{0,9}["'`]?([\w-]{1,64})/g

/** A key whose object has nodes: workflows by their ids. */
const keys = /["']([\w-]{1,64})\\{0,9}["']\s{0,99}:\s{0,99}\{[^{}]{0,999}["']nodes\\{0,9}["']\s{0,99}:/g

/** Ids of workflows in a text of any format, broken or not; ids of other things may be among them. */
export const presentIds = (text: string): ReadonlySet<string> => {
  const plain = text.replaceAll(/\\u0022|&quot;/g, "\"")
  return new Set([...plain.matchAll(values), ...plain.matchAll(keys)].map(([, id = ""]) => id))
}

const isNode = (value: unknown) =>
  str(obj(value)?.["type"])?.includes(".") === true &&
  ["typeVersion", "parameters", "position"].some((key) => key in (obj(value) ?? {}))

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Number of lists and wrappers around a workflow: a page with a list of `{workflow}` has three. */
const maxDepth = 3

/** Whether a value contains a workflow in any form: alone, in lists, in wrappers, as a string; a run's record does not count. */
export const holdsWorkflow = (value: unknown, depth = 0): boolean => {
  if (typeof value === "string") return /^\s*[[{"]/.test(value) && holdsWorkflow(parsed(value), depth)
  if (Array.isArray(value)) return depth < maxDepth && value.some((each) => holdsWorkflow(each, depth + 1))
  const object = obj(value)
  if (object === undefined || "workflowData" in object) return false
  const nodes = object["nodes"]
  if (Array.isArray(nodes) && nodes.some(isNode)) return true
  return depth < maxDepth && Object.values(object).some((each) => holdsWorkflow(each, depth + 1))
}
