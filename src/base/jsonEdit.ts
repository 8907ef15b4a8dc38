/** Replaces changed values in a JSON text, and preserves the rest. */
import * as Jsonc from "jsonc-parser"
import { arr, obj, str } from "./Json.ts"
import * as Turn from "./Turn.ts"

/** Layout that an author or a formatter chose; the first example of each property decides. */
const layoutOf = (text: string) => {
  const bare = Jsonc.stripComments(text).replace(/"(?:[^"\\]|\\.)*"/g, "\"\"").trim()
  const first = (pattern: RegExp) => pattern.exec(bare)?.[1]
  // A text without members is not an example.
  const isTall = /[\r\n]/.test(bare) || !/^[[{]\s*[^\s\]}]/.test(bare)
  const gap = first(/,([ \t]*)(?=[^\s\]}])/)
  const colon = first(/""([ \t]*:[ \t]*)(?=\S)/) ?? (isTall || gap === " " ? ": " : ":")
  return {
    eol: /\r\n|\n|\r/.exec(text)?.[0] ?? "\n",
    indent: first(/[\r\n]([ \t]+)/) ?? "  ",
    isTall,
    colon,
    gap: gap ?? (colon.endsWith(" ") ? " " : ""),
    padding: first(/\{([ \t]*)"/) ?? "",
    hasShortLists: /\[[ \t]*[^\s[\]{}][^[\]{}]*\]/.test(bare)
  }
}

type Layout = ReturnType<typeof layoutOf>

const maxShort = 80

const print = (value: unknown, base: string, layout: Layout, isFlat: boolean): string => {
  const members = obj(value)
  if (!Array.isArray(value) && members === undefined) return JSON.stringify(value)
  const { colon, eol, gap, indent } = layout
  const [open, close, padding] = members === undefined ? ["[", "]", ""] as const : ["{", "}", layout.padding] as const
  const items = (isFlat: boolean) =>
    Object.entries(members ?? value as object).map(([key, inner]) =>
      (members === undefined ? "" : JSON.stringify(key) + colon) + print(inner, base + indent, layout, isFlat)
    )
  const all = items(isFlat)
  if (all.length === 0) return open + close
  const isShort = Array.isArray(value) && layout.hasShortLists && value.every((inner) => kindOf(inner) === "scalar")
  if (isFlat || isShort) {
    const line = `${open}${padding}${items(true).join(`,${gap}`)}${padding}${close}`
    if (isFlat || base.length + line.length <= maxShort) return line
  }
  return `${open}${all.map((item) => `${eol}${base}${indent}${item}`).join(",")}${eol}${base}${close}`
}

const kindOf = (value: unknown) => Array.isArray(value) ? "array" : obj(value) === undefined ? "scalar" : "object"

type Entries = ReadonlyArray<readonly [key: string, value: unknown]>

/** Index of the old entry of each new one: by key, id, name or content, else after its predecessor's. */
const align = (olds: Entries, news: Entries, isList: boolean): ReadonlyArray<number | undefined> => {
  const identityOf = ([key, value]: Entries[number]) =>
    isList ? str(obj(value)?.["id"]) ?? str(obj(value)?.["name"]) ?? JSON.stringify(value) : key
  const places = Map.groupBy(olds.keys(), (index) => identityOf(olds[index] ?? ["", null]))
  const matches = news.map((entry) => places.get(identityOf(entry))?.shift())
  const taken = new Set(matches)
  let last = -1
  return matches.map((match, index) => {
    const next = olds[last + 1]
    const isLike = next !== undefined && !taken.has(last + 1) && kindOf(next[1]) === kindOf(news[index]?.[1])
    const place = match ?? (isLike ? last + 1 : undefined)
    taken.add(place)
    last = place ?? last
    return place
  })
}

const toComma = /^(?:\s|\/\/[^\r\n]*(?![^\r\n])|\/\*(?:(?!\*\/)[^])*\*\/)*,/

const spaceAtEnd = (gap: string) => /\s*$/.exec(gap)?.[0] ?? ""

const indentation = (gap: string) => /[\r\n]([^\r\n]*)$/.exec(gap)?.[1]

/** Text of a node in which `next` replaces its value; `base` is the indentation of its line. */
const render = function*(
  text: string,
  layout: Layout,
  node: Jsonc.Node,
  next: unknown,
  base: string,
  isFlat: boolean
): Turn.Steps<string> {
  yield
  const { children = [], offset, type } = node
  const close = offset + node.length - 1
  if (JSON.stringify(Jsonc.getNodeValue(node)) === JSON.stringify(next)) return text.slice(offset, close + 1)
  if (type !== kindOf(next) || text.slice(offset + 1, close).trim() === "") return print(next, base, layout, isFlat)
  const isList = type === "array"
  const olds = children.map((child): Entries[number] => {
    const [key, value = child] = child.children ?? []
    return isList ? ["", Jsonc.getNodeValue(child)] : [String(key?.value), Jsonc.getNodeValue(value)]
  })
  const news: Entries = Object.entries(obj(next) ?? arr(next))
  const ends = [offset + 1, ...children.map((child) => child.offset + child.length)]
  const gaps = ends.map((end, index) => text.slice(end, children[index]?.offset ?? close))
  // A comment before a comma stays with the child before it, one after it with the next child.
  const commas = gaps.slice(1).map((gap) => toComma.exec(gap)?.[0])
  const leads = gaps.map((gap, index) => gap.slice(commas[index - 1]?.length ?? 0))
  const tail = leads.pop() ?? ""
  const isOneLine = isFlat || children.length > 0 && !/[\r\n]/.test(text.slice(offset, close))
  const first = leads[0] === undefined ? isOneLine ? "" : `${layout.eol}${base}${layout.indent}` : spaceAtEnd(leads[0])
  const last = leads.length > 1
    ? spaceAtEnd(leads.at(-1) ?? "")
    : indentation(first) === undefined
    ? layout.gap
    : first
  const indent = indentation(last)
  const between = indent === undefined ? last : `${layout.eol}${indent}`
  const parts = yield* Turn.flatMap(align(olds, news, isList).entries(), function*([index, place]) {
    const [name = "", value] = news[index] ?? []
    const child = place === undefined ? undefined : children[place]
    const own = place === undefined ? "" : leads[place] ?? ""
    const stays = place !== undefined && (index === 0) === (place === 0)
    const start = stays ? own : `${index === 0 ? first : between}${own.trimStart()}`
    const inner = indentation(spaceAtEnd(start)) ?? base
    if (place === undefined || child === undefined) {
      return [`${start}${isList ? "" : JSON.stringify(name) + layout.colon}${print(value, inner, layout, isOneLine)}`]
    }
    const [key, held = child] = isList ? [undefined, child] : child.children ?? []
    const after = commas[place]?.slice(0, -1) ?? ""
    const rendered = yield* render(text, layout, held, value, inner, isOneLine)
    if (isList || key === undefined) return [start + rendered + after]
    const end = key.offset + key.length
    const written = key.value === name ? text.slice(key.offset, end) : JSON.stringify(name)
    return [start + written + text.slice(end, held.offset) + rendered + after]
  })
  const content = parts.join(",") + (parts.length > 0 && commas.at(-1) !== undefined ? "," : "") + tail
  const inside = parts.length === 0 && content.trim() === "" ? "" : content
  return isList ? `[${inside}]` : `{${inside}}`
}

export const edit = function*(text: string, value: unknown): Turn.Steps<string> {
  const root = Jsonc.parseTree(text, [], { allowTrailingComma: true })
  yield
  const layout = layoutOf(text)
  if (root === undefined) return print(value, "", layout, !layout.isTall)
  const edited = yield* render(text, layout, root, value, "", !layout.isTall)
  return text.slice(0, root.offset) + edited + text.slice(root.offset + root.length)
}
