/** Values of secrets in `.n8n-secrets.json`, which git ignores: in a workflow's folder, or in one above it. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as AtomicFile from "../../base/AtomicFile.ts"
import type * as Errors from "../../base/Errors.ts"
import type { Obj } from "../../base/Json.ts"
import type * as Locate from "./locate.ts"
import type { Lock } from "./lock.ts"
import * as names from "./names.ts"
import { refuse, stem, writable } from "./refusals.ts"
import * as secretParts from "./secretParts.ts"

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
    const keys = secretParts.keysIn(inFile)
    const folder = yield* folderOf(file)
    const values = keys.length === 0 ? new Map<string, unknown>() : yield* read(folder)
    const missing = keys.find((key) => !values.has(key))
    return missing === undefined ? secretParts.join(inFile, values) : yield* refuse(
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
    const isExtracted = mode === "extract" || secretParts.keysIn(before).length > 0
    const options = { isExtracted, prefix: names.readable(stem(path.basename(file))) }
    if (!isExtracted) return secretParts.split(workflow, before, { ...options, values: new Map() }).value
    const folder = yield* folderOf(file)
    return yield* Effect.gen(function*() {
      const values = yield* read(folder)
      const { secrets, value } = secretParts.split(workflow, before, { ...options, values })
      const isNew = [...secrets].some(([key, secret]) => !values.has(key) || values.get(key) !== secret)
      if (isNew) yield* write(folder, new Map([...values, ...secrets]))
      return value
    }).pipe(lock(file, path.join(folder, fileName)))
  })

  return { joined, separated }
})
