/** Fields of nodes' output items, from the schemas in n8n's packages. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"

/** Fields by resource and operation (`message/getAll`), or by the empty string. */
export type ItemFields = Readonly<Record<string, string>>

const Known = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Struct({ sourcePath: Schema.String })))

const ItemSchema = Schema.fromJsonString(Schema.Struct({
  properties: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.Struct({ type: Schema.optionalKey(Schema.Unknown) }))
  )
}))

const most = 25

const marks: Readonly<Record<string, string>> = { object: "{}", array: "[]" }

const inWords = ({ properties = {} }: typeof ItemSchema.Type): string => {
  const names = Object.entries(properties).map(([name, { type }]) => `${name}${marks[String(type)] ?? ""}`)
  return `${names.slice(0, most).join(" ")}${names.length > most ? ` … ${names.length - most} more` : ""}`
}

/** Fields of each operation, from the newest version with a schema (`v2.2.0/message/getAll.json`). */
const readFolder = Effect.fnUntraced(function*(folder: string) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const files = (yield* fs.readDirectory(folder, { recursive: true })).filter((file) => file.endsWith(".json"))
  const byOperation = new Map(
    files.toSorted((a, b) => a.localeCompare(b, "en", { numeric: true })).map((file) =>
      [file.slice(file.indexOf("/") + 1).replace(/\.json$/, "").replace(/^output$/, ""), file] as const
    )
  )
  const entries = yield* Effect.forEach(
    byOperation,
    ([operation, file]) =>
      fs.readFileString(paths.join(folder, file)).pipe(
        Effect.flatMap(Schema.decodeEffect(ItemSchema)),
        Effect.map((schema) => [operation, inWords(schema)] as const)
      )
  )
  return Object.fromEntries(entries.filter(([, fields]) => fields !== ""))
})

/** Fields by node name (`slack`) of a package; nodes without schemas are omitted. */
export const read = Effect.fnUntraced(function*(
  folder: string,
  descriptions: ReadonlyArray<{ readonly name: string; readonly schemaPath?: string }>
): Effect.fn.Return<ReadonlyMap<string, ItemFields>, never, FileSystem.FileSystem | Path.Path> {
  const paths = yield* Path.Path
  const known = yield* (yield* FileSystem.FileSystem).readFileString(paths.join(folder, "dist/known/nodes.json")).pipe(
    Effect.flatMap(Schema.decodeEffect(Known)),
    Effect.orElseSucceed(() => ({} as typeof Known.Type))
  )
  const byName = new Map<string, ItemFields>()
  for (const { name, schemaPath } of descriptions) {
    const source = known[name]?.sourcePath
    if (source === undefined || byName.has(name)) continue
    const own = schemaPath === undefined ? paths.dirname(source) : paths.join("dist/nodes", schemaPath)
    const fields = yield* Effect.orElseSucceed(readFolder(paths.join(folder, own, "__schema__")), () => ({}))
    if (Object.keys(fields).length > 0) byName.set(name, fields)
  }
  return byName
})
