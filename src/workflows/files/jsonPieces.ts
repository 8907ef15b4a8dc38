/** Replaces changed values in a JSON text, and preserves the rest. */
import type * as Jsonc from "jsonc-parser"
import { obj, str } from "../../base/Json.ts"
import { indentation, keysOf, type Layout, print } from "./jsonLayout.ts"

/** Old text and its layout. */
interface Source {
  readonly text: string
  readonly layout: Layout
}

/** Indentation of a value's line, and whether its container is on that line. */
interface Context {
  readonly base: string
  readonly isFlat: boolean
}

/** Elements of a list, each with the key "", or members of an object. */
type Entries = ReadonlyArray<readonly [key: string, value: unknown]>

/** Whether both are the same JSON, with keys in the same order. */
const isSame = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((inner, index) => isSame(inner, b[index]))
  }
  const [left, right] = [obj(a), obj(b)]
  if (left === undefined || right === undefined) return false
  const [keys, others] = [keysOf(left), keysOf(right)]
  return keys.length === others.length &&
    keys.every((key, index) => key === others[index] && isSame(left[key], right[key]))
}

const kindOf = (value: unknown) => Array.isArray(value) ? "array" : obj(value) === undefined ? "scalar" : "object"

/** Id or name that distinguishes an element from its neighbours. */
const identityOf = (value: unknown) => str(obj(value)?.["id"]) ?? str(obj(value)?.["name"])

/** Whether `a` may have become `b`: both are of one kind and, if they have an identity, mostly equal. */
const isLike = (a: unknown, b: unknown) => {
  const [left, right] = [obj(a), obj(b)]
  if (left === undefined || right === undefined || (identityOf(a) ?? identityOf(b)) === undefined) {
    return kindOf(a) === kindOf(b)
  }
  const keys = keysOf(left)
  const same = keys.filter((key) => Object.hasOwn(right, key) && isSame(left[key], right[key]))
  return 2 * same.length >= Math.max(keys.length, keysOf(right).length)
}

/**
 * Index of the old entry of each new one: by key, by an element's id, name or content, else the one after its
 * predecessor's if that is similar.
 */
const align = (olds: Entries, news: Entries, isList: boolean): ReadonlyArray<number | undefined> => {
  const keyOf = ([key, value]: Entries[number]) => isList ? identityOf(value) ?? `=${JSON.stringify(value)}` : key
  const places = Map.groupBy(olds.keys(), (index) => keyOf(olds[index] ?? ["", null]))
  const matched = news.map((entry) => places.get(keyOf(entry))?.shift())
  const taken = new Set(matched)
  let last = -1
  return matched.map((match, index) => {
    const candidate = match ?? last + 1
    const old = olds[candidate]
    if (match === undefined && (old === undefined || taken.has(candidate) || !isLike(old[1], news[index]?.[1]))) {
      return undefined
    }
    taken.add(candidate)
    last = candidate
    return candidate
  })
}

/** Whitespace and whole comments up to a comma. */
const toComma = /^(?:\s|\/\/[^\r\n]*(?![^\r\n])|\/\*(?:(?!\*\/)[^])*\*\/)*,/

/** Trailing whitespace of a gap. */
const spaceAtEnd = (gap: string) => /\s*$/.exec(gap)?.[0] ?? ""

