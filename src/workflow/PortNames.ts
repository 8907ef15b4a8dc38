/** Ports as people write them: `main`, `1`, `main[1]`, `ai_tool`, or a label. */
import * as Result from "effect/Result"
import type { Port } from "../catalogue/types/Ports.ts"
import * as Connections from "../n8n/model/Connections.ts"

export type Reference = string | number | undefined

/** An existing port, or the error output that `onError: continueErrorOutput` adds. */
export interface ResolvedPort extends Connections.Port {
  readonly isNewError?: boolean
}

/** A node with the ports that are known. */
export interface Ports {
  readonly name: string
  readonly inputs?: ReadonlyArray<Port> | undefined
  readonly outputs?: ReadonlyArray<Port> | undefined
}

export interface Unclear {
  readonly message: string
  readonly hint: string
}

const fold = (text: string) => text.trim().toLowerCase()

/** `main[1] 'false'` */
export const label = (port: Port): string =>
  Connections.portLabel(port) + (port.name === undefined ? "" : ` '${port.name}'`)

export const choices = (node: Ports, side: "input" | "output"): string => {
  const ports = side === "input" ? node.inputs : node.outputs
  if (ports === undefined) return `The ${side}s of '${node.name}' are not known: use an index or a connection type.`
  return ports.length === 0
    ? `'${node.name}' has no ${side}s.`
    : `'${node.name}' has the ${side}${ports.length === 1 ? "" : "s"} ${ports.map(label).join(", ")}.`
}

const explicit = (reference: string, type: string): Connections.Port | undefined => {
  if (/^\d{1,4}$/.test(reference)) return { type, index: Number(reference) }
  if (Connections.isType(reference)) return { type: reference, index: 0 }
  const [, kind, index] = /^(main|ai_\w+)\[(\d{1,4})\]$/.exec(reference) ?? []
  return kind === undefined ? undefined : { type: kind, index: Number(index) }
}

export const connectionTypeOf = (reference: Reference): string | undefined =>
  /^(main|ai_\w+)(?:\[\d+\])?$/.exec(String(reference).trim())?.[1]

const named = (ports: ReadonlyArray<Port>, reference: string): ReadonlyArray<Port> => {
  const exact = ports.filter(({ name }) => name?.trim() === reference)
  return exact.length > 0 ? exact : ports.filter(({ name }) => name !== undefined && fold(name) === fold(reference))
}

const newError = ({ outputs = [] }: Ports): ResolvedPort | undefined => {
  const index = outputs.filter(({ type }) => type === "main").length
  return index === 0 ? undefined : { type: "main", index, isNewError: true }
}

/** Resolves a reference to a port; `type` is that of a bare index. By type and index the port may not exist. */
export const resolvePort = (
  node: Ports,
  side: "input" | "output",
  port: string | number,
  type: string
): Result.Result<ResolvedPort, Unclear> => {
  const reference = String(port).trim()
  const ports = (side === "input" ? node.inputs : node.outputs) ?? []
  const byNumber = explicit(reference, type)
  const byName = named(ports, reference)
  const [first] = byName
  const unclear = (message: string) => Result.fail({ message, hint: choices(node, side) })
  if (byName.length > 1) {
    return unclear(`'${node.name}' has ${byName.length} ${side}s '${reference}': choose one by index.`)
  }
  if (first !== undefined) {
    const isOther = byNumber !== undefined && (byNumber.type !== first.type || byNumber.index !== first.index) &&
      ports.some((port) => port.type === byNumber.type && port.index === byNumber.index)
    return isOther
      ? unclear(`'${reference}' is the name of one ${side} of '${node.name}' and the index of another.`)
      : Result.succeed({ type: first.type, index: first.index })
  }
  if (byNumber !== undefined) return Result.succeed(byNumber)
  const error = side === "output" && fold(reference) === "error" ? newError(node) : undefined
  return error === undefined ? unclear(`'${node.name}' has no ${side} '${reference}'.`) : Result.succeed(error)
}
