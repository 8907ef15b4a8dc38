/** The names of test copies, which identify the owner, so that abandoned copies can be found and removed. */
import { obj, str } from "../../base/Json.ts"
import { mapStrings } from "../../base/JsonPath.ts"
import { nameLength } from "./Limits.ts"

export const mark = "effect-n8n-mcp test copy"

const pattern = /^effect-n8n-mcp test copy (?<machine>[\da-z]+)-(?<pid>\d+)-(?<token>[\da-z]+): (?<name>.*)$/s

export interface Owner {
  readonly machine: string
  readonly pid: number
}

/** The name of a copy; `token` distinguishes the copies of one process. */
export const nameOf = (workflow: string, { machine, pid }: Owner, token: string): string =>
  [...`${mark} ${machine}-${pid}-${token}: ${workflow}`].slice(0, nameLength).join("")

/** The owner in a copy's name; `undefined` for any other name. */
export const ownerOf = (name: string): Owner | undefined => {
  const { machine, pid } = pattern.exec(name)?.groups ?? {}
  return machine === undefined ? undefined : { machine, pid: Number(pid) }
}

/** Whether a name is one that only copies bear. */
export const isTaken = (name: string): boolean => name.startsWith(mark)

/** Whether a workflow is a copy of a test: by the webhook of its own that starts it, not by its name alone. */
export const isCopy = ({ name, nodes }: { readonly name: string; readonly nodes: ReadonlyArray<unknown> }): boolean => {
  const { token } = pattern.exec(name)?.groups ?? {}
  return token !== undefined && nodes.some((node) => {
    const { parameters, type, webhookId } = obj(node) ?? {}
    const path = str(obj(parameters)?.["path"])
    return type === "n8n-nodes-base.webhook" && path !== undefined && path === webhookId && path.startsWith(`${token}-`)
  })
}

/** The name of the workflow that was copied; any other name is returned as it is. */
export const originalName = (name: string): string => pattern.exec(name)?.groups?.["name"] ?? name

/** Name and id of a workflow, and of its copy. */
export interface Pair {
  readonly copy: { readonly id: string; readonly name: string }
  /** Without an id, the copy's id remains. */
  readonly original: { readonly id?: string | undefined; readonly name: string }
}

/** The mark before a name, also in an address. */
const marks = /effect-n8n-mcp(?: |%20|\+)test(?: |%20|\+)copy(?: |%20|\+)[\da-z]+-\d+-[\da-z]+(?::|%3A)(?: |%20|\+)/g

/** A text, or JSON, that a copy's run holds, with the name and the id of the workflow that was copied. */
export const originalText = ({ copy, original }: Pair, text: string, isJson: boolean): string => {
  const written = (name: string) => isJson ? JSON.stringify(name).slice(1, -1) : name
  const named = text.includes("effect-n8n-mcp")
    // A long name is cut in the copy.
    ? text.replaceAll(written(copy.name), () => written(original.name)).replace(marks, "")
    : text
  return original.id === undefined ? named : named.replaceAll(copy.id, original.id)
}

/** Comments around a node's own code in a copy that surrounds it with code of ours. */
export const codeStart = "/*effect-n8n-mcp: start of the node's code*/"
export const codeEnd = "/*effect-n8n-mcp: end of the node's code*/"

const withoutSurroundings = (text: string): string => {
  const start = text.indexOf(codeStart)
  const end = text.lastIndexOf(codeEnd)
  return start === -1 || end < start ? text : text.slice(start + codeStart.length, end).replace(/\n$/, "")
}

/** The parameters of a node of the workflow that was copied, by those in the copy. */
export const originalParameters = <A>(parameters: A): A => mapStrings(parameters, withoutSurroundings) as A

/** The age in milliseconds after which any copy counts as abandoned. */
const maxAge = 3_600_000

/** Whether a workflow is an abandoned copy: it is old, or its process has ended. */
export const isLeftover = (
  { createdAt, name }: { readonly name: string; readonly createdAt?: string | undefined },
  now: number,
  isGone: (owner: Owner) => boolean
): boolean => {
  const owner = ownerOf(name)
  return owner !== undefined && (isGone(owner) || now - Date.parse(createdAt ?? "") > maxAge)
}
