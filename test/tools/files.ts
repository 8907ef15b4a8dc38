/** What lies in folders. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { gunzipSync } from "node:zlib"
import { type Obj, obj } from "../../src/base/Json.ts"

/** Every file below a folder, by path. */
export const filesIn = Effect.fnUntraced(function*(folder: string) {
  const fs = yield* FileSystem.FileSystem
  const files = new Map<string, string>()
  for (const name of (yield* fs.readDirectory(folder, { recursive: true })).toSorted()) {
    const path = `${folder}/${name}`
    if ((yield* fs.stat(path)).type === "File") files.set(name, yield* fs.readFileString(path))
  }
  return files
})

/** Snapshots of a state folder: a line with the description, then the workflow, compressed. */
export const snapshotsIn = Effect.fnUntraced(function*(state: string) {
  const fs = yield* FileSystem.FileSystem
  const folder = `${state}/snapshots`
  const names = yield* Effect.orElseSucceed(fs.readDirectory(folder, { recursive: true }), () => [])
  return yield* Effect.forEach(
    names.filter((name) => /(^|\/)snapshot-[^/]*$/.test(name)),
    (name) =>
      Effect.map(fs.readFile(`${folder}/${name}`), (body): { readonly snapshot: Obj; readonly workflow: Obj } => {
        const end = body.indexOf(0x0a)
        return {
          snapshot: obj(JSON.parse(Buffer.from(body.subarray(0, end)).toString("utf8"))) ?? {},
          workflow: obj(JSON.parse(gunzipSync(body.subarray(end + 1)).toString("utf8"))) ?? {}
        }
      })
  )
})
