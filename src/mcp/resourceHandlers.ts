/** Resources behind the SDK's server: lists, templates, reading. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js"
import {
  ErrorCode,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  McpError,
  ReadResourceRequestSchema
} from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import * as Resource from "../answer/Resource.ts"
import * as Deadline from "../base/Deadline.ts"
import { orMcpError, type RunFor, shorten } from "./handling.ts"

const mimeTypeOf = ({ mimeType = "application/json" }: Resource.Resource) => mimeType

const listed = (resource: Resource.Resource, entries: ReadonlyArray<Resource.Entry>) =>
  entries.map(({ id, title }) => ({ uri: Resource.uri(resource, id), name: title, mimeType: mimeTypeOf(resource) }))

/** Lists those that are always there, then the first kind that can be listed; an n8n that does not answer has none. */
const list = <R>(resources: ReadonlyArray<Resource.Resource<R>>, cursor: string | undefined) => {
  const fixed = cursor === undefined ? resources.flatMap((each) => listed(each, each.entries ?? [])) : []
  const listable = resources.find((resource) => resource.list !== undefined)
  if (listable?.list === undefined) return Effect.succeed({ resources: fixed })
  return Deadline.bounded(listable.list(cursor), false).pipe(
    Effect.map(({ entries, nextCursor }) => ({
      resources: [...fixed, ...listed(listable, entries)],
      ...(nextCursor === undefined ? {} : { nextCursor })
    })),
    Effect.catch((error) => Effect.as(Effect.logDebug(error.message), { resources: fixed }))
  )
}

const templates = (resources: ReadonlyArray<Resource.Resource>) => ({
  resourceTemplates: resources.map((resource) => ({
    name: resource.name,
    title: resource.title,
    description: resource.description,
    uriTemplate: resource.uriTemplate,
    mimeType: mimeTypeOf(resource)
  }))
})

/** Handles what concerns resources. */
export const handle = <R>(server: Server, resources: ReadonlyArray<Resource.Resource<R>>, runFor: RunFor<R>): void => {
  server.setRequestHandler(
    ListResourcesRequestSchema,
    ({ params }, extra) => runFor(orMcpError(list(resources, params?.cursor)), extra)
  )
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => templates(resources))
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }, extra) => {
    const match = Resource.find(resources, uri)
    if (match === undefined) {
      const templates = resources.map(({ uriTemplate }) => uriTemplate).join(", ")
      const name = shorten(uri)
      throw new McpError(ErrorCode.InvalidParams, `No resource '${name}': there are ${templates}`, { uri: name })
    }
    return runFor(
      orMcpError(match.resource.read(match.id), { uri }).pipe(
        Effect.map((text) => ({ contents: [{ uri, mimeType: mimeTypeOf(match.resource), text }] }))
      ),
      extra
    )
  })
}
