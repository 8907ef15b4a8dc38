import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { execFileSync } from "node:child_process"
import * as ConfigPlace from "../../../src/app/config/ConfigPlace.ts"
import { declarations } from "../../../src/app/config/Declarations.ts"
import * as PlainOptions from "../../../src/app/config/PlainOptions.ts"
import { sha256 } from "../../../src/base/Hash.ts"
import { folderWith, platform } from "../../support/folders.ts"

const own = { name: "n8n", url: "http://localhost:5678", apiKey: "k-0123456789" }

const file = "effect-n8n-mcp/n8n.json"

describe("ConfigPlace", () => {
  /** Folder with these private files, of which the first ones are recorded as `init` records them. */
  const prepare = Effect.fnUntraced(function*(texts: { readonly [path: string]: string }, recorded: number) {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* folderWith(texts)
    for (const path of Object.keys(texts)) yield* fs.chmod(`${folder}/${path}`, 0o600)
    const env = { XDG_CONFIG_HOME: folder }
    const record = (files: ReadonlyArray<string>) =>
      Effect.gen(function*() {
        const digests = yield* Effect.forEach(files, (file) =>
          Effect.map(fs.readFileString(file), (text) => [ConfigPlace.recordName(file), sha256(text)] as const))
        yield* fs.makeDirectory(`${folder}/effect-n8n-mcp`, { recursive: true })
        yield* fs.writeFileString(ConfigPlace.recordsFile(env), JSON.stringify(Object.fromEntries(digests)))
        yield* fs.chmod(ConfigPlace.recordsFile(env), 0o600)
      })
    yield* record(Object.keys(texts).slice(0, recorded).map((path) => `${folder}/${path}`))
    return { fs, folder, env }
  })

  const project = (folder: string) => `${folder}/${ConfigPlace.projectFile}`

  const reasons = ({ refused }: ConfigPlace.Found) => refused.map(({ objection }) => objection.split(/[,:]/)[0])

  it.effect("is the nearest of a folder and those above it, else the user's; others must not be able to read it", () =>
    Effect.gen(function*() {
      const { env, folder, fs } = yield* prepare({ [project("a")]: "{}", [file]: "[]", "a/b/c.json": "" }, 1)
      assert.strictEqual(ConfigPlace.userFile(env), `${folder}/${file}`)
      const own = { used: { file: `${folder}/${file}`, text: "[]" }, refused: [] }
      const ofProject = { used: { file: project(`${folder}/a`), text: "{}" }, refused: [] }
      assert.deepStrictEqual(ConfigPlace.find(env, `${folder}/a/b`), ofProject)
      assert.deepStrictEqual(ConfigPlace.find(env, folder), own)
      for (const mode of [0o644, 0o660, 0o604]) {
        yield* fs.chmod(ofProject.used.file, mode)
        const found = ConfigPlace.find(env, `${folder}/a`)
        assert.deepStrictEqual([found.used, reasons(found)], [own.used, ["other users could read or change it"]])
      }
      assert.deepStrictEqual(ConfigPlace.find({ XDG_CONFIG_HOME: `${folder}/a` }, folder), {
        used: undefined,
        refused: []
      })
    }).pipe(Effect.scoped, Effect.provide(platform)))

  type Prepared = Effect.Success<ReturnType<typeof prepare>>

  const git = (folder: string, ...args: ReadonlyArray<string>) =>
    Effect.sync(() => execFileSync("git", args, { cwd: folder }))

  const foreign = "init did not write it here"

  it.effect.each<readonly [string, string | undefined, (world: Prepared) => Effect.Effect<unknown, unknown>]>([
    ["as init wrote it", undefined, () => Effect.void],
    ["in a repository that does not have it", undefined, ({ folder }) => git(`${folder}/a`, "init", "-q")],
    [
      "that has changed",
      "it has changed since init wrote it",
      ({ folder, fs }) => fs.writeFileString(project(`${folder}/a`), "{ }")
    ],
    [
      "that git tracks",
      "git tracks it (or cannot say)",
      ({ folder }) => Effect.andThen(git(`${folder}/a`, "init", "-q"), git(`${folder}/a`, "add", "."))
    ],
    [
      "that git tracks from a folder above",
      "git tracks it (or cannot say)",
      ({ folder }) => Effect.andThen(git(folder, "init", "-q"), git(folder, "add", "a"))
    ],
    [
      "in a repository that git cannot read",
      "git tracks it (or cannot say)",
      ({ folder, fs }) => fs.writeFileString(`${folder}/a/.git`, "gitdir: /nowhere")
    ],
    [
      "without records",
      foreign,
      ({ folder, fs }) => fs.remove(ConfigPlace.recordsFile({ XDG_CONFIG_HOME: folder }))
    ],
    [
      "in a folder that was replaced by a link",
      foreign,
      ({ folder, fs }) =>
        Effect.andThen(fs.rename(`${folder}/a`, `${folder}/c`), fs.symlink(`${folder}/c`, `${folder}/a`))
    ],
    [
      "that was replaced by a link to another text",
      "it has changed since init wrote it",
      ({ folder, fs }) =>
        Effect.andThen(fs.remove(project(`${folder}/a`)), fs.symlink(`${folder}/${file}`, project(`${folder}/a`)))
    ],
    [
      "that is another name of the user's file",
      "it has changed since init wrote it",
      ({ folder, fs }) =>
        Effect.andThen(fs.remove(project(`${folder}/a`)), fs.link(`${folder}/${file}`, project(`${folder}/a`)))
    ],
    [
      "with records that others can change",
      foreign,
      ({ folder, fs }) => fs.chmod(ConfigPlace.recordsFile({ XDG_CONFIG_HOME: folder }), 0o620)
    ],
    [
      "with records that are not JSON",
      foreign,
      ({ folder, fs }) => fs.writeFileString(ConfigPlace.recordsFile({ XDG_CONFIG_HOME: folder }), "{")
    ]
  ])("of a project %s is used only if init wrote it so; else that of a folder above, or the user's", ([
    ,
    objection,
    change
  ]) =>
    Effect.gen(function*() {
      const world = yield* prepare({ [project("a")]: "{}", [file]: "[]" }, 1)
      const { env, folder } = world
      yield* change(world)
      const found = ConfigPlace.find(env, `${folder}/a`)
      assert.deepStrictEqual(reasons(found), objection === undefined ? [] : [objection])
      assert.strictEqual(found.used?.text, objection === undefined ? "{}" : "[]")
      // Named with `--config`, it is what init wrote, or what a person wrote.
      const named = ConfigPlace.named(env, project(`${folder}/a`))
      const isRefused = objection !== undefined && objection !== foreign
      assert.deepStrictEqual(reasons(named), isRefused ? [objection] : [])
      assert.strictEqual(named.used !== undefined, !isRefused)
    }).pipe(Effect.scoped, Effect.provide(platform)))

  it.effect("of a project above is used where a nearer one is not", () =>
    Effect.gen(function*() {
      const { env, folder } = yield* prepare({ [project("a")]: "{}", [project("a/b")]: "{}", [file]: "[]" }, 1)
      const found = ConfigPlace.find(env, `${folder}/a/b`)
      assert.deepStrictEqual(found.used, { file: project(`${folder}/a`), text: "{}" })
      assert.deepStrictEqual(reasons(found), [foreign])
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
