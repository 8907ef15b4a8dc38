/** Parameters with code, `=text {{ code }} text`. */

/** Code between `{{` and `}}`, as n8n parses it. */
export interface Part {
  readonly code: string
  /** Converts an offset in the code to one in the template. */
  readonly place: (offset: number) => number
  /** Range in the template, with the brackets; `end` is absent if they are not closed. */
  readonly start: number
  readonly end: number | undefined
}

const isEscaped = (text: string, at: number, from: number) => {
  let backslashes = 0
  while (at - backslashes > from && text[at - backslashes - 1] === "\\") backslashes++
  return backslashes % 2 === 1
}

/** Results for no brackets, and for no text after the last escaped ones. */
const [none, nothing] = [-1, -2]

/** Offset of the next unescaped brackets. */
const next = (text: string, brackets: string, from: number): number => {
  let start = from
  for (let at = text.indexOf(brackets, from); at >= 0; at = text.indexOf(brackets, start)) {
    if (!isEscaped(text, at, start)) return at
    start = at + 2
  }
  return start < text.length ? none : nothing
}

const part = (template: string, from: number, close: number): Part => {
  const raw = template.slice(from, close < 0 ? undefined : close)
  // n8n unescapes only the first escaped bracket.
  const escaped = raw.indexOf("\\}}")
  const code = escaped < 0 ? raw : raw.slice(0, escaped) + raw.slice(escaped + 1)
  // In parentheses an object literal is not parsed as a block.
  const before = code.trimStart().startsWith("{") ? 1 : 0
  return {
    code: before === 1 ? `(${code})` : code,
    start: from - 2,
    end: close < 0 ? undefined : close + 2,
    place: (offset) => {
      const at = Math.min(Math.max(offset - before, 0), code.length)
      return from + at + (escaped >= 0 && at > escaped ? 1 : 0)
    }
  }
}

/** The `{{ … }}` of an expression; the last may be unclosed. */
export const parts = (expression: string): ReadonlyArray<Part> => {
  const all: Array<Part> = []
  for (let open = next(expression, "{{", 1); open >= 0;) {
    const close = next(expression, "}}", open + 2)
    // n8n ignores unclosed code with nothing after it.
    if (close !== nothing) all.push(part(expression, open + 2, close))
    open = close < 0 ? none : next(expression, "{{", close + 2)
  }
  return all
}
