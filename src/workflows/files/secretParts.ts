/**
 * Moves literal secrets out of a workflow's JSON and back. Pure. `{"$secret": "orders.charge.token"}` stands for the
 * value of that key in `.n8n-secrets.json`, and `{"$secret": ["Bearer ", "orders.charge.value", ""]}` for a text with
 * secrets in it: texts and keys in turn. An object that only looks like a reference has one more `$` before its key.
 */
import { arr, equals, type Obj, obj, own, str } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as Redact from "../../base/Redact.ts"
import * as LiteralSecrets from "../../workflow/LiteralSecrets.ts"
import { readable } from "./names.ts"

type Content = string | ReadonlyArray<string>

/** Key and content of an object that is a reference, or looks like one. */
const markOf = (value: unknown): readonly [string, Content] | undefined => {
  const [entry, ...others] = Object.entries(obj(value) ?? {})
  if (entry === undefined || others.length > 0 || !/^\$+secret$/.test(entry[0])) return undefined
  const [key, content] = entry
  const texts = arr(content).flatMap((each) => str(each) ?? [])
  if (typeof content === "string") return [key, content]
  return Array.isArray(content) && texts.length === content.length && texts.length % 2 === 1 ? [key, texts] : undefined
}

const keysOf = (content: Content): ReadonlyArray<string> =>
  typeof content === "string" ? [content] : content.filter((_, index) => index % 2 === 1)

/** References of a file to secrets. */
export const references = (inFile: unknown) => {
  const all: Array<{ readonly path: JsonPath.Path; readonly content: Content }> = []
  JsonPath.walk(inFile, [], (value, path) => {
    const mark = markOf(value)
    if (mark?.[0] === "$secret") all.push({ path, content: mark[1] })
    return value
  })
  return all
}

/** Keys of all secrets that a file refers to. */
export const keysIn = (inFile: unknown): ReadonlyArray<string> =>
  references(inFile).flatMap(({ content }) => keysOf(content))

const valueOf = (content: Content, values: ReadonlyMap<string, unknown>) =>
  typeof content === "string"
    ? values.get(content)
    : content.map((text, index) => index % 2 === 1 ? String(values.get(text)) : text).join("")

export const join = (inFile: unknown, values: ReadonlyMap<string, unknown>): unknown =>
  JsonPath.walk(inFile, [], (value) => {
    const mark = markOf(value)
    if (mark === undefined) return value
    return mark[0] === "$secret" ? valueOf(mark[1], values) : { [mark[0].slice(1)]: mark[1] }
  })

/** JSON of a file without the values of its secrets, which may be elsewhere. */
export const hidden = (inFile: unknown): unknown =>
  join(inFile, new Map(keysIn(inFile).map((key) => [key, Redact.marker])))

/** Identifies a place in a workflow, whatever the order and the names of its nodes. */
const placeOf = (workflow: unknown, path: JsonPath.Path) => {
  if (path[0] !== "nodes" || path.length < 2) return JSON.stringify(path)
  const node = JsonPath.get(workflow, path.slice(0, 2))
  return JSON.stringify(path.with(1, str(own(node, "id")) ?? str(own(node, "name")) ?? path[1] ?? ""))
}

/** Literal secrets, and what redaction shows in their place, by path. */
const literals = (workflow: Obj) =>
  new Map(
    LiteralSecrets.inParts(workflow).map(({ path, shown, start }) => [JSON.stringify([...start, ...path]), shown])
  )

/** Minimum length of a secret whose copies elsewhere count as secrets, too. */
const shortestCopy = 8

/**
 * JSON of a workflow's own file without its secrets, and their values by key. A secret that the current JSON, `before`,
 * refers to keeps its key. `prefix` and the place make the key of a new one, which no other value has.
 */
export const split = (
  workflow: Obj,
  before: unknown,
  { isExtracted, prefix, values }: {
    /** Whether secrets are extracted; otherwise only objects that look like references change. */
    readonly isExtracted: boolean
    readonly prefix: string
    readonly values: ReadonlyMap<string, unknown>
  }
) => {
  const earlier = references(before)
  const known = new Map(earlier.map(({ content, path }) => [placeOf(before, path), content]))
  const byValue = new Map(earlier.map(({ content }) => [valueOf(content, values), content]))
  const places = isExtracted ? literals(workflow) : new Map<string, unknown>()
  const secrets = new Map<string, unknown>()
  const inUse = new Set([...values.keys(), ...earlier.flatMap(({ content }) => keysOf(content))])

  const freeKey = (path: JsonPath.Path) => {
    const node = path[0] === "nodes" ? str(own(JsonPath.get(workflow, path.slice(0, 2)), "name")) : undefined
    const last = path.findLast((step) => typeof step === "string") ?? ""
    const stem = [prefix, ...(node === undefined ? [] : [readable(node)]), readable(String(last))].join(".")
    for (let count = 1;; count++) {
      const key = count === 1 ? stem : `${stem}-${count}`
      if (inUse.has(key)) continue
      inUse.add(key)
      return key
    }
  }

  const take = (path: JsonPath.Path, value: unknown, pieces: ReadonlyArray<string>, keys: ReadonlyArray<string>) => {
    const parts = typeof value === "string" && pieces.some((piece) => piece !== "")
      ? LiteralSecrets.between(value, pieces)
      : undefined
    const content: ReadonlyArray<unknown> = parts ?? [value]
    const names = content.map((part, index) => {
      const old = keys[index]
      const isFree = old !== undefined && (!secrets.has(old) || equals(secrets.get(old), part))
      const key = isFree ? old : freeKey(path)
      secrets.set(key, part)
      return key
    })
    return parts === undefined
      ? names[0]
      : pieces.flatMap((piece, index) => index === 0 ? [piece] : [names[index - 1] ?? "", piece])
  }

  const value = JsonPath.walk(workflow, [], (inner, path) => {
    const mark = markOf(inner)
    if (mark !== undefined) return { [`$${mark[0]}`]: mark[1] }
    const isText = typeof inner === "string"
    const place = JSON.stringify(path)
    const isLiteral = places.has(place)
    if (!isLiteral && !isText) return inner
    const isLong = isText && inner.length >= shortestCopy
    const old = known.get(placeOf(workflow, path)) ?? (isLiteral || isLong ? byValue.get(inner) : undefined)
    // An expression replaces a secret.
    const isReplaced = old === undefined || isText && inner.startsWith("=") && valueOf(old, values) !== inner
    if (!isLiteral && isReplaced) return inner
    const pieces = typeof old === "object" ? old.filter((_, index) => index % 2 === 0) : []
    const isAsBefore = typeof old === "string" ||
      isText && pieces.length > 0 && LiteralSecrets.between(inner, pieces) !== undefined
    const shown = places.get(place)
    const texts = isAsBefore || typeof shown !== "string" ? pieces : shown.split(Redact.marker)
    return { $secret: take(path, inner, texts, old === undefined ? [] : keysOf(old)) }
  })
  return { value, secrets }
}
