/** What a tool's answer carries for the page. */

/** The key in `_meta` of the answer. */
export const metaKey = "io.github.effect-n8n-mcp/picture"

/** The picture, drawn, and what the page tells of it. */
export interface PictureMessage {
  readonly svg: string
  readonly shown: object
}

/** Whether a value is one. */
export const isPictureMessage = (value: unknown): value is PictureMessage =>
  typeof value === "object" && value !== null && "svg" in value && typeof value.svg === "string" &&
  "shown" in value && typeof value.shown === "object" && value.shown !== null
