import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { execFileSync } from "node:child_process"
import * as folders from "../../../src/app/commands/folders.ts"
import { folderWith, platform } from "../../support/folders.ts"

describe("changes since a commit", () => {
  it.effect("is found without running the programs that a repository's configuration names", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* folderWith({ "a.json": "{}", "b.json": "{}" })
      const git = (...args: ReadonlyArray<string>) =>
        Effect.sync(() =>
          void execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...args], { cwd: folder })
        )
      yield* git("init", "-q")
      yield* git("add", ".")
      yield* git("commit", "-q", "-m", "First")
      yield* fs.writeFileString(`${folder}/.git/run.sh`, `#!/bin/sh\ntouch ${folder}/.git/ran\n`)
      yield* fs.chmod(`${folder}/.git/run.sh`, 0o755)
      for (const hook of ["post-index-change", "reference-transaction"]) {
        yield* fs.copyFile(`${folder}/.git/run.sh`, `${folder}/.git/hooks/${hook}`)
        yield* fs.chmod(`${folder}/.git/hooks/${hook}`, 0o755)
      }
      yield* git("config", "core.fsmonitor", `${folder}/.git/run.sh`)
      yield* fs.remove(`${folder}/.git/ran`, { force: true })
      yield* fs.writeFileString(`${folder}/b.json`, "{\"b\":1}")
      yield* fs.writeFileString(`${folder}/c.json`, "{}")
      assert.deepStrictEqual(yield* folders.changedSince(folder, "HEAD"), ["b.json", "c.json"])
      assert.isFalse(yield* fs.exists(`${folder}/.git/ran`))
      const { message } = yield* Effect.flip(folders.changedSince(folder, "no-such-ref"))
      assert.match(message, /^--from-git 'no-such-ref': git cannot list the changes since it: /)
    }).pipe(Effect.scoped, Effect.provide(platform)))
})
