/** Message for the page in a tool's answer. */

/** Key in `_meta` of the answer. */
export const metaKey = "io.github.effect-n8n-mcp/picture"

export interface PictureMessage {
  readonly svg: string
  readonly shown: object
}

export const isPictureMessage = (value: unknown): value is PictureMessage =>
  typeof value === "object" && value !== null && "svg" in value && typeof value.svg === "string" &&
  "shown" in value && typeof value.shown === "object" && value.shown !== null
