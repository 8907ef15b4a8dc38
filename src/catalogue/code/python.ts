/** Reach of a node's Python, by its words: there is no parser for it. */
import type { Reach } from "./effects.ts"
import lists from "./python.json" with { type: "json" }

const words = (texts: ReadonlyArray<string>): ReadonlySet<string> => new Set(texts.join(" ").split(" "))

/** Standard modules that only compute. */
const modules = words(lists.modules)

/** Names that give access to code, attributes by name, files or n8n's helpers. */
const names = words(lists.names)

/** Attributes by which harmless values and modules lead to others. */
const attributes = words(lists.attributes)

/** Methods that a class may define. */
const special = words(lists.special)

const stringStart = /([A-Za-z]{0,2})("""|'''|"|')/y

/** Code without comments and strings, but with the expressions in f-strings; `undefined` if a string has no end. */
const withoutTexts = (code: string): string | undefined => {
  let out = ""
  let at = 0
  /** Reads code to its end, or to the `}` of an f-string. */
  const readCode = (isInText: boolean): boolean => {
    let depth = 0
    while (at < code.length) {
      const char = code[at] ?? ""
      stringStart.lastIndex = at
      const start = /\w/.test(code[at - 1] ?? "") && /\w/.test(char) ? null : stringStart.exec(code)
      if (start !== null) {
        at += start[0].length
        out += " \"\" "
        if (!readText(start[2] ?? "", /[ft]/i.test(start[1] ?? ""))) return false
      } else if (char === "#") {
        while (at < code.length && code[at] !== "\n") at++
      } else if (isInText && char === "}" && depth === 0) {
        at++
        out += " ) "
        return true
      } else if (isInText && char === ":" && depth === 0) {
        // A format follows, in which quotes do not begin strings.
        while (at < code.length && code[at] !== "}") {
          if (code[at++] === "{" && !readCode(true)) return false
        }
      } else {
        if (/[[({]/.test(char)) depth++
        if (/[\])}]/.test(char)) depth--
        out += char === "\n" && depth > 0 ? " " : char
        at++
      }
    }
    return !isInText
  }
  const readText = (quote: string, isFormatted: boolean): boolean => {
    while (at < code.length) {
      if (code.startsWith(quote, at)) {
        at += quote.length
        return true
      }
      if (code[at] === "\\") at += isFormatted && code[at + 1] === "{" ? 1 : 2
      else if (isFormatted && code.startsWith("{{", at)) at += 2
      else if (isFormatted && code[at] === "{") {
        at++
        out += " ( "
        if (!readCode(true)) return false
      } else if (quote.length === 1 && code[at] === "\n") return false
      else at++
    }
    return false
  }
  return readCode(false) ? out : undefined
}

/** Imported modules; `undefined` for an import of another form. */
const imported = (code: string): ReadonlyArray<string> | undefined => {
  const all: Array<string> = []
  const statement = /(?:^|[;:\n])[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b([^;\n]*)|import[ \t]+([^;\n]+))/g
  let count = 0
  for (const [, from, parts, list] of code.matchAll(statement)) {
    count++
    if (from !== undefined) {
      all.push(from, ...(parts?.match(/\w+/g) ?? []).filter((part) => part.startsWith("_") || attributes.has(part)))
    }
    for (const each of list?.split(",") ?? []) all.push(each.trim().split(/\s/)[0] ?? "")
  }
  return count === (code.match(/\bimport\b/g) ?? []).length ? all : undefined
}

/** Reach of a node's code; code that does not certainly only compute may do anything. */
export const reachOf = (source: string): Reach => {
  // Python treats compatibility forms of a letter as the letter itself.
  const code = withoutTexts(source.normalize("NFKC").replace(/\r\n?/g, "\n").replace(/\\\n/g, " "))
  if (code === undefined) return { outside: true, state: false }
  const matches = [...code.matchAll(/(\.\s*)?\b([\p{L}_][\p{L}\p{N}_]*)/gu)]
  const isReached = matches.some(([, dot, name = ""]) =>
    name.startsWith("__") && (dot !== undefined || !special.has(name)) ||
    (dot === undefined ? names.has(name) : name.startsWith("_") || attributes.has(name))
  )
  return {
    outside: isReached || imported(code)?.every((module: string) => modules.has(module.split(".")[0] ?? "")) !== true,
    state: matches.some(([, , name]) => /^_?getWorkflowStaticData$/.test(name ?? ""))
  }
}
