/** Methods of MCP for resources: lists, templates, reading; pages of tools (MCP Apps) are among them. */
import * as Effect from "effect/Effect"
import * as App from "../answer/App.ts"
import * as Resource from "../answer/Resource.ts"
import * as Deadline from "../base/Deadline.ts"
import { str } from "../base/Json.ts"
import { orRpcError, shorten, text } from "./handling.ts"
import type { Request } from "./Methods.ts"
import * as Rpc from "./Rpc.ts"

const mimeTypeOf = ({ mimeType = "application/json" }: Resource.Resource) => mimeType

const listed = (resource: Resource.Resource, entries: ReadonlyArray<Resource.Entry>) =>
  entries.map(({ description, id, title }) => ({
    uri: Resource.uri(resource, id),
    name: title,
    ...(description === undefined ? {} : { description }),
    mimeType: mimeTypeOf(resource)
  }))

/** `resources/list`: fixed resources, then those of the first listable kind; none if n8n does not answer. */
export const list = <R>(resources: ReadonlyArray<Resource.Resource<R>>, { params }: Request) => {
  const cursor = str(params["cursor"])
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

export const templates = (resources: ReadonlyArray<Resource.Resource>) => ({
  resourceTemplates: resources.map((resource) => ({
    name: resource.name,
    title: resource.title,
    description: resource.description,
    uriTemplate: resource.uriTemplate,
    mimeType: mimeTypeOf(resource)
  }))
})

/** Page of a tool (MCP Apps), readable but unlisted. */
const readPage = (app: App.App) =>
  Effect.map(orRpcError(app.html, { uri: app.uri }), (text) => ({
    contents: [{
      uri: app.uri,
      mimeType: App.mimeType,
      text,
      // Without domains the page may not connect to anything.
      _meta: { ui: { csp: {}, prefersBorder: true } }
    }]
  }))

export const read = Effect.fnUntraced(function*<R>(
  resources: ReadonlyArray<Resource.Resource<R>>,
  apps: ReadonlyArray<App.App>,
  { params }: Request
) {
  const uri = yield* text(params, "uri")
  const app = apps.find((each) => each.uri === uri)
  if (app !== undefined) return yield* readPage(app)
  const match = Resource.find(resources, uri)
  if (match === undefined) {
    const templates = resources.map(({ uriTemplate }) => uriTemplate).join(", ")
    const name = shorten(uri)
    return yield* Rpc.invalidParams(`No resource '${name}': there are ${templates}`, { uri: name })
  }
  const body = yield* orRpcError(match.resource.read(match.id), { uri })
  return { contents: [{ uri, mimeType: mimeTypeOf(match.resource), text: body }] }
})
