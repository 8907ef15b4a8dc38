/** n8n's limits, and our own. */
import { arr, type Obj, obj } from "../../base/Json.ts"
import { member } from "../../base/JsonPath.ts"
import { maxValues } from "../../base/JsonSize.ts"
import { digits } from "../../base/Plural.ts"

export const maxPage = 250

/** The longest name of a workflow; n8n counts code points. */
export const nameLength = 128

/** The longest id of a node: on PostgreSQL a workflow whose trigger has a longer one can never be unpublished. */
export const nodeIdLength = 36

/** Why n8n refuses a workflow's name as too long; `undefined` if it does not. */
export const nameFault = (name: string): string | undefined => {
  const { length } = [...name]
  return length > nameLength
    ? `The workflow's name has ${length} characters; n8n allows ${nameLength}.`
    : undefined
}

/** Maximum length of a tag's name, in characters as n8n counts them. */
const tagLength = 24

/** Characters of a tag's name; one that chooses between a symbol and an emoji does not count. */
const lengthOf = (name: string) => [...name.replaceAll(/[\uFE0E\uFE0F]/g, "")].length

/** Reason why n8n refuses names of tags, of which it says that they exist already; `undefined` if it does not. */
export const tagsFault = (names: ReadonlyArray<string>): string | undefined => {
  const fault = names.map((name) => name.trim()).find((name) => name === "" || lengthOf(name) > tagLength)
  return fault === undefined
    ? undefined
    : `${
      fault === "" ? "A tag has no name" : `The tag '${fault.slice(0, 60)}' has ${lengthOf(fault)} characters`
    }; n8n allows 1 to ${tagLength}, without spaces at either end.`
}

/** The largest workflow that is checked or written; the characters are those of its JSON's texts and names. */
const largest = { nodes: 2_000, connections: 20_000, values: maxValues, characters: 8 * 1024 * 1024 }

/** Maximum number of keys of a node, several times those that n8n knows. */
const nodeKeys = 100

/** Counts a value's inner values and characters, at most a little beyond the largest. */
const measure = (value: unknown) => {
  const stack = [value]
  let [values, characters] = [0, 0]
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    values++
    if (typeof top === "string") characters += top.length
    else if (Array.isArray(top)) { for (const each of top) stack.push(each ?? 0) }
    else if (typeof top === "object" && top !== null) {
      for (const key in top) {
        characters += key.length
        stack.push((top as Obj)[key] ?? 0)
      }
    }
    if (values + stack.length > 2 * largest.values || characters > largest.characters) break
  }
  return { values: values + stack.length, characters }
}

const linksIn = (connections: unknown): number => {
  let count = 0
  for (const types of Object.values(obj(connections) ?? {})) {
    for (const outputs of Object.values(obj(types) ?? {})) {
      for (const targets of arr(outputs)) count += arr(targets).length
    }
  }
  return count
}

/** Why a workflow is too large to be checked or written; `undefined` if it is not. */
export const sizeFault = (workflow: Obj): string | undefined => {
  const crowded = arr(workflow["nodes"]).findIndex((node) => Object.keys(obj(node) ?? {}).length > nodeKeys)
  if (crowded >= 0) return `${member("nodes", crowded)} has more than ${nodeKeys} keys, which no node has.`
  const counts = {
    nodes: arr(workflow["nodes"]).length,
    connections: linksIn(workflow["connections"]),
    ...measure(workflow)
  }
  const over = (Object.keys(largest) as ReadonlyArray<keyof typeof largest>).find((key) => counts[key] > largest[key])
  return over &&
    `The workflow has more than ${digits(largest[over])} ${over}: move parts of it into sub-workflows.`
}
