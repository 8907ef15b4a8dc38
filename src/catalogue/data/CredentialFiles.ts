/** Fields of the credential types in n8n's packages, and which of them are hidden in n8n's editor. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"

/** Fields by type, inherited ones included, and whether each is a secret. */
export const CredentialTypes = Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Boolean))
export type CredentialTypes = typeof CredentialTypes.Type

const Type = Schema.Struct({
  name: Schema.String,
  extends: Schema.optionalKey(Schema.Array(Schema.String)),
  properties: Schema.Array(Schema.Struct({
    name: Schema.String,
    type: Schema.String,
    typeOptions: Schema.optionalKey(Schema.Struct({
      password: Schema.optionalKey(Schema.Boolean),
      redactJsonLeaves: Schema.optionalKey(Schema.Boolean)
    }))
  }))
})

const File = Schema.fromJsonString(Schema.Array(Type))

const ownFields = ({ properties }: typeof Type.Type) =>
  Object.fromEntries(
    properties.filter(({ type }) => type !== "notice").map(({ name, typeOptions = {} }) => [
      name,
      typeOptions.password === true || typeOptions.redactJsonLeaves === true
    ])
  )

export const read = Effect.fnUntraced(function*(folders: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const types = new Map(
    (yield* Effect.forEach(
      folders,
      (folder) =>
        Effect.flatMap(fs.readFileString(path.join(folder, "dist/types/credentials.json")), Schema.decodeEffect(File))
    ))
      .flat().map((type) => [type.name, type])
  )
  const fieldsOf = (name: string): Readonly<Record<string, boolean>> => {
    const type = types.get(name)
    return type === undefined ? {} : Object.assign({}, ...(type.extends ?? []).map(fieldsOf), ownFields(type))
  }
  return Object.fromEntries([...types.keys()].map((name) => [name, fieldsOf(name)])) satisfies CredentialTypes
})
