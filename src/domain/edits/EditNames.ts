/** Nodes named in expressions and scripts of others. */
import { type Obj, obj } from "../Json.ts"
import type { Parse, Reference, Text } from "../problems/Expressions.ts"
import { inText, isExpression, texts } from "../problems/Expressions.ts"

/** Parsing takes time. Where nothing is escaped, a name stands in code as it is. */
const mayName = (text: string, name: string) =>
  (text.includes(name) || text.includes("\\")) && /\$\s*(?:\(|node\b|items\b)/.test(text)

const referencesOf = (text: Text, name: string, parse: Parse): ReadonlyArray<Reference> =>
  text.kind === "unmarked" || !mayName(text.text, name)
    ? []
    : inText(text, parse).references.filter((reference) => reference.name === name)

/** The paths, from the node, of what names another. */
export const naming = (parameters: unknown, name: string, parse: Parse): ReadonlyArray<string> =>
  texts(parameters).flatMap((text) => referencesOf(text, name, parse).length > 0 ? [text.path] : [])

const escapes: { readonly [sign: string]: string } = { "\\": "\\\\", "\n": "\\n", "\r": "\\r" }

/** A literal in quotes of that kind; brackets that would end an expression are escaped. */
const literal = (name: string, quote: string) => {
  const escaped = name
    .replaceAll(/[\\\n\r]/g, (sign) => escapes[sign] ?? sign)
    .replaceAll(quote, `\\${quote}`)
    .replaceAll("}}", "}\\x7d")
    .replaceAll("{{", "{\\x7b")
  return quote + (quote === "`" ? escaped.replaceAll("${", "\\${") : escaped) + quote
}

const isIdentifier = (name: string) => /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)

/** What stands in the place of a name. */
const written = (code: string, as: Reference["as"], before: string, after: string) =>
  as === "literal"
    ? literal(after, code[0] ?? "'")
    : isIdentifier(after) && code.endsWith(before)
    ? code.slice(0, code.length - before.length) + after
    : `${code.includes("?.") ? "?." : ""}[${literal(after, "\"")}]`

const inString = (text: Text, before: string, after: string, parse: Parse) =>
  referencesOf(text, before, parse)
    .toSorted((a, b) => b.start - a.start)
    .reduce(
      (result, { as, end, start }) =>
        result.slice(0, start) + written(result.slice(start, end), as, before, after) + result.slice(end),
      text.text
    )

const mapped = (value: unknown, change: (text: string) => string): unknown => {
  if (isExpression(value)) return change(value)
  if (Array.isArray(value)) {
    const next = value.map((inner) => mapped(inner, change))
    return next.some((inner, index) => inner !== value[index]) ? next : value
  }
  const given = obj(value)
  if (given === undefined) return value
  const next = Object.entries(given).map(([key, inner]) => [key, mapped(inner, change)] as const)
  return next.some(([key, inner]) => inner !== given[key]) ? Object.fromEntries(next) : value
}

/** The parameters with a node under another name, in every expression and script. */
export const renamed = (parameters: Obj, before: string, after: string, parse: Parse): Obj => {
  if (naming(parameters, before, parse).length === 0) return parameters
  const change = (text: Text) => inString(text, before, after, parse)
  return Object.fromEntries(
    Object.entries(parameters).map(([key, value]) => {
      const [text] = typeof value === "string" ? texts({ [key]: value }) : []
      return [
        key,
        text === undefined ? mapped(value, (text) => change({ path: key, text, kind: "expression" })) : change(text)
      ]
    })
  )
}
