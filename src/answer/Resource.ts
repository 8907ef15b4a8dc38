/** A resource is what a tool answers, under a URI: what a person or client can attach without a call. */
import * as Effect from "effect/Effect"
import type * as Errors from "../base/Errors.ts"
import type * as Tool from "./Tool.ts"

/** Proposes values for what somebody has begun to write; at most a hundred are shown. */
export type Complete<out R = unknown> = (begun: string) => Effect.Effect<ReadonlyArray<string>, Errors.N8nError, R>

/** One resource in a list. */
export interface Entry {
  readonly id: string
  /** What a person picks it by. */
  readonly title: string
}

/** Resources of one kind. */
export interface Resource<out R = unknown> {
  readonly name: string
  readonly title: string
  readonly description: string
  /** With one variable at its end: `n8n://node/{type}`. */
  readonly uriTemplate: string
  /** The type of what is read; JSON where it is absent. */
  readonly mimeType?: string
  /** Those that are always there: listed first. */
  readonly entries?: ReadonlyArray<Entry>
  /** The tool that answers, or that it belongs to: where it is not served, neither is the resource. */
  readonly tool: string
  /** Text inside the budget, of the resource with this id. */
  readonly read: (id: string) => Effect.Effect<string, Errors.N8nError, R>
  readonly complete: Complete<R>
  /** Those that there are, a page at a time; none where there are too many to list. */
  readonly list?: (
    cursor: string | undefined
  ) => Effect.Effect<
    { readonly entries: ReadonlyArray<Entry>; readonly nextCursor?: string | undefined },
    Errors.N8nError,
    R
  >
}

const variable = (uriTemplate: string) => uriTemplate.slice(uriTemplate.lastIndexOf("{") + 1, -1)

/** What a tool answers when it is given an id as the template's variable, and `args`. */
export const ofTool = <RT, RC, RL = never>(
  { args, tool, ...resource }: Omit<Resource<RC | RL>, "read" | "tool"> & {
    readonly tool: Tool.Any<RT>
    readonly args?: Readonly<Record<string, unknown>>
  }
): Resource<RT | RC | RL> => ({
  ...resource,
  tool: tool.name,
  read: (id) =>
    Effect.map(
      tool.run({ ...args, [variable(resource.uriTemplate)]: id }),
      ({ data }) => JSON.stringify(data)
    )
})

const prefix = ({ uriTemplate }: Resource) => uriTemplate.slice(0, uriTemplate.lastIndexOf("{"))

/** The URI of one of them. */
export const uri = (resource: Resource, id: string): string => prefix(resource) + encodeURIComponent(id)

/** The resource that a URI is of, and its id; ids may be percent-encoded. */
export const find = <R>(
  resources: ReadonlyArray<Resource<R>>,
  uri: string
): { readonly resource: Resource<R>; readonly id: string } | undefined => {
  for (const resource of resources) {
    const beginning = prefix(resource)
    if (!uri.startsWith(beginning) || uri.length === beginning.length) continue
    try {
      return { resource, id: decodeURIComponent(uri.slice(beginning.length)) }
    } catch {
      return undefined
    }
  }
  return undefined
}
