/** Code of nodes, compared as it runs: without comments and layout. Pure. */
import type { Parse } from "../../base/JavaScript.ts"
import { type Obj, obj } from "../../base/Json.ts"
import type * as Syntax from "../../base/Syntax.ts"

/** Keys of a syntax tree that say where something is written. */
const places = new Set(["start", "end", "loc", "range"])

const treeOf = (code: string, parse: Parse): string | undefined => {
  const program = parse(code, "body")?.program
  return program && JSON.stringify(program, function(this: Partial<Syntax.Node>, key, value: unknown) {
    // A literal has its value beside its text, a regular expression its own parts, a large integer its digits.
    if (places.has(key) || key === "raw" && this.type === "Literal") return undefined
    return typeof value === "bigint" ? String(value) : value
  })
}

/** Texts and comments by the extension of a language; a comment does not run, but hints to a database do something. */
const tokens: { readonly [extension: string]: RegExp } = {
  py: /("""|''')[\s\S]*?\1|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|#[^\n]*/g,
  sql: /'(?:[^'\\]|\\.|'')*'|"(?:[^"]|"")*"|`[^`]*`|--[^\n]*|\/\*(?![+!])[\s\S]*?\*\//g
}

const isComment = (token: string) => /^(?:#|--|\/\*)/.test(token)

/** Text without comments and without layout that has no meaning: in Python, blank lines and the ends of lines. */
const essence = (extension: "py" | "sql", code: string): string => {
  const texts: Array<string> = []
  const bare = code.replace(tokens[extension] ?? /$^/, (token) => {
    if (isComment(token)) return " "
    texts.push(token)
    return `\0${texts.length}\0`
  })
  const even = extension === "sql"
    ? bare.replace(/\s+/g, " ").trim()
    : bare.split("\n").map((line) => line.trimEnd()).filter((line) => line !== "").join("\n")
  return JSON.stringify([even, texts])
}

/** Whether two texts in the language of a file extension do the same: equal but for comments and layout. */
export const isSame = (extension: string | undefined, one: unknown, other: unknown, parse: Parse): boolean => {
  if (one === other) return true
  // n8n resolves an expression first.
  if (typeof one !== "string" || typeof other !== "string" || one.startsWith("=") || other.startsWith("=")) return false
  if (extension === "js") {
    const tree = treeOf(one, parse)
    return tree !== undefined && tree === treeOf(other, parse)
  }
  return (extension === "py" || extension === "sql") && essence(extension, one) === essence(extension, other)
}

/** A value with the code of another where both do the same, so that a comparison finds no difference there. */
export const aligned = (
  extensions: ReadonlyMap<string, string>,
  value: Obj,
  other: unknown,
  parse: Parse
): Obj => {
  const theirs = obj(other) ?? {}
  const same = [...extensions].filter(([name, extension]) =>
    name in value && isSame(extension, value[name], theirs[name], parse)
  )
  return same.length === 0 ? value : { ...value, ...Object.fromEntries(same.map(([name]) => [name, theirs[name]])) }
}
