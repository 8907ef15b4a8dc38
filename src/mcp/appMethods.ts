/** Pages of tools (MCP Apps) as resources: read by those that show them, and in no list. */
import * as Effect from "effect/Effect"
import * as App from "../answer/App.ts"
import { orRpcError } from "./handling.ts"
import type { Request } from "./Methods.ts"

/** `resources/read` of a page; `undefined` where the URI is of none. */
export const read = (apps: ReadonlyArray<App.App>, { params: { uri } }: Request) => {
  const app = apps.find((each) => each.uri === uri)
  return app && Effect.map(orRpcError(app.html, { uri: app.uri }), (text) => ({
    contents: [{
      uri: app.uri,
      mimeType: App.mimeType,
      text,
      // Without domains the page may connect to nothing.
      _meta: { ui: { csp: {}, prefersBorder: true } }
    }]
  }))
}
