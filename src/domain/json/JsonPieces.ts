/** A JSON text as pieces around its values, put together anew where a value changed. */
import type * as Jsonc from "jsonc-parser"
import { obj } from "../Json.ts"
import { alignElements, alignMembers, type Alignment, isSame } from "./JsonAlignment.ts"
import { indentation, keysOf, type Layout, leading, print } from "./JsonLayout.ts"

/** An element or a member. */
interface Slot {
  /** Whitespace and comments, from the end of the line on which the one before ends. */
  readonly before: string
  /** Between it and its comma. */
  readonly mid: string
  /** A comment on the rest of its line. */
  readonly after: string
}

/** A container's text but its values. */
interface Frame {
  /** A comment on the rest of the line with the opening bracket. */
  readonly head: string
  readonly slots: ReadonlyArray<Slot>
  readonly hasLastComma: boolean
  readonly tail: string
}

/** A slot with what it is to hold; `old` is where it was. */
interface Part extends Slot {
  readonly body: string
}

/** Comments are matched whole or not at all. */
const pattern = {
  comma: /(?:\s|\/\/[^\r\n]*(?![^\r\n])|\/\*(?:(?!\*\/)[^])*\*\/)*,/y,
  restOfLine: /(?:[ \t]|\/\*(?:(?!\*\/)[^\r\n])*\*\/)*(?:\/\/[^\r\n]*)?(?=[\r\n])/y
}

const match = (text: string, what: RegExp, from: number, to: number) => {
  what.lastIndex = from
  const found = what.exec(text)?.[0]
  return found === undefined || from + found.length > to ? undefined : found
}

const commentAfter = (text: string, from: number, to: number) => {
  const found = match(text, pattern.restOfLine, from, to) ?? ""
  return found.trim() === "" ? "" : found
}

const frameOf = (text: string, { children = [], length, offset }: Jsonc.Node): Frame => {
  const close = offset + length - 1
  const head = commentAfter(text, offset + 1, children[0]?.offset ?? close)
  let at = offset + 1 + head.length
  let hasLastComma = false
  const slots = children.map((child, index) => {
    const end = child.offset + child.length
    const next = children[index + 1]?.offset ?? close
    const toComma = match(text, pattern.comma, end, next)
    hasLastComma = toComma !== undefined
    const mid = toComma?.slice(0, -1) ?? ""
    const afterStart = end + (toComma?.length ?? 0)
    const slot = { before: text.slice(at, child.offset), mid, after: commentAfter(text, afterStart, next) }
    at = afterStart + slot.after.length
    return slot
  })
  return { head, slots, hasLastComma, tail: text.slice(at, close) }
}

const startsLine = (text: string) => indentation(leading(text)) !== undefined

/** After a comment to the end of a line comes a new line. */
const assemble = (frame: Frame, parts: ReadonlyArray<Part>, base: string, layout: Layout) => {
  const { hasLastComma, head, tail } = frame
  const onLine = (comment: string, text: string, indent: string) =>
    comment === "" || startsLine(text) ? text : `${layout.eol}${indent}${text.trimStart()}`
  let comment = head
  let inner = head
  for (const [index, { after, before, body, mid }] of parts.entries()) {
    const comma = index < parts.length - 1 || hasLastComma ? "," : ""
    inner += `${onLine(comment, before, base + layout.indent)}${body}${mid}${comma}${after}`
    comment = after
  }
  inner += onLine(comment, tail, base)
  return parts.length === 0 && inner.trim() === "" ? "" : inner
}

/** What a new text is made from. */
interface Source {
  readonly text: string
  readonly layout: Layout
}

/** Where a value stands: how its line is indented, and whether all around it is on that line. */
interface Context {
  readonly base: string
  readonly isFlat: boolean
}

