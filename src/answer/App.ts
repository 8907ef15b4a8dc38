/** Pages that a client shows with tools' answers: MCP Apps, SEP-1865. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Errors from "../base/Errors.ts"

/** Page of a tool. It is the same for every answer, and receives the data of each answer separately. */
export interface App {
  /** `ui://…` address, which a client reads. */
  readonly uri: string
  readonly name: string
  readonly title: string
  readonly description: string
  /** HTML of the page, in one file without external resources. */
  readonly html: Effect.Effect<string, Errors.Failure>
}

/** Media type of pages. @internal */
export const mimeType = "text/html;profile=mcp-app"

/** Data that a page shows for one answer; sent in `_meta`, hidden from the model. */
export type View = { readonly [key: string]: object }

/** Receives the view of an answer; absent for clients that do not show pages, for which views are not made. @internal */
export const Show = Context.Reference<((view: View) => Effect.Effect<void>) | undefined>("effect-n8n-mcp/App/Show", {
  defaultValue: () => undefined
})
