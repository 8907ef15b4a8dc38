/** A resource is what a tool answers, under a URI: what a person or client can attach without a call. */
import * as Effect from "effect/Effect"
import type * as N8nError from "./N8nError.ts"
import type * as Tool from "./Tool.ts"

/** Resources of one kind. */
export interface Resource<out R = unknown> {
  readonly name: string
  readonly title: string
  readonly description: string
  /** With one variable at its end: `n8n://node/{type}`. */
  readonly uriTemplate: string
  /** JSON inside the budget, of the resource with this id. */
  readonly read: (id: string) => Effect.Effect<string, N8nError.N8nError, R>
}

/** What a tool answers when it is given nothing but an id; the template's variable is the argument's name. */
export const ofTool = <R>(uriTemplate: string, tool: Tool.Any<R>): Resource<R> => {
  const argument = uriTemplate.slice(uriTemplate.lastIndexOf("{") + 1, -1)
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    uriTemplate,
    read: (id) => Effect.map(tool.run({ [argument]: id }), ({ data }) => JSON.stringify(data))
  }
}

/** The resource that a URI is of, and its id; ids may be percent-encoded. */
export const find = <R>(
  resources: ReadonlyArray<Resource<R>>,
  uri: string
): { readonly resource: Resource<R>; readonly id: string } | undefined => {
  for (const resource of resources) {
    const prefix = resource.uriTemplate.slice(0, resource.uriTemplate.lastIndexOf("{"))
    if (!uri.startsWith(prefix) || uri.length === prefix.length) continue
    try {
      return { resource, id: decodeURIComponent(uri.slice(prefix.length)) }
    } catch {
      return undefined
    }
  }
  return undefined
}
