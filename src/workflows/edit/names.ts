/** Names of nodes in other nodes' expressions and scripts. */
import type { Parse } from "../../base/JavaScript.ts"
import { deeper, mapValues, type Obj } from "../../base/Json.ts"
import type { Reference, Text } from "../check/Expressions.ts"
import { inText, mapTexts, texts } from "../check/Expressions.ts"

/** Cheap check before parsing: without escapes, code contains the name literally. */
const mayName = (text: string, name: string) =>
  (text.includes(name) || text.includes("\\")) && /\$\s*(?:\(|node\b|items\b)/.test(text)

const referencesOf = (text: Text, name: string, parse: Parse): ReadonlyArray<Reference> =>
  text.kind === "unmarked" || !mayName(text.text, name)
    ? []
    : inText(text, parse).references.filter((reference) => reference.name === name)

/** Paths of the texts that name a node, relative to the node they belong to. */
export const naming = (parameters: unknown, name: string, parse: Parse): ReadonlyArray<string> =>
  texts(parameters).flatMap((text) => referencesOf(text, name, parse).length > 0 ? [text.path] : [])

const escapes: { readonly [sign: string]: string } = { "\\": "\\\\", "\n": "\\n", "\r": "\\r" }

/** String literal with the given quotes; brackets that would end an expression are escaped. */
const literal = (name: string, quote: string) => {
  const escaped = name
    .replaceAll(/[\\\n\r]/g, (sign) => escapes[sign] ?? sign)
    .replaceAll(quote, `\\${quote}`)
    .replaceAll("}}", "}\\x7d")
    .replaceAll("{{", "{\\x7b")
  return quote + (quote === "`" ? escaped.replaceAll("${", "\\${") : escaped) + quote
}

const isIdentifier = (name: string) => /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)

/** Code that replaces a reference. */
const replacement = (code: string, as: Reference["as"], before: string, after: string) =>
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
        result.slice(0, start) + replacement(result.slice(start, end), as, before, after) + result.slice(end),
      text.text
    )

/** Renames a node in every expression, script and template of parameters. */
export const rename = (parameters: Obj, before: string, after: string, parse: Parse): Obj =>
  // Without references, parameters may be nested too deeply for recursion.
  naming(parameters, before, parse).length === 0
    ? parameters
    : mapValues(parameters, (value, key) =>
      mapTexts(value, (text) => inString(text, before, after, parse), deeper("parameters", key)))
