/** Snapshots of earlier releases, in files `<host>-<digest>/<id>-<digest>/<version>.json` of the state folder. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import { Documents } from "../../base/Documents.ts"
import * as Snapshots from "./Snapshots.ts"

const Workflow = Schema.StructWithRest(Schema.Struct({ id: Schema.String }), [
  Schema.Record(Schema.String, Schema.Unknown)
])
const decode = Schema.decodeEffect(
  Schema.fromJsonString(Schema.Struct({ snapshot: Snapshots.Snapshot, workflow: Workflow }))
)

const folders = /-[\da-f]{16}$/

/** Moves them into the documents; those that cannot be read remain where they are. */
export const adopt = Effect.fnUntraced(function*(state: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const documents = yield* Documents
  const inside = (folder: string, names: RegExp) =>
    fs.readDirectory(folder).pipe(
      Effect.map((all) => all.filter((name) => names.test(name)).map((name) => path.join(folder, name))),
      Effect.orElseSucceed(() => [])
    )
  for (const instance of yield* inside(state, folders)) {
    for (const workflow of yield* inside(instance, folders)) {
      const files = yield* inside(workflow, /^snapshot-.*\.json$/)
      yield* Effect.forEach(files, (file) =>
        fs.readFileString(file).pipe(
          Effect.flatMap(decode),
          Effect.flatMap(({ snapshot, workflow }) =>
            Effect.flatMap(Snapshots.pack(snapshot, workflow), (body) =>
              documents.collection(Snapshots.collection, Snapshots.ownerOf(instance.slice(-16), workflow.id))
                .add(snapshot.version, body))
          ),
          Effect.andThen(fs.remove(file)),
          Effect.ignore
        ), { discard: true })
      // Folders that are not empty remain.
      yield* Effect.ignore(fs.remove(workflow))
    }
    yield* Effect.ignore(fs.remove(instance))
  }
})
