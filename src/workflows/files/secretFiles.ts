/**
 * Values of secrets in `.n8n-secrets.json`, which git ignores: in a workflow's folder, or in one above it.
 *
 * `{"$secret": "orders.charge.token"}` stands for the value of that key, and `{"$secret": ["Bearer ",
 * "orders.charge.value", ""]}` for a text with secrets in it: texts and keys in turn. An object that only looks like a
 * reference has one more `$` before its key.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as AtomicFile from "../../base/AtomicFile.ts"
import type * as Errors from "../../base/Errors.ts"
import { arr, equals, type Obj, obj, own, str } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as Redact from "../../base/Redact.ts"
import * as LiteralSecrets from "../../workflow/LiteralSecrets.ts"
import { readable } from "./fileNames.ts"
import type * as Locate from "./locate.ts"
import type { Lock } from "./lock.ts"
import { refuse, stem, writable } from "./refusals.ts"

type Change = (value: unknown, path: JsonPath.Path) => unknown

/**
 * Objects `{"$word": content}`, each of which stands for something else: `contentOf` says which contents are valid, and
 * `walk` where in a file they stand.
 */
export const standIns = <C>(
  word: string,
  contentOf: (content: unknown) => C | undefined,
  walk: (inFile: unknown, change: Change) => unknown
) => {
  const pattern = new RegExp(`^\\$+${word}$`)
  /** Key and content of an object that stands for something, or looks like it. */
  const markOf = (value: unknown) => {
    const [entry, ...others] = Object.entries(obj(value) ?? {})
    if (entry === undefined || others.length > 0 || !pattern.test(entry[0])) return undefined
    const content = contentOf(entry[1])
    return content === undefined ? undefined : { key: entry[0], content, isMeant: entry[0] === `$${word}` }
  }
  return {
    all: (inFile: unknown) => {
      const all: Array<{ readonly path: JsonPath.Path; readonly content: C }> = []
      walk(inFile, (value, path) => {
        const mark = markOf(value)
        if (mark?.isMeant === true) all.push({ path, content: mark.content })
        return value
      })
      return all
    },
    join: (inFile: unknown, valueOf: (content: C) => unknown) =>
      walk(inFile, (value) => {
        const mark = markOf(value)
        if (mark === undefined) return value
        return mark.isMeant ? valueOf(mark.content) : { [mark.key.slice(1)]: mark.content }
      }),
    /** Puts others in; an object that only looks like one gets one more `$`. */
    split: (value: unknown, change: Change) =>
      walk(value, (inner, path) => {
        const mark = markOf(inner)
        return mark === undefined ? change(inner, path) : { [`$${mark.key}`]: mark.content }
      })
  }
}

/** Path that names a node by its id or name, whatever the order of nodes. */
export const stablePath = (workflow: unknown, path: JsonPath.Path): JsonPath.Path => {
  if (path[0] !== "nodes" || path.length < 2) return path
  const node = JsonPath.get(workflow, path.slice(0, 2))
  return path.with(1, str(own(node, "id")) ?? str(own(node, "name")) ?? path[1] ?? "")
}

type Content = string | ReadonlyArray<string>

const marks = standIns("secret", (content): Content | undefined => {
  if (typeof content === "string") return content
  const texts = arr(content).flatMap((each) => str(each) ?? [])
  return Array.isArray(content) && texts.length === content.length && texts.length % 2 === 1 ? texts : undefined
}, (inFile, change) => JsonPath.walk(inFile, [], change))

const keysOf = (content: Content): ReadonlyArray<string> =>
  typeof content === "string" ? [content] : content.filter((_, index) => index % 2 === 1)

/** References of a file to secrets. */
export const references = marks.all

/** Keys of all secrets that a file refers to. */
export const keysIn = (inFile: unknown): ReadonlyArray<string> =>
  references(inFile).flatMap(({ content }) => keysOf(content))

const valueOf = (content: Content, values: ReadonlyMap<string, unknown>) =>
  typeof content === "string"
    ? values.get(content)
    : content.map((text, index) => index % 2 === 1 ? String(values.get(text)) : text).join("")

const join = (inFile: unknown, values: ReadonlyMap<string, unknown>): unknown =>
  marks.join(inFile, (content) => valueOf(content, values))

/** JSON of a file without the values of its secrets, which may be elsewhere. */
export const hidden = (inFile: unknown): unknown =>
  join(inFile, new Map(keysIn(inFile).map((key) => [key, Redact.marker])))

