/** Layout of a JSON text, and printing in it. */
import * as Predicate from "effect/Predicate"
import type * as Jsonc from "jsonc-parser"
import { arr, obj } from "../../base/Json.ts"

/** Layout that an author or a formatter chose. */
export interface Layout {
  readonly eol: string
  readonly indent: string
  /** Whether each element and member is on its own line. */
  readonly isTall: boolean
  /** Text between a key and its value. */
  readonly colon: string
  /** Space after the comma of elements on one line. */
  readonly gap: string
  /** Space within the braces of an object on one line. */
  readonly padding: string
  /** Whether short lists of scalars are on one line. */
  readonly hasShortLists: boolean
}

const maxShort = 80

/** Leading whitespace of a text. */
const leading = (text: string): string => /^\s*/.exec(text)?.[0] ?? ""

/** Text after the last line break, if there is one. */
export const indentation = (gap: string): string | undefined => /[\r\n]([^\r\n]*)$/.exec(gap)?.[1]

/** Keys of an object in JSON. */
export const keysOf = (value: object): ReadonlyArray<string> =>
  Object.entries(value).flatMap(([key, inner]) => inner === undefined ? [] : [key])

const isScalar = (value: unknown) => !Predicate.isObjectOrArray(value)

/** Prints a value in a layout; all lines but the first begin with `base`. */
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

/** Lists and objects in a node that are not empty, including itself, outer ones first. */
const containers = function*(node: Jsonc.Node): Generator<Jsonc.Node> {
  const { children = [] } = node
  if (node.type !== "property" && children.length > 0) yield node
  for (const child of children) yield* containers(child)
}

/** Indentation of the line at an offset. */
const lineIndent = (text: string, offset: number) => {
  let start = offset
  while (start > 0 && !/[\r\n]/.test(text.charAt(start - 1))) start--
  return leading(text.slice(start, offset))
}

const isBlank = (text: string) => text.trim() === ""

const isInline = (gap: string) => isBlank(gap) && indentation(gap) === undefined

/** Layout of a text; the first example of each property decides. */
export const layoutOf = (text: string, root: Jsonc.Node | undefined): Layout => {
  const layout: { indent?: string; colon?: string; gap?: string; padding?: string; hasShortLists?: true } = {}
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
      if (inner.length > outer.length && inner.startsWith(outer)) layout.indent ??= inner.slice(outer.length)
      isTall = true
    } else if (isBlank(first)) {
      if (node.type === "object") layout.padding ??= first
      else if (children.every(({ type }) => type !== "object" && type !== "array")) layout.hasShortLists = true
    }
    if (second !== undefined && isInline(second)) layout.gap ??= second
    const [key, value] = one.children ?? []
    if (node.type === "object" && key !== undefined && value !== undefined) {
      const colon = text.slice(key.offset + key.length, value.offset)
      if (/^[ \t]*:[ \t]*$/.test(colon)) layout.colon ??= colon
    }
  }
  const colon = layout.colon ?? (isTall || layout.gap === " " ? ": " : ":")
  return {
    eol: /\r\n|\n|\r/.exec(text)?.[0] ?? "\n",
    indent: layout.indent ?? "  ",
    isTall,
    colon,
    gap: layout.gap ?? (colon.endsWith(" ") ? " " : ""),
    padding: layout.padding ?? "",
    hasShortLists: layout.hasShortLists ?? false
  }
}
