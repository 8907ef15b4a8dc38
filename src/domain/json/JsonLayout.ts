/** How a JSON text is laid out, and printing like it. */
import * as Predicate from "effect/Predicate"
import type * as Jsonc from "jsonc-parser"
import { arr, obj } from "../Json.ts"

/** What an author or a formatter settled on. */
export interface Layout {
  readonly eol: string
  readonly indent: string
  /** Containers have a line for each of their own. */
  readonly isTall: boolean
  /** Between a key and its value. */
  readonly colon: string
  /** After the comma of elements on one line. */
  readonly gap: string
  /** Within the braces of an object on one line. */
  readonly padding: string
  /** Lists of scalars stay on one line while they are short. */
  readonly hasShortLists: boolean
}

const maxShort = 80

/** The whitespace that a text begins with. */
export const leading = (text: string): string => /^\s*/.exec(text)?.[0] ?? ""

/** What follows the last line break, if there is one. */
export const indentation = (gap: string): string | undefined => /[\r\n]([^\r\n]*)$/.exec(gap)?.[1]

/** The keys that JSON has of an object. */
export const keysOf = (value: object): ReadonlyArray<string> =>
  Object.entries(value).flatMap(([key, inner]) => inner === undefined ? [] : [key])

const isScalar = (value: unknown) => !Predicate.isObjectOrArray(value)

const scalar = (value: unknown) => JSON.stringify(value) ?? "null"

const list = (items: ReadonlyArray<string>, around: readonly [string, string], base: string, layout: Layout) =>
  `${around[0]}${items.map((item) => `${layout.eol}${base}${layout.indent}${item}`).join(",")}${layout.eol}${base}${
    around[1]
  }`

/** On one line. */
const flat = (value: unknown, layout: Layout): string => {
  const separator = `,${layout.gap}`
  if (Array.isArray(value)) return `[${value.map((inner) => flat(inner, layout)).join(separator)}]`
  const members = obj(value)
  if (members === undefined) return scalar(value)
  const { colon, padding } = layout
  const items = keysOf(members).map((key) => `${JSON.stringify(key)}${colon}${flat(members[key], layout)}`)
  return items.length === 0 ? "{}" : `{${padding}${items.join(separator)}${padding}}`
}

/** The value as this layout has it; its lines but the first begin with `base`. */
export const print = (value: unknown, base: string, layout: Layout, isFlat = !layout.isTall): string => {
  if (isFlat) return flat(value, layout)
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]"
    const short = layout.hasShortLists && value.every(isScalar) ? flat(value, layout) : ""
    if (short !== "" && base.length + short.length <= maxShort) return short
    return list(value.map((inner) => print(inner, base + layout.indent, layout)), ["[", "]"], base, layout)
  }
  const members = obj(value)
  if (members === undefined) return scalar(value)
  const items = keysOf(members).map((key) =>
    `${JSON.stringify(key)}${layout.colon}${print(members[key], base + layout.indent, layout)}`
  )
  return items.length === 0 ? "{}" : list(items, ["{", "}"], base, layout)
}

/** A container's children in a text, with the whitespace before each. */
interface Family {
  readonly node: Jsonc.Node
  readonly children: ReadonlyArray<Jsonc.Node>
  readonly gaps: ReadonlyArray<string>
}

const families = function*(text: string, node: Jsonc.Node): Generator<Family> {
  const { children = [] } = node
  if (node.type !== "property" && children.length > 0) {
    const starts = [node.offset + 1, ...children.map(({ length, offset }) => offset + length)]
    const gaps = children.map(({ offset }, index) => text.slice(starts[index], offset).replace(/^,/, ""))
    yield { node, children, gaps }
  }
  for (const child of children) yield* families(text, child)
}

/** Of the line with this place. */
const lineIndent = (text: string, offset: number) => {
  let start = offset
  while (start > 0 && !/[\r\n]/.test(text.charAt(start - 1))) start--
  return leading(text.slice(start, offset))
}

const isBlank = (text: string) => text.trim() === ""

const isInline = (gap: string) => isBlank(gap) && indentation(gap) === undefined

/** The layout of a text, as far as it shows one; the first of each kind decides. */
export const layoutOf = (text: string, root: Jsonc.Node | undefined): Layout => {
  const found: { indent?: string; colon?: string; gap?: string; padding?: string; hasShortLists?: true } = {}
  let isTall = root === undefined || arr(root.children).length === 0
  for (const { children, gaps, node } of root === undefined ? [] : families(text, root)) {
    const [first = "", second] = gaps
    const inner = indentation(leading(first))
    if (inner !== undefined) {
      const outer = lineIndent(text, node.offset)
      if (inner.length > outer.length && inner.startsWith(outer)) found.indent ??= inner.slice(outer.length)
      isTall = true
    } else if (isBlank(first)) {
      if (node.type === "object") found.padding ??= first
      else if (children.every(({ type }) => type !== "object" && type !== "array")) found.hasShortLists = true
    }
    if (second !== undefined && isInline(second)) found.gap ??= second
    const [key, value] = children[0]?.children ?? []
    if (node.type === "object" && key !== undefined && value !== undefined) {
      const colon = text.slice(key.offset + key.length, value.offset)
      if (/^[ \t]*:[ \t]*$/.test(colon)) found.colon ??= colon
    }
  }
  const colon = found.colon ?? (isTall || found.gap === " " ? ": " : ":")
  return {
    eol: /\r\n|\n|\r/.exec(text)?.[0] ?? "\n",
    indent: found.indent ?? "  ",
    isTall,
    colon,
    gap: found.gap ?? (colon.endsWith(" ") ? " " : ""),
    padding: found.padding ?? "",
    hasShortLists: found.hasShortLists ?? false
  }
}