/** Identifies a place in a workflow, whatever the order and the names of its nodes. */
const placeOf = (workflow: unknown, path: JsonPath.Path) => JSON.stringify(stablePath(workflow, path))

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
const split = (
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

  const value = marks.split(workflow, (inner, path) => {
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

export const fileName = ".n8n-secrets.json"

const decode = Schema.decodeEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

export const make = Effect.fnUntraced(function*(
  locate: Locate.Locate,
  lock: Lock,
  textAt: (full: string) => Effect.Effect<string | undefined, Errors.ValidationError>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  /** Folder of the values for a file: the nearest that has some, or that is synced, up to the files root. */
  const folderOf = Effect.fnUntraced(function*(file: string) {
    const own = path.dirname(file)
    const roots = yield* locate.roots
    const isBelow = (folder: string) => roots.some((root) => folder === root || folder.startsWith(`${root}${path.sep}`))
    for (let folder = own; isBelow(folder); folder = path.dirname(folder)) {
      for (const name of [fileName, ".n8n-sync.json"]) {
        if (yield* Effect.orElseSucceed(fs.exists(path.join(folder, name)), () => false)) return folder
      }
      if (path.dirname(folder) === folder) break
    }
    return own
  })

  const read = Effect.fnUntraced(function*(folder: string) {
    const file = path.join(folder, fileName)
    const text = yield* textAt(file)
    if (text === undefined) return new Map<string, unknown>()
    return new Map(Object.entries(
      yield* decode(text).pipe(
        Effect.mapError(() =>
          refuse(`'${file}' is not a JSON object with the values of secrets`, "Fix it, or copy it again.")
        )
      )
    ))
  })

  const put = Effect.fnUntraced(function*(folder: string, name: string, text: string, mode: number) {
    const full = path.join(folder, name)
    const temporary = path.join(folder, `${fileName}.tmp`)
    yield* writable(full)(AtomicFile.writeAlone(fs, full, { data: text, temporary, mode, isReal: true }))
  })

  const write = Effect.fnUntraced(function*(folder: string, values: ReadonlyMap<string, unknown>) {
    const ignored = (yield* textAt(path.join(folder, ".gitignore"))) ?? ""
    if (!ignored.split(/\r?\n/).includes(fileName)) {
      const start = ignored === "" || ignored.endsWith("\n") ? ignored : `${ignored}\n`
      yield* put(folder, ".gitignore", `${start}${fileName}\n`, 0o644)
    }
    const sorted = Object.fromEntries([...values].toSorted(([a], [b]) => a < b ? -1 : 1))
    yield* put(folder, fileName, `${JSON.stringify(sorted, null, 2)}\n`, 0o600)
  })

  const joined = Effect.fnUntraced(function*(shown: string, file: string, inFile: unknown) {
    const keys = keysIn(inFile)
    const folder = yield* folderOf(file)
    const values = keys.length === 0 ? new Map<string, unknown>() : yield* read(folder)
    const missing = keys.find((key) => !values.has(key))
    return missing === undefined ? join(inFile, values) : yield* refuse(
      `File '${shown}' refers to the secret '${missing}', which '${path.join(folder, fileName)}' does not have`,
      "Git does not contain secrets: copy that file, or the line, from where the workflow was pulled; or replace the reference in the workflow by a credential or an expression."
    )
  })

  /** JSON of a file without its secrets, whose values are written; a file with references has no others. */
  const separated = Effect.fnUntraced(function*(
    file: string,
    workflow: Obj,
    raw: unknown,
    mode: "extract" | "join" | undefined
  ) {
    const before = mode === "join" ? undefined : raw
    const isExtracted = mode === "extract" || keysIn(before).length > 0
    const options = { isExtracted, prefix: readable(stem(path.basename(file))) }
    if (!isExtracted) return split(workflow, before, { ...options, values: new Map() }).value
    const folder = yield* folderOf(file)
    return yield* Effect.gen(function*() {
      const values = yield* read(folder)
      const { secrets, value } = split(workflow, before, { ...options, values })
      const isNew = [...secrets].some(([key, secret]) => !values.has(key) || values.get(key) !== secret)
      if (isNew) yield* write(folder, new Map([...values, ...secrets]))
      return value
    }).pipe(lock(file, path.join(folder, fileName)))
  })

  return { joined, separated }
})
