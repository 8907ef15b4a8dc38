/** The names of test copies, which identify the owner, so that abandoned copies can be found and removed. */
import { nameLength } from "../n8n/model/Limits.ts"

/** The prefix of every copy's name. */
export const mark = "effect-n8n-mcp test copy"

const pattern = /^effect-n8n-mcp test copy ([\da-z]+)-(\d+)-[\da-z]+: (.*)$/s

/** A process on a machine. */
export interface Owner {
  readonly machine: string
  readonly pid: number
}

/** The name of a copy; `token` distinguishes the copies of one process. */
export const nameOf = (workflow: string, { machine, pid }: Owner, token: string): string =>
  [...`${mark} ${machine}-${pid}-${token}: ${workflow}`].slice(0, nameLength).join("")

/** The owner in a copy's name; `undefined` for any other name. */
export const ownerOf = (name: string): Owner | undefined => {
  const [, machine, pid] = pattern.exec(name) ?? []
  return machine === undefined ? undefined : { machine, pid: Number(pid) }
}

/** The name of the workflow that was copiedNodes; any other name is returned as it is. */
export const originalName = (name: string): string => pattern.exec(name)?.[3] ?? name

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
