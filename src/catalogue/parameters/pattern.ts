/** Regular expressions in node types, which are n8n's own and therefore safe for texts of ordinary length. */

const longest = 2_000

/** Whether the text matches; `undefined` for an invalid pattern or a long text. */
export const matches = (pattern: string, text: string): boolean | undefined => {
  if (text.length > longest) return undefined
  try {
    return new RegExp(pattern).test(text)
  } catch {
    return undefined
  }
}
