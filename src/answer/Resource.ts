/** Resources: tools' answers under a URI, which a person or client can attach without a call. */
import * as Effect from "effect/Effect"
import type * as Errors from "../base/Errors.ts"
import * as Tool from "./Tool.ts"

/** Completes a value that a person is typing; clients receive at most 100 proposals. */
export type Complete<out R = unknown> = (prefix: string) => Effect.Effect<ReadonlyArray<string>, Errors.Failure, R>

/** Entry of a list of resources. */
export interface Entry {
  readonly id: string
  readonly title: string
  readonly description?: string
}

/** Kind of resource. */
export interface Resource<out R = unknown> {
  readonly name: string
  readonly title: string
  readonly description: string
  /** Template with one variable at its end: `n8n://node/{type}`. */
  readonly uriTemplate: string
  /** Media type of its text. Default: `application/json`. */
  readonly mimeType?: string
  /** Resources that always exist, listed first. */
  readonly entries?: ReadonlyArray<Entry>
  /** Name of the tool that reads it or that it documents; the resource is served only together with this tool. */
  readonly tool: string
  /** Text of the resource with this id, within the budget. */
  readonly read: (id: string) => Effect.Effect<string, Errors.Failure, R>
  readonly complete: Complete<R>
  /** Lists the resources by page; absent if there are too many to list. */
  readonly list?: (
    cursor: string | undefined
  ) => Effect.Effect<
    { readonly entries: ReadonlyArray<Entry>; readonly nextCursor?: string | undefined },
    Errors.Failure,
    R
  >
}

const variable = (uriTemplate: string) => uriTemplate.slice(uriTemplate.lastIndexOf("{") + 1, -1)

/** Makes a resource that is read by a call of the served tool, with `args` and the id as the template's variable. */
export const ofTool = <R = never>(
  { args, tool, ...resource }: Omit<Resource<R>, "read" | "tool"> & {
    readonly tool: Tool.Any
    readonly args?: Readonly<Record<string, unknown>>
  }
): Resource<R> => ({
  ...resource,
  tool: tool.name,
  read: (id) =>
    Tool.served(tool).pipe(
      Effect.flatMap(({ run }) => run({ ...args, [variable(resource.uriTemplate)]: id })),
      Effect.map(({ data }) => JSON.stringify(data))
    )
})

const prefix = ({ uriTemplate }: Resource) => uriTemplate.slice(0, uriTemplate.lastIndexOf("{"))

/** URI of the resource with this id. */
export const uri = (resource: Resource, id: string): string => prefix(resource) + encodeURIComponent(id)

/** Finds the resource of a URI and its id, which may be percent-encoded. @internal */
export const find = <R>(
  resources: ReadonlyArray<Resource<R>>,
  uri: string
): { readonly resource: Resource<R>; readonly id: string } | undefined => {
  for (const resource of resources) {
    const start = prefix(resource)
    if (!uri.startsWith(start) || uri.length === start.length) continue
    try {
      return { resource, id: decodeURIComponent(uri.slice(start.length)) }
    } catch {
      return undefined
    }
  }
  return undefined
}
