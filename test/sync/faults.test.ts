import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as PlatformError from "effect/PlatformError"
import * as Errors from "../../src/base/Errors.ts"
import * as Sync from "../../src/sync/Sync.ts"
import * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import * as WorkflowFiles from "../../src/workflows/files/WorkflowFiles.ts"
import { withFileSystem } from "../support/folders.ts"
import { inWorld } from "../support/world.ts"
import { contents, create, edit } from "./workflows.ts"

const full = () =>
  PlatformError.systemError({
    _tag: "Unknown",
    module: "FileSystem",
    method: "writeAll",
    cause: Object.assign(new Error("no space left on device"), { code: "ENOSPC" })
  })

/** A disk that is full from the n-th file on that is put in place. */
const fullFrom = (at: number) => {
  let count = 0
  const guard = (effect: Effect.Effect<void, PlatformError.PlatformError>) =>
    Effect.suspend(() => count++ >= at ? Effect.fail(full()) : effect)
  return withFileSystem((fs) => ({
    rename: (from, to) => guard(fs.rename(from, to)),
    link: (from, to) => guard(fs.link(from, to)),
    // A link that cannot be made is replaced by a second copy.
    open: (path, options) =>
      count > at && options?.flag === "wx" && !path.endsWith(".tmp")
        ? Effect.fail(full())
        : fs.open(path, options)
  }))
}

const errorsOf = ({ entries }: Sync.Report<Sync.Outcome>) =>
  entries.flatMap(({ error }) => error === undefined ? [] : [Errors.report(error).message])

describe("a sync", () => {
  it.effect("that meets a full disk says so, leaves whole files, and is finished by the next one", () =>
    inWorld(function*({ folder }) {
      const ids = yield* Effect.forEach(["A", "B", "C"], (name) => create(name))
      for (let at = 0; at <= 4; at++) {
        const withFull = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
          Effect.suspend(() => Effect.provide(effect, WorkflowFiles.layer({ roots: [folder] })))
            .pipe(fullFrom(at), Effect.provide(NodeServices.layer))
        const before = yield* contents(folder)
        const broken = yield* Effect.result(withFull(Sync.pull(".")))
        const told = broken._tag === "Failure" ? broken.failure.message : errorsOf(broken.success).join()
        if (at < 4) assert.include(told, "ENOSPC", `${at}`)
        else assert.strictEqual(told, "")
        for (const [name, text] of Object.entries(yield* contents(folder))) {
          if (name.endsWith(".tmp")) continue
          JSON.parse(text)
          if (before[name] !== undefined && name !== ".n8n-sync.json") assert.strictEqual(text, before[name])
        }
        const status = yield* Sync.status(".")
        assert.isFalse(status.hasConflicts || status.hasErrors, `${at}`)
        yield* Sync.pull(".")
        assert.isTrue((yield* Sync.status(".")).isSame, `${at}`)
        const fs = yield* FileSystem.FileSystem
        for (const name of yield* fs.readDirectory(folder)) yield* fs.remove(`${folder}/${name}`)
      }
      assert.strictEqual(ids.length, 3)
    }))

  it.live("that pushes while n8n goes down stops asking, and the next one writes the rest", () => {
    let isDown = false
    let writes = 0
    return inWorld(function*({ api, folder }) {
      for (const name of ["A", "B", "C", "D"]) yield* create(name)
      yield* Sync.pull(".")
      for (const name of ["a", "b", "c", "d"]) yield* edit(`${folder}/${name}.json`, "value: 1", "value: 2")
      isDown = true
      const count = (yield* api.requests).length
      const report = yield* Sync.push(".")
      assert.deepStrictEqual(report.entries.map(({ action, error }) => action ?? error?._tag ?? "left"), [
        "updated",
        "ApiError"
      ])
      assert.deepStrictEqual([report.hasErrors, report.remaining], [true, 2])
      assert.isBelow((yield* api.requests).length - count, 25)
      isDown = false
      const next = yield* Sync.push(".")
      assert.deepStrictEqual(next.entries.map(({ action }) => action ?? "left"), [
        "left",
        "updated",
        "updated",
        "updated"
      ])
      assert.isTrue((yield* Sync.status(".")).isSame)
    }, {
      before: ({ method }) =>
        Effect.suspend(() => {
          if (isDown && method === "PUT") writes++
          return isDown && writes > 1 ? Effect.fail(new N8nApi.Disconnected()) : Effect.void
        })
    })
  })
})
