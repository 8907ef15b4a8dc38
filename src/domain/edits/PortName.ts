/** Ports as callers name them: `main`, `1`, `main[1]`, `ai_tool`, or the name a person sees. */
import * as Result from "effect/Result"
import * as Connections from "../Connections.ts"
import type { Port } from "../nodes/Ports.ts"
import type { Node } from "../problems/CheckedWorkflow.ts"

/** How a port is said; absent where it is left to the node. */
export type Said = string | number | undefined

/** Which port is meant; `error` is one that a node has once it is told to. */
export interface Meant extends Connections.Port {
  readonly isNewError?: boolean
}

/** A node as far as its ports are concerned; they are absent where they cannot be told. */
export type Ports = Pick<Node, "name"> & Partial<Pick<Node, "inputs" | "outputs">>

/** Why none is. */
export interface Unclear {
  readonly message: string
  readonly hint: string
}

const fold = (text: string) => text.trim().toLowerCase()

/** `main[0] 'true', main[1] 'false'` */
const listed = (ports: ReadonlyArray<Port>): string =>
  ports.map((port) => Connections.portLabel(port) + (port.name === undefined ? "" : ` '${port.name}'`)).join(", ")

/** What there is to choose from. */
export const choices = (node: Ports, side: "input" | "output"): string => {
  const ports = side === "input" ? node.inputs : node.outputs
  if (ports === undefined) return `The ${side}s of '${node.name}' are not known: say an index or a connection type.`
  return ports.length === 0
    ? `'${node.name}' has no ${side}s.`
    : `'${node.name}' has the ${side}${ports.length === 1 ? "" : "s"} ${listed(ports)}.`
}

const isType = (text: string) => /^(?:main|ai_\w+)$/.test(text)

/** The type and index that are said as such. */
const explicit = (said: string, type: string): Connections.Port | undefined => {
  if (/^\d{1,4}$/.test(said)) return { type, index: Number(said) }
  if (isType(said)) return { type: said, index: 0 }
  const [, kind, index] = /^(main|ai_\w+)\[(\d{1,4})\]$/.exec(said) ?? []
  return kind === undefined ? undefined : { type: kind, index: Number(index) }
}

/** The connection type that is said, where one is. */
export const typeSaid = (said: Said): string | undefined => /^(main|ai_\w+)(?:\[\d+\])?$/.exec(String(said).trim())?.[1]

const named = (ports: ReadonlyArray<Port>, said: string): ReadonlyArray<Port> => {
  const exact = ports.filter(({ name }) => name?.trim() === said)
  return exact.length > 0 ? exact : ports.filter(({ name }) => name !== undefined && fold(name) === fold(said))
}

/** The output for errors that the node would have. */
const newError = ({ outputs = [] }: Ports): Meant | undefined => {
  const index = outputs.filter(({ type }) => type === "main").length
  return index === 0 ? undefined : { type: "main", index, isNewError: true }
}

/**
 * The port that is meant; `type` is the connection type of an index that stands alone.
 *
 * **Details**
 *
 * What is said by type and index is taken as said, whether there is such a port or not.
 */
export const meant = (
  node: Ports,
  side: "input" | "output",
  given: string | number,
  type: string
): Result.Result<Meant, Unclear> => {
  const said = String(given).trim()
  const ports = (side === "input" ? node.inputs : node.outputs) ?? []
  const byNumber = explicit(said, type)
  const byName = named(ports, said)
  const [first] = byName
  const unclear = (message: string) => Result.fail({ message, hint: choices(node, side) })
  if (byName.length > 1) return unclear(`'${node.name}' has ${byName.length} ${side}s '${said}': say which by index.`)
  if (first !== undefined) {
    const isOther = byNumber !== undefined && (byNumber.type !== first.type || byNumber.index !== first.index) &&
      ports.some((port) => port.type === byNumber.type && port.index === byNumber.index)
    return isOther
      ? unclear(`'${said}' is the name of one ${side} of '${node.name}' and the index of another.`)
      : Result.succeed({ type: first.type, index: first.index })
  }
  if (byNumber !== undefined) return Result.succeed(byNumber)
  const error = side === "output" && fold(said) === "error" ? newError(node) : undefined
  return error === undefined ? unclear(`'${node.name}' has no ${side} '${said}'.`) : Result.succeed(error)
}
