import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as ConfigPlace from "../../../src/app/config/ConfigPlace.ts"
import { declarations } from "../../../src/app/config/Declarations.ts"
import * as PlainOptions from "../../../src/app/config/PlainOptions.ts"
import { folderWith, platform } from "../../support/folders.ts"

const own = { name: "n8n", url: "http://localhost:5678", apiKey: "k-0123456789" }

const file = "effect-n8n-mcp/n8n.json"

describe("ConfigPlace", () => {
  it.effect("is the nearest of a folder and those above it, else the user's; others must not be able to read it", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* folderWith({ [file]: "{}", "a/b/c.json": "", [`a/${ConfigPlace.projectFile}`]: "{}" })
      const env = { XDG_CONFIG_HOME: folder }
      assert.strictEqual(ConfigPlace.userFile(env), `${folder}/${file}`)
      for (const each of [file, `a/${ConfigPlace.projectFile}`]) yield* fs.chmod(`${folder}/${each}`, 0o600)
      const project = { file: `${folder}/a/${ConfigPlace.projectFile}`, isOpen: false }
      assert.deepStrictEqual(ConfigPlace.find(env, `${folder}/a/b`), project)
      assert.deepStrictEqual(ConfigPlace.find(env, folder), { file: `${folder}/${file}`, isOpen: false })
      for (const mode of [0o644, 0o660, 0o604]) {
        yield* fs.chmod(project.file, mode)
        assert.deepStrictEqual(ConfigPlace.find(env, `${folder}/a`), { ...project, isOpen: true })
      }
      assert.isUndefined(ConfigPlace.find({ XDG_CONFIG_HOME: `${folder}/a` }, folder))
    }).pipe(Effect.scoped, Effect.provide(platform)))

  it.effect.each<readonly [string, object | string, boolean]>([
    ["one profile of init", { profiles: [own] }, true],
    ["a read-only profile", { profiles: [{ ...own, readOnly: true }] }, true],
    ["several profiles", { profiles: [own, { ...own, name: "b" }] }, false],
    ["an address that is refused", { profiles: [{ ...own, url: "n8n" }] }, false],
    ["no JSON", "{", false]
  ])(
    "with %s, the start is lean only if the program accepts it",
    ([, content, holds]) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const text = typeof content === "string" ? content : JSON.stringify(content)
        const folder = yield* folderWith({ [file]: text })
        yield* fs.chmod(`${folder}/${file}`, 0o600)
        const env = { XDG_CONFIG_HOME: folder }
        const options = Object.values(declarations)
        const isReadOnly = (args: ReadonlyArray<string>, env: Record<string, string>) => {
          const values = PlainOptions.read(args, env, options)
          return values && PlainOptions.isReadOnly(values, env)
        }
        assert.strictEqual(isReadOnly([], env) !== undefined, holds)
        assert.isFalse(isReadOnly(["--demo"], env))
        assert.isFalse(isReadOnly([], { ...env, N8N_URL: own.url, N8N_API_KEY: own.apiKey }))
      }).pipe(Effect.scoped, Effect.provide(platform))
  )
})
