import { assert, describe, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import { spawnSync } from "node:child_process"
import * as Envelope from "../../../src/answer/Envelope.ts"
import * as Hints from "../../../src/answer/Hints.ts"
import * as Errors from "../../../src/base/Errors.ts"
import { encode } from "../../../src/workflows/files/read.ts"
import { Json } from "../../support/arbitrary.ts"
import { folderWith, platform, withFileSystem } from "../../support/folders.ts"
import { rounds } from "../../support/seed.ts"
import { isText, namesIn, over, refusal, workflow } from "./folder.ts"

const read = (roots: ReadonlyArray<string> | string, file: string) =>
  Effect.flatMap(over(...[roots].flat()), (files) => files.read(file))

/** Reads a file with this content; only the reading may fail. */
const readContent = (content: string | Uint8Array) =>
  folderWith({ "x.json": content }).pipe(Effect.orDie, Effect.flatMap((root) => read(root, "x.json")))

layer(platform)("a workflow file", (it) => {
  describe("is found", () => {
    it.effect("relative to the first root, and absolute under any", () =>
      Effect.gen(function*() {
        const first = yield* folderWith({ "a.json": "1", "sub/b.json": "2" })
        const second = yield* folderWith({ "a.json": "3", "c.json": "4" })
        for (
          const [file, path, value] of [
            ["a.json", `${first}/a.json`, 1],
            ["./sub/b.json", `${first}/sub/b.json`, 2],
            ["sub/../a.json", `${first}/a.json`, 1],
            [`${first}/sub/b.json`, `${first}/sub/b.json`, 2],
            [`${second}/a.json`, `${second}/a.json`, 3],
            [`../${second.split("/").at(-1)}/c.json`, `${second}/c.json`, 4]
          ] as const
        ) {
          const text = String(value)
          assert.deepInclude(yield* read([first, second], file), { path, text, value, repairs: [] })
        }
        assert.match((yield* Effect.flip(read([first, second], "c.json"))).message, /does not exist/)
      }))

    it.effect("under any name, also one that the other system composes otherwise", () =>
      Effect.gen(function*() {
        const odd = ["請求書 が届いたら", "Ünïcode’s 🚀", ".hidden", "a\\b", "..x", "%2e"].map((name) => `${name}.json`)
        for (const name of [...odd, "UPPER.JSON"]) {
          const root = yield* folderWith({ [name]: "\"名前\"" })
          assert.deepInclude(yield* read(root, name), { path: `${root}/${name}`, value: "名前" })
        }
        const composed = "ガイド/が.json"
        const root = yield* folderWith({ [composed.normalize("NFD")]: "1" })
        assert.strictEqual((yield* read(root, composed.normalize("NFC"))).path, `${root}/${composed.normalize("NFD")}`)
      }))

    it.effect("through links that stay under the roots, and under a root that is one, by either of its names", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const root = yield* folderWith({ "sub/a.json": "1" })
        const other = yield* folderWith({ "b.json": "2" })
        const link = `${other}/link`
        yield* fs.symlink("sub/a.json", `${root}/relative.json`)
        yield* fs.symlink(`${root}/sub`, `${root}/folder`)
        yield* fs.symlink("../relative.json", `${root}/sub/twice.json`)
        yield* fs.symlink(other, `${root}/other`)
        yield* fs.symlink(root, link)
        yield* fs.symlink(`${link}/sub/a.json`, `${root}/long.json`)
        for (const name of ["relative.json", "folder/a.json", "folder/twice.json"]) {
          assert.strictEqual((yield* read(root, name)).path, `${root}/sub/a.json`)
        }
        for (const name of ["sub/a.json", "long.json", `${link}/sub/a.json`, `${root}/sub/a.json`]) {
          assert.strictEqual((yield* read(`${link}/`, name)).path, `${root}/sub/a.json`)
        }
        assert.strictEqual((yield* read([root, other], "other/b.json")).path, `${other}/b.json`)
      }))
  })

  describe("outside the roots", () => {
    /** A root with ways out, and what may not be learnt about: whether `there.json` exists. */
    const walled = Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const outside = yield* folderWith({
        "there.json": "\"secret\"",
        "root/in.json": "1",
        "root-evil/there.json": "2"
      })
      const root = `${outside}/root`
      yield* fs.symlink(outside, `${root}/up`)
      yield* fs.symlink("..", `${root}/dots`)
      yield* fs.symlink("up", `${root}/again`)
      for (const name of ["there.json", "missing.json"]) yield* fs.symlink(`${outside}/${name}`, `${root}/link-${name}`)
      return { outside, root }
    })

    const ways = ["up/@", "dots/@", "again/@", "link-@", "again/dots/up/@", "dots/root/in.json/../../@", "up/root/up/@"]
    const plain = [
      "../@",
      "../root-evil/@",
      "in.json/../../@",
      "OUT/@",
      "OUT/root/../@",
      "OUT/root-evil/@",
      "/etc/@",
      ".."
    ]

    it.effect.each([...ways, ...plain])(
      "is refused by way of %s, whether it exists or not, and never touched",
      (way) =>
        Effect.gen(function*() {
          const { outside, root } = yield* walled
          const touched: Array<string> = []
          const spied = withFileSystem((fs) =>
            Object.fromEntries(
              Object.entries(fs).flatMap(([name, method]: [string, unknown]) =>
                typeof method !== "function" ? [] : [[name, (path: string, ...rest: ReadonlyArray<unknown>) => {
                  touched.push(path)
                  return method(path, ...rest)
                }]]
              )
            )
          )
          const ask = (name: string) =>
            Effect.flip(read(root, way.replace("@", name).replace("OUT", outside))).pipe(
              Effect.map((error) => JSON.stringify(Envelope.fromError(error)).replaceAll(name, "@")),
              spied
            )
          const [there, missing] = [yield* ask("there.json"), yield* ask("missing.json")]
          assert.strictEqual(there, missing)
          assert.match(there, /is not under the files root|is a link that leads out of the files root/)
          assert.include(there, `the files root '${root}'`)
          assert.include(there, "--files-root")
          assert.notInclude(there, "secret")
          assert.isNotEmpty(touched)
          for (const path of touched) {
            assert.isTrue(path === root || path.startsWith(`${root}/`), path)
            assert.notMatch(path, /\/(?:up|dots|again)\//)
          }
        })
    )

    it.effect("is refused when it or the way to it is swapped as it is opened", () =>
      Effect.gen(function*() {
        const { outside, root } = yield* walled
        const elsewhere = withFileSystem((fs) => ({ open: (_, options) => fs.open(`${outside}/there.json`, options) }))
        const error = yield* Effect.flip(read(root, "in.json")).pipe(elsewhere)
        assert.match(error.message, /changed while it was read/)
        const linked = withFileSystem((fs) => ({
          open: (path, options) =>
            Effect.andThen(fs.remove(path), fs.symlink(`${outside}/there.json`, path)).pipe(
              Effect.andThen(fs.open(path, options))
            )
        }))
        assert.match((yield* Effect.flip(read(root, "in.json")).pipe(linked)).message, /leads out of the files root/)
      }))

    it.effect("is refused when a folder on the way is a link whenever something is opened, and never else", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const outside = yield* folderWith({ "flow.json": workflow({ name: "secret" }) })
        const root = yield* folderWith({ "sub/flow.json": workflow({ name: "mine" }) })
        const aside = `${outside}/aside`
        const swap = Effect.andThen(fs.rename(`${root}/sub`, aside), fs.symlink(outside, `${root}/sub`))
        const back = Effect.andThen(fs.remove(`${root}/sub`), fs.rename(aside, `${root}/sub`))
        const flipping = withFileSystem((fs) => ({
          open: (path, options) =>
            path.startsWith(root)
              ? Effect.andThen(Effect.orDie(swap), Effect.ensuring(fs.open(path, options), Effect.orDie(back)))
              : fs.open(path, options),
          // Where it is looked, the other one is there.
          lstat: (path) => fs.lstat(path === `${root}/sub/flow.json` ? `${outside}/flow.json` : path)
        }))
        const error = yield* Effect.flip(read(root, "sub/flow.json")).pipe(flipping)
        assert.match(error.message, /changed while it was read/)
        const files = yield* over(root).pipe(flipping)
        assert.deepStrictEqual((yield* files.list().pipe(flipping)).workflows, [])
        yield* Effect.flip(files.create("sub/new.json", workflow()).pipe(flipping))
        assert.deepStrictEqual([yield* namesIn(outside), yield* namesIn(`${root}/sub`)], [["flow.json"], ["flow.json"]])
      }))
  })

  describe("is refused", () => {
    it.effect.each<[file: string, says: string | RegExp]>([
      ["", "File path is required"],
      ["  ", "File path is required"],
      ["a\0.json", "File path contains a NUL character"],
      ["notes.txt", "File 'notes.txt' is not a .json file"],
      [".", "File '.' is not a .json file"],
      [".env", "File '.env' is not a .json file"],
      ["to-env.json", "File 'to-env.json' is not a .json file"],
      ["folder.json", "'folder.json' is not a file but a directory"],
      ["pipe.json", "'pipe.json' is not a file but a fifo"],
      ["circle.json", "File 'circle.json' is a cycle of links"],
      ["a.json/b.json", "File 'a.json/b.json' cannot be read (ENOTDIR)"],
      [`${"x".repeat(300)}.json`, /cannot be read \(ENAMETOOLONG\)/],
      ["b.json", "File 'b.json' does not exist"],
      ["dangling.json", "File 'dangling.json' does not exist"]
    ])("as '%s': %s", ([file, says]) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const root = yield* folderWith({ "a.json": "1", "notes.txt": "1", ".env": "KEY=1", "folder.json/x": "" })
        spawnSync("mkfifo", [`${root}/pipe.json`])
        for (
          const [name, to] of [["circle", "circle.json"], ["to-env", ".env"], ["dangling", "nowhere.json"]] as const
        ) {
          yield* fs.symlink(to, `${root}/${name}.json`)
        }
        isText((yield* refusal(read(root, file))).message, says)
      }))

    it.effect.each([
      ["invoce.json", "'/' has no 'invoce.json'. Did you mean 'invoice.json'?"],
      ["請求書2.json", "'/' has no '請求書2.json'. Did you mean '請求書.json'?"],
      ["sub/UNO.json", "'/sub' has no 'UNO.json'. Did you mean 'uno.JSON'?"],
      ["sup/uno.json", "'/' has no 'sup'. Did you mean 'sub'?"],
      ["zzz.json", "'/' has no 'zzz.json'. There are 'invoice.json', '請求書.json'."],
      ["empty/zzz.json", "'/empty' has no 'zzz.json'. It contains nothing similar."],
      [
        "many/zzz.json",
        `'/many' has no 'zzz.json'. There are ${[..."abcdefgh"].map((name) => `'${name}.json'`).join(", ")} and 1 more.`
      ]
    ])("when %s is missing, with the nearest names: %s", ([file = "", hint]) =>
      Effect.gen(function*() {
        const root = yield* folderWith({
          "invoice.json": "1",
          "請求書.json": "1",
          ".invoce.json": "1",
          "invoce.txt": "1",
          "sub/uno.JSON": "1",
          "empty/x.md": "",
          ...Object.fromEntries([..."abcdefghi"].map((name) => [`many/${name}.json`, ""]))
        })
        const error = yield* refusal(read(root, file))
        assert.strictEqual(error.message, `File '${file}' does not exist`)
        assert.strictEqual(Hints.text(error.hint).replace(root, "").replace(/^''/, "'/'"), hint)
      }))

    it.effect("over 10 MB, with its size; 10 MB is not", () =>
      Effect.gen(function*() {
        const blank = (bytes: number) => `1${" ".repeat(bytes - 1)}`
        assert.strictEqual((yield* readContent(blank(10_000_000))).value, 1)
        const error = yield* refusal(readContent(blank(10_000_001)))
        assert.strictEqual(error.message, "File 'x.json' is over 10 MB: it has 10,000,001 bytes")
      }))

    it.effect("when it is written to while it is read", () =>
      Effect.gen(function*() {
        const root = yield* folderWith({ "x.json": "[1]" })
        const writing = withFileSystem((fs) => ({
          open: (path, options) =>
            Effect.map(fs.open(path, options), (file) => ({
              ...file,
              stat: file.stat,
              read: (buffer: Uint8Array) =>
                fs.writeFileString(path, "   ", { flag: "a" }).pipe(Effect.andThen(file.read(buffer)))
            }))
        }))
        const error = yield* Effect.flip(read(root, "x.json")).pipe(writing)
        assert.strictEqual(error.message, "File 'x.json' changed while it was read")
      }))

    it.effect("if a root does not exist or is not a folder, at each use until it does", () =>
      Effect.gen(function*() {
        const root = yield* folderWith({ "a.json": "1" })
        for (const wrong of [`${root}/missing`, `${root}/a.json`, `${root}\0`]) {
          const error = yield* Effect.flip(read([root, wrong], "a.json"))
          assert.isTrue(Errors.isServerFault(error))
          assert.strictEqual(error.message, `The files root '${wrong}' is not a folder that exists`)
          assert.include(Hints.text(error.hint), "--files-root")
        }
        assert.match((yield* Effect.flip(read([], "a.json"))).message, /is not under the files root \(none is set\)/)
        const later = yield* over(`${root}/later`)
        assert.match((yield* Effect.flip(later.read("a.json"))).message, /later' is not a folder that exists/)
        yield* FileSystem.FileSystem.use((fs) => fs.makeDirectory(`${root}/later`))
        assert.match((yield* Effect.flip(later.read("a.json"))).message, /'a.json' does not exist/)
      }))
  })

  describe("holding", () => {
    it.effect.each<[content: string, value: unknown, repairs?: ReadonlyArray<string>]>([
      [" \r\n[ ]\n\n", []],
      ["\"//, not a comment ,]\"", "//, not a comment ,]"],
      ["\uFEFF[\"\uFEFF\"]", ["\uFEFF"], ["removed a byte order mark"]],
      [
        "{\n  \"a\": [1, 2,],\r\n  \"b\": 3\n, }",
        { a: [1, 2], b: 3 },
        ["removed 2 trailing commas, the first at line 2, column 13"]
      ],
      [
        "[\"請求書,]\",\n  \"🚀\" , /* 終わり, */ ]",
        ["請求書,]", "🚀"],
        ["removed a comment at line 2, column 10", "removed a trailing comma at line 2, column 8"]
      ],
      [
        "\uFEFF// from n8n\n{ /* a\n b */ \"a\": \"/* kept */\", // last\n}",
        { a: "/* kept */" },
        [
          "removed a byte order mark",
          "removed 3 comments, the first at line 1, column 1",
          "removed a trailing comma at line 3, column 24"
        ]
      ],
      [
        "{\"__proto__\":{\"polluted\":true},}",
        JSON.parse("{\"__proto__\":{\"polluted\":true}}"),
        ["removed a trailing comma at line 1, column 31"]
      ]
    ])("%s is read", ([content, value, repairs = []]) =>
      Effect.gen(function*() {
        const file = yield* readContent(content)
        assert.deepStrictEqual<unknown>([file.value, file.repairs], [value, repairs])
        assert.strictEqual(JSON.stringify(file.value), JSON.stringify(value))
      }))

    it.effect.each<[content: string | Uint8Array, says: string]>([
      ["", "is empty"],
      ["\uFEFF \n\t", "is empty"],
      ["{\n  \"a\": 1\n  \"b\": 2\n}", "is not JSON: comma expected at line 3, column 3"],
      ["{1: 1}", "is not JSON: property name expected at line 1, column 2"],
      ["[1,,]", "is not JSON: value expected at line 1, column 4"],
      ["[01]", "is not JSON: comma expected at line 1, column 3"],
      ["[\"a\nb\"]", "is not JSON: unexpected end of string at line 1, column 2"],
      ["{\"a\": 1},", "is not JSON: end of file expected at line 1, column 9"],
      ["\uFEFF{\r\n\"a\": 1,\r\n", "is not JSON: property name expected at line 3, column 1"],
      ["/* only */", "is not JSON: value expected at line 1, column 11"],
      ["<!DOCTYPE html>", "is not JSON: invalid symbol at line 1, column 1"],
      [`${"[".repeat(100_000)},`, "is not JSON: it is nested too deeply"],
      [Uint8Array.of(0x22, 0xe3, 0x81, 0x22), "is not UTF-8 text"],
      [Uint8Array.of(0xff, 0xfe, 0x7b, 0, 0x7d), "is not UTF-8 text"]
    ])("invalid JSON is refused: %s %s", ([content, says]) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* refusal(readContent(content))).message, `File 'x.json' ${says}`)
      }))

    it.effect.each(["UTF-8", "UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE"] as const)(
      "in %s is read, with a mark and without, and written in it again",
      (encoding) =>
        Effect.gen(function*() {
          const fs = yield* FileSystem.FileSystem
          for (const mark of ["", "\uFEFF"]) {
            const [text, next] = [mark + workflow({ name: "請求書 🚀" }), workflow({ name: "次" })]
            const root = yield* folderWith({ "x.json": encode(text, encoding) })
            const files = yield* over(root)
            assert.deepInclude(yield* files.read("x.json"), { encoding, text })
            yield* files.update("x.json", ({ rewriting }) => rewriting(JSON.parse(next)))
            const written = Buffer.from(yield* fs.readFile(`${root}/x.json`))
            assert.deepStrictEqual(written, Buffer.from(encode(mark + next, encoding)))
          }
        })
    )

    const loose = (value: unknown): string => {
      if (Array.isArray(value)) {
        return value.length === 0 ? "[ /*,*/ ]" : `[${value.map((each) => `${loose(each)}, // ,]\n`).join("")} /* } */]`
      }
      if (typeof value === "object" && value !== null) {
        const members = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}/**/:${loose(each)} /*:*/ `)
        return members.length === 0 ? "{//\n}" : `{${members.join(",")},\r\n}`
      }
      return JSON.stringify(value)
    }

    it.effect.prop(
      "any JSON with comments and trailing commas is read as without",
      { value: Json },
      ({ value }) =>
        Effect.map(readContent(loose(value)), (file) => {
          assert.strictEqual(JSON.stringify(file.value), JSON.stringify(value))
        }),
      { arbitrary: { runs: rounds(100), size: 10 } }
    )

    const tokens = [..."{}[],:-0/\n \u00a0", "\"a\"", "1", "null", "/**/", "//"]

    it.effect.prop(
      "invalid JSON is repaired or refused at a place, and valid JSON is left unchanged",
      { text: Schema.Array(Schema.Literals(tokens)) },
      ({ text }) =>
        Effect.gen(function*() {
          const content = `[${text.join("")}]`
          const isStrict = yield* Effect.isSuccess(Effect.try(() => JSON.parse(content)))
          yield* readContent(content).pipe(Effect.match({
            onSuccess: ({ repairs }) => assert.strictEqual(repairs.length === 0, isStrict),
            onFailure: ({ message }) => {
              assert.isFalse(isStrict)
              assert.match(message, /is not JSON: .* at line \d+, column \d+$/)
            }
          }))
        }),
      { arbitrary: { runs: rounds(200), size: 12 } }
    )
  })
})
