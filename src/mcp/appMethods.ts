/** Pages of tools (MCP Apps) as resources, readable but unlisted. */
import * as Effect from "effect/Effect"
import * as App from "../answer/App.ts"
import { orRpcError } from "./handling.ts"
import type { Request } from "./Methods.ts"

/** `resources/read` of a page; `undefined` for another URI. */
export const read = (apps: ReadonlyArray<App.App>, { params: { uri } }: Request) => {
  const app = apps.find((each) => each.uri === uri)
  return app && Effect.map(orRpcError(app.html, { uri: app.uri }), (text) => ({
    contents: [{
      uri: app.uri,
      mimeType: App.mimeType,
      text,
      // Without domains the page may not connect to anything.
      _meta: { ui: { csp: {}, prefersBorder: true } }
    }]
  }))
}
