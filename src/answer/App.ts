/** Pages that a client shows with the answers of tools: MCP Apps, SEP-1865. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Errors from "../base/Errors.ts"

/** A page. It is the same for every answer, which brings what it shows. */
export interface App {
  /** `ui://…`, by which a client reads it. */
  readonly uri: string
  readonly name: string
  readonly title: string
  readonly description: string
  /** The page, as one file that asks for nothing from elsewhere. */
  readonly html: Effect.Effect<string, Errors.Failure>
}

/** The media type of pages. */
export const mimeType = "text/html;profile=mcp-app"

/** What a page shows of one answer: goes to it in `_meta`, past the model. */
export type View = { readonly [key: string]: object }

/** Takes what the page shows of the answer; absent where the client shows no pages, and none is made. */
export const Show = Context.Reference<((view: View) => Effect.Effect<void>) | undefined>("effect-n8n-mcp/App/Show", {
  defaultValue: () => undefined
})