/** A container with other content: `fresh` and `kept` give the bodies of what is new and of what was there. */
const refill = (
  source: Source,
  node: Jsonc.Node,
  { base, isFlat }: Context,
  alignment: Alignment,
  body: (next: number, old: number | undefined, context: Context) => string
) => {
  const { layout, text } = source
  const frame = frameOf(text, node)
  const { slots } = frame
  const isOneLine = isFlat || slots.length > 0 && !/[\r\n]/.test(text.slice(node.offset, node.offset + node.length))
  const tall = `${layout.eol}${base}${layout.indent}`
  const first = slots[0] === undefined ? isOneLine ? "" : tall : leading(slots[0].before)
  const last = slots.length > 1 ? leading(slots.at(-1)?.before ?? "") : startsLine(first) ? first : layout.gap
  const lastIndent = indentation(last)
  const between = lastIndent === undefined ? last : `${layout.eol}${lastIndent}`
  const parts = alignment.map((old, next): Part => {
    const slot = old === undefined ? undefined : slots[old]
    const isFirst = next === 0
    const before = slot === undefined || isFirst !== (old === 0)
      ? `${isFirst ? first : between}${slot?.before.trimStart() ?? ""}`
      : slot.before
    const context = { base: indentation(before) ?? base, isFlat: isOneLine }
    return { before, mid: slot?.mid ?? "", after: slot?.after ?? "", body: body(next, old, context) }
  })
  return assemble(frame, parts, base, layout)
}

const refillArray = (
  source: Source,
  node: Jsonc.Node,
  olds: ReadonlyArray<unknown>,
  news: ReadonlyArray<unknown>,
  context: Context
) =>
  refill(source, node, context, alignElements(olds, news), (next, old, inner) => {
    const child = old === undefined ? undefined : node.children?.[old]
    return child === undefined || old === undefined
      ? print(news[next], inner.base, source.layout, inner.isFlat)
      : render(source, child, olds[old], news[next], inner)
  })

/** The members in the order of the text; undefined when a key is there twice. */
const membersOf = ({ children = [] }: Jsonc.Node, value: { readonly [key: string]: unknown }) => {
  const members = children.map((property): readonly [string, unknown] => {
    const key = String(property.children?.[0]?.value)
    return [key, value[key]]
  })
  return new Set(members.map(([key]) => key)).size === members.length ? members : undefined
}

const refillObject = (
  source: Source,
  node: Jsonc.Node,
  olds: ReadonlyArray<readonly [string, unknown]>,
  news: ReadonlyArray<readonly [string, unknown]>,
  context: Context
) =>
  refill(source, node, context, alignMembers(olds, news), (next, old, inner) => {
    const [name, value] = news[next] ?? ["", null]
    const [key, child] = old === undefined ? [] : node.children?.[old]?.children ?? []
    if (old === undefined || key === undefined || child === undefined) {
      return `${JSON.stringify(name)}${source.layout.colon}${print(value, inner.base, source.layout, inner.isFlat)}`
    }
    const end = key.offset + key.length
    const written = key.value === name ? source.text.slice(key.offset, end) : JSON.stringify(name)
    return written + source.text.slice(end, child.offset) + render(source, child, olds[old]?.[1], value, inner)
  })

/** The text of a node that holds `old`, so that it holds `next`. */
export const render = (source: Source, node: Jsonc.Node, old: unknown, next: unknown, context: Context): string => {
  const whole = source.text.slice(node.offset, node.offset + node.length)
  if (isSame(old, next)) return whole
  if (whole.slice(1, -1).trim() !== "") {
    if (Array.isArray(old) && Array.isArray(next)) return `[${refillArray(source, node, old, next, context)}]`
    const [before, after] = [obj(old), obj(next)]
    const members = before === undefined ? undefined : membersOf(node, before)
    if (members !== undefined && after !== undefined) {
      const news = keysOf(after).map((key) => [key, after[key]] as const)
      return `{${refillObject(source, node, members, news, context)}}`
    }
  }
  return print(next, context.base, source.layout, context.isFlat)
}
