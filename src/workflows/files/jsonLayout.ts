/** How a JSON text is laid out, and printing like it. */
import * as Predicate from "effect/Predicate"
import type * as Jsonc from "jsonc-parser"
import { arr, obj } from "../../base/Json.ts"

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

/** The value as this layout has it; its lines but the first begin with `base`. */
export const print = (value: unknown, base: string, layout: Layout, isFlat = !layout.isTall): string => {
  const members = obj(value) ?? {}
  const isList = Array.isArray(value)
  if (!isList && isScalar(value)) return JSON.stringify(value) ?? "null"
  const { colon, eol, gap, indent } = layout
  const [open, close, padding] = isList ? ["[", "]", ""] as const : ["{", "}", layout.padding] as const
  const items = (isFlat: boolean) =>
    isList
      ? value.map((inner) => print(inner, base + indent, layout, isFlat))
      : keysOf(members).map((key) =>
        `${JSON.stringify(key)}${colon}${print(members[key], base + indent, layout, isFlat)}`
      )
  if (isList ? value.length === 0 : keysOf(members).length === 0) return open + close
  if (isFlat || isList && layout.hasShortLists && value.every(isScalar)) {
    const line = `${open}${padding}${items(true).join(`,${gap}`)}${padding}${close}`
    if (isFlat || base.length + line.length <= maxShort) return line
  }
  return `${open}${items(false).map((item) => `${eol}${base}${indent}${item}`).join(",")}${eol}${base}${close}`
}

/** The lists and objects below and with a node that are not empty, outer ones first. */
const containers = function*(node: Jsonc.Node): Generator<Jsonc.Node> {
  const { children = [] } = node
  if (node.type !== "property" && children.length > 0) yield node
  for (const child of children) yield* containers(child)
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
  for (const node of root === undefined ? [] : containers(root)) {
    const { children = [] } = node
    const [one, two] = children
    if (one === undefined) continue
    const first = text.slice(node.offset + 1, one.offset)
    const second = two === undefined ? undefined : text.slice(one.offset + one.length, two.offset).replace(/^,/, "")
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
    const [key, value] = one.children ?? []
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
