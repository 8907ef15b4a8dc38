/** The names of test copies: whose they are, so that what a process left behind is found and removed. */
import { obj, str } from "../../base/Json.ts"
import { nameLength } from "./Limits.ts"

/** What every copy's name begins with. */
export const mark = "effect-n8n-mcp test copy"

const pattern = /^effect-n8n-mcp test copy (?<machine>[\da-z]+)-(?<pid>\d+)-(?<token>[\da-z]+): (?<name>.*)$/s

/** A process on a machine. */
export interface Owner {
  readonly machine: string
  readonly pid: number
}

/** The name of a copy; `token` tells copies of one process apart. */
export const nameOf = (workflow: string, { machine, pid }: Owner, token: string): string =>
  [...`${mark} ${machine}-${pid}-${token}: ${workflow}`].slice(0, nameLength).join("")

/** Whose copy it is; `undefined` where it is none. */
export const ownerOf = (name: string): Owner | undefined => {
  const { machine, pid } = pattern.exec(name)?.groups ?? {}
  return machine === undefined ? undefined : { machine, pid: Number(pid) }
}

/** Whether a name is one that only copies bear. */
export const isTaken = (name: string): boolean => name.startsWith(mark)

/**
 * Whether a workflow is a copy of a test: not by its name alone, which anybody can give, but by the webhook of its own
 * that starts it, whose path begins with the name's token.
 */
export const isCopy = ({ name, nodes }: { readonly name: string; readonly nodes: ReadonlyArray<unknown> }): boolean => {
  const { token } = pattern.exec(name)?.groups ?? {}
  return token !== undefined && nodes.some((node) => {
    const { parameters, type, webhookId } = obj(node) ?? {}
    const path = str(obj(parameters)?.["path"])
    return type === "n8n-nodes-base.webhook" && path !== undefined && path === webhookId && path.startsWith(`${token}-`)
  })
}

/** The name of the workflow that was copied; any other name is its own. */
export const original = (name: string): string => pattern.exec(name)?.groups?.["name"] ?? name

/** After this a copy is left over, whoever made it: milliseconds. */
const maxAge = 3_600_000

/** Whether nobody will come back for it: it is old, or its process is gone. */
export const isLeftover = (
  { createdAt, name }: { readonly name: string; readonly createdAt?: string | undefined },
  now: number,
  isGone: (owner: Owner) => boolean
): boolean => {
  const owner = ownerOf(name)
  return owner !== undefined && (isGone(owner) || now - Date.parse(createdAt ?? "") > maxAge)
}
