/** The regular expressions in node types: n8n's own, so trusted to end soon on a text of ordinary length. */

const longest = 2_000

/** Whether the text matches; `undefined` where the pattern is none, or the text too long to be judged. */
export const matches = (pattern: string, text: string): boolean | undefined => {
  if (text.length > longest) return undefined
  try {
    return new RegExp(pattern).test(text)
  } catch {
    return undefined
  }
}