/** Text between the brackets of a container with new children; `body` returns the text of each. */
const refill = (
  { layout, text }: Source,
  { children = [], length, offset }: Jsonc.Node,
  { base, isFlat }: Context,
  alignment: ReadonlyArray<number | undefined>,
  body: (next: number, old: number | undefined, context: Context) => string
) => {
  const close = offset + length - 1
  const ends = [offset + 1, ...children.map((child) => child.offset + child.length)]
  const gaps = ends.map((end, index) => text.slice(end, children[index]?.offset ?? close))
  const isOneLine = isFlat || children.length > 0 && !/[\r\n]/.test(text.slice(offset, close))
  const placed = (before: string, next: number, old: number | undefined) =>
    before + body(next, old, { base: indentation(spaceAtEnd(before)) ?? base, isFlat: isOneLine })
  if (alignment.length === children.length && alignment.every((old, next) => old === next)) {
    return children.map((_, index) => placed(gaps[index] ?? "", index, index)).join("") + (gaps.at(-1) ?? "")
  }
  // A comment before a comma stays with the child before it, one after it with the next child.
  const commas = gaps.slice(1).map((gap) => toComma.exec(gap)?.[0])
  const mids = commas.map((comma = "") => comma.slice(0, -1))
  const rests = gaps.map((gap, index) => gap.slice(commas[index - 1]?.length ?? 0))
  const [before, [tail = ""]] = [rests.slice(0, -1), rests.slice(-1)]
  const first = before[0] !== undefined
    ? spaceAtEnd(before[0])
    : isOneLine
    ? ""
    : `${layout.eol}${base}${layout.indent}`
  const last = before.length > 1
    ? spaceAtEnd(before.at(-1) ?? "")
    : indentation(first) === undefined
    ? layout.gap
    : first
  const indent = indentation(last)
  const between = indent === undefined ? last : `${layout.eol}${indent}`
  const parts = alignment.map((old, next) => {
    const own = old === undefined ? "" : before[old] ?? ""
    const stays = old !== undefined && (next === 0) === (old === 0)
    const start = stays ? own : `${next === 0 ? first : between}${own.trimStart()}`
    return placed(start, next, old) + (old === undefined ? "" : mids[old] ?? "")
  })
  const inner = parts.join(",") + (parts.length > 0 && commas.at(-1) !== undefined ? "," : "") + tail
  return parts.length === 0 && inner.trim() === "" ? "" : inner
}

/** Entries in the order of the text; `undefined` for a scalar or duplicate keys. */
const entriesOf = ({ children = [], type }: Jsonc.Node, value: unknown): Entries | undefined => {
  if (Array.isArray(value)) return value.map((inner) => ["", inner])
  const members = obj(value)
  if (members === undefined || type !== "object") return undefined
  const keys = children.map((property) => String(property.children?.[0]?.value))
  return new Set(keys).size === keys.length ? keys.map((key) => [key, members[key]]) : undefined
}

/** Text of a node in which `next` replaces `old`. */
export const render = (source: Source, node: Jsonc.Node, old: unknown, next: unknown, context: Context): string => {
  const { layout, text } = source
  const { children = [], length, offset } = node
  if (isSame(old, next)) return text.slice(offset, offset + length)
  const olds = entriesOf(node, old)
  const isEmpty = text.slice(offset + 1, offset + length - 1).trim() === ""
  if (olds === undefined || isEmpty || kindOf(old) !== kindOf(next)) {
    return print(next, context.base, layout, context.isFlat)
  }
  const isList = Array.isArray(next)
  const members = obj(next) ?? {}
  const news: Entries = isList
    ? next.map((inner) => ["", inner])
    : keysOf(members).map((key) => [key, members[key]])
  const inner = refill(source, node, context, align(olds, news, isList), (index, place, inner) => {
    const [name, value] = news[index] ?? ["", null]
    const child = place === undefined ? undefined : children[place]
    if (place === undefined || child === undefined) {
      return `${isList ? "" : JSON.stringify(name) + layout.colon}${print(value, inner.base, layout, inner.isFlat)}`
    }
    if (isList) return render(source, child, olds[place]?.[1], value, inner)
    const [key = child, held = child] = child.children ?? []
    const end = key.offset + key.length
    const written = key.value === name ? text.slice(key.offset, end) : JSON.stringify(name)
    return written + text.slice(end, held.offset) + render(source, held, olds[place]?.[1], value, inner)
  })
  return isList ? `[${inner}]` : `{${inner}}`
}
