import { assert, describe, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import { spawnSync } from "node:child_process"
import * as Envelope from "../../../src/answer/Envelope.ts"
import * as Hints from "../../../src/answer/Hints.ts"
import * as Errors from "../../../src/base/Errors.ts"
import * as Encoding from "../../../src/workflows/files/encoding.ts"
import * as WorkflowFiles from "../../../src/workflows/files/WorkflowFiles.ts"
import { Json } from "../../support/arbitrary.ts"
import { folderWith, platform, withFileSystem } from "../../support/folders.ts"
import { rounds } from "../../support/seed.ts"

const read = (roots: ReadonlyArray<string> | string, file: string) =>
  WorkflowFiles.WorkflowFiles.use((files) => files.read(file)).pipe(
    Effect.provide(WorkflowFiles.layer({ roots: typeof roots === "string" ? [roots] : roots }))
  )

/** Reads a file with this content. */
const readContent = (content: string | Uint8Array) =>
  folderWith({ "x.json": content }).pipe(
    // Only the reading may fail.
    Effect.orDie,
    Effect.flatMap((root) => read(root, "x.json"))
  )

const workflow = (name: string) => JSON.stringify({ name, nodes: [], connections: {} })

layer(platform)("a workflow file", (it) => {
  describe("is found", () => {
    it.effect("relative to the first root, and absolute under any", () =>
      Effect.gen(function*() {
        const first = yield* folderWith({ "a.json": "1", "sub/b.json": "2" })
        const second = yield* folderWith({ "a.json": "3", "c.json": "4" })
        const value = (file: string) => Effect.map(read([first, second], file), ({ value }) => value)
        assert.deepInclude(yield* read([first, second], "a.json"), {
          path: `${first}/a.json`,
          text: "1",
          value: 1,
          repairs: []
        })
        assert.strictEqual(yield* value("./sub/b.json"), 2)
        assert.strictEqual(yield* value("sub/../a.json"), 1)
        assert.strictEqual(yield* value(`${first}/sub/b.json`), 2)
        assert.strictEqual(yield* value(`${second}/a.json`), 3)
        assert.strictEqual(yield* value(`../${second.split("/").at(-1)}/c.json`), 4)
        assert.match((yield* Effect.flip(value("c.json"))).message, /does not exist/)
      }))

    it.effect.each([
      "請求書 が届いたら.json",
      "Ünïcode’s 🚀.json",
      "UPPER.JSON",
      ".hidden.json",
      "a\\b.json",
      "..x.json",
      "%2e.json"
    ])(
      "under the name %s",
      (name) =>
        Effect.gen(function*() {
          const root = yield* folderWith({ [name]: "{\"name\":\"名前\"}" })
          assert.deepInclude(yield* read(root, name), {
            path: `${root}/${name}`,
            text: "{\"name\":\"名前\"}",
            value: { name: "名前" },
            repairs: []
          })
        })
    )

    it.effect("under a name that the other system composes otherwise", () =>
      Effect.gen(function*() {
        const root = yield* folderWith({ ["ガイド".normalize("NFD") + "/が.json".normalize("NFD")]: "1" })
        assert.strictEqual(
          (yield* read(root, "ガイド/が.json".normalize("NFC"))).path,
          `${root}/${"ガイド/が.json".normalize("NFD")}`
        )
      }))

    it.effect("through links that stay under the roots, relative and absolute", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const root = yield* folderWith({ "sub/a.json": "1" })
        const other = yield* folderWith({ "b.json": "2" })
        yield* fs.symlink("sub/a.json", `${root}/relative.json`)
        yield* fs.symlink(`${root}/sub`, `${root}/folder`)
        yield* fs.symlink("../relative.json", `${root}/sub/twice.json`)
        yield* fs.symlink(other, `${root}/other`)
        for (const link of ["relative.json", "folder/a.json", "folder/twice.json"]) {
          assert.strictEqual((yield* read(root, link)).path, `${root}/sub/a.json`)
        }
        assert.strictEqual((yield* read([root, other], "other/b.json")).path, `${other}/b.json`)
      }))

    it.effect("under a root that is a link, by either of its names", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const root = yield* folderWith({ "a.json": "1" })
        const link = `${yield* folderWith()}/link`
        yield* fs.symlink(root, link)
        yield* fs.symlink(`${link}/a.json`, `${root}/b.json`)
        for (const file of ["a.json", "b.json", `${link}/a.json`, `${root}/a.json`]) {
          assert.strictEqual((yield* read(`${link}/`, file)).path, `${root}/a.json`)
        }
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
          const spied = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
            effect.pipe(withFileSystem((fs) =>
              Object.fromEntries(
                Object.entries(fs).flatMap(([name, method]: [string, unknown]) =>
                  typeof method !== "function" ? [] : [[name, (path: string, ...rest: ReadonlyArray<unknown>) => {
                    touched.push(path)
                    return method(path, ...rest)
                  }]]
                )
              )
            ))
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
          for (const path of touched) assert.isTrue(path === root || path.startsWith(`${root}/`), path)
          for (const path of touched) assert.notMatch(path, /\/(?:up|dots|again)\//)
        })
    )

    it.effect("is refused when the file becomes a link to it between the look and the opening", () =>
      Effect.gen(function*() {
        const { outside, root } = yield* walled
        const swapping = withFileSystem((fs) => ({
          open: (path, options) =>
            Effect.gen(function*() {
              yield* fs.remove(path)
              yield* fs.symlink(`${outside}/there.json`, path)
              return yield* fs.open(path, options)
            })
        }))
        const error = yield* Effect.flip(read(root, "in.json")).pipe(swapping)
        assert.match(error.message, /leads out of the files root/)
      }))

    it.effect("is refused when a folder on the way is a link whenever something is opened, and never else", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const outside = yield* folderWith({ "flow.json": workflow("secret") })
        const root = yield* folderWith({ "sub/flow.json": workflow("mine") })
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
        const listed = yield* Effect.flatMap(WorkflowFiles.WorkflowFiles, (files) => files.list()).pipe(
          Effect.provide(WorkflowFiles.layer({ roots: [root] })),
          flipping
        )
        assert.deepStrictEqual(listed.workflows, [])
        yield* Effect.flatMap(WorkflowFiles.WorkflowFiles, (files) => files.create("sub/new.json", workflow("new")))
          .pipe(
            Effect.provide(WorkflowFiles.layer({ roots: [root] })),
            flipping,
            Effect.flip
          )
        assert.deepStrictEqual((yield* fs.readDirectory(outside)).toSorted(), ["flow.json"])
        assert.deepStrictEqual(yield* fs.readDirectory(`${root}/sub`), ["flow.json"])
      }))

    it.effect("is refused when the way to it is swapped only while it is opened", () =>
      Effect.gen(function*() {
        const { outside, root } = yield* walled
        const swapping = withFileSystem((fs) => ({ open: (_, options) => fs.open(`${outside}/there.json`, options) }))
        const error = yield* Effect.flip(read(root, "in.json")).pipe(swapping)
        assert.match(error.message, /changed while it was read/)
      }))
  })

  describe("is refused", () => {
    it.effect.each([
      { file: "", says: "File path is required" },
      { file: "  ", says: "File path is required" },
      { file: "a\0.json", says: "File path contains a NUL character" },
      { file: "notes.txt", says: "File 'notes.txt' is not a .json file" },
      { file: ".", says: "File '.' is not a .json file" },
      { file: ".env", says: "File '.env' is not a .json file" },
      { file: "json", says: "File 'json' is not a .json file" },
      { file: "to-env.json", says: "File 'to-env.json' is not a .json file" },
      { file: "folder.json", says: "'folder.json' is not a file but a directory" },
      { file: "pipe.json", says: "'pipe.json' is not a file but a fifo" },
      { file: "circle.json", says: "File 'circle.json' is a cycle of links" },
      { file: "a.json/b.json", says: "File 'a.json/b.json' cannot be read (ENOTDIR)" },
      { file: `${"x".repeat(300)}.json`, says: /cannot be read \(ENAMETOOLONG\)/ },
      { file: "b.json", says: "File 'b.json' does not exist" },
      { file: "dangling.json", says: "File 'dangling.json' does not exist" }
    ])("with: $says", ({ file, says }) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const root = yield* folderWith({ "a.json": "1", "notes.txt": "1", ".env": "KEY=1", "folder.json/x": "" })
        spawnSync("mkfifo", [`${root}/pipe.json`])
        yield* fs.symlink("circle.json", `${root}/circle.json`)
        yield* fs.symlink(".env", `${root}/to-env.json`)
        yield* fs.symlink("nowhere.json", `${root}/dangling.json`)
        const error = yield* Effect.flip(read(root, file))
        assert.strictEqual(error._tag, "ValidationError")
        assert.strictEqual(error.field, "filePath")
        assert.isNotEmpty(Hints.text(error.hint))
        if (typeof says === "string") assert.strictEqual(error.message, says)
        else assert.match(error.message, says)
      }))

    it.effect.each([
      { file: "invoce.json", hint: "'/' has no 'invoce.json'. Did you mean 'invoice.json'?" },
      { file: "Invoice Copy.json", hint: "'/' has no 'Invoice Copy.json'. Did you mean 'invoice.json'?" },
      { file: "請求書2.json", hint: "'/' has no '請求書2.json'. Did you mean '請求書.json'?" },
      { file: "sub/UNO.json", hint: "'/sub' has no 'UNO.json'. Did you mean 'uno.JSON'?" },
      { file: "sup/uno.json", hint: "'/' has no 'sup'. Did you mean 'sub'?" },
      { file: "zzz.json", hint: "'/' has no 'zzz.json'. There are 'invoice.json', '請求書.json'." },
      { file: "sub/zzz.json", hint: "'/sub' has no 'zzz.json'. There are 'uno.JSON'." },
      { file: "empty/zzz.json", hint: "'/empty' has no 'zzz.json'. It contains nothing similar." },
      {
        file: "many/zzz.json",
        hint: `'/many' has no 'zzz.json'. There are ${
          "abcdefgh".split("").map((name) => `'${name}.json'`).join(", ")
        } and 1 more.`
      }
    ])("when $file is missing, with the nearest names", ({ file, hint }) =>
      Effect.gen(function*() {
        const root = yield* folderWith({
          "invoice.json": "1",
          "請求書.json": "1",
          ".invoce.json": "1",
          "invoce.txt": "1",
          "sub/uno.JSON": "1",
          "empty/x.md": "",
          ...Object.fromEntries("abcdefghi".split("").map((name) => [`many/${name}.json`, ""]))
        })
        const error = yield* Effect.flip(read(root, file))
        assert.strictEqual(error.message, `File '${file}' does not exist`)
        assert.strictEqual(Hints.text(error.hint).replace(root, "").replace(/^''/, "'/'"), hint)
      }))

    it.effect("over 10 MB, with its size; 10 MB is not", () =>
      Effect.gen(function*() {
        const blank = (bytes: number) => {
          const content = new Uint8Array(bytes).fill(0x20)
          content[0] = 0x31
          return content
        }
        assert.strictEqual((yield* readContent(blank(10_000_000))).value, 1)
        const error = yield* Effect.flip(readContent(blank(10_000_001)))
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
        const fs = yield* FileSystem.FileSystem
        const root = yield* folderWith({ "a.json": "1" })
        for (const wrong of [`${root}/missing`, `${root}/a.json`, `${root}\0`]) {
          const error = yield* Effect.flip(read([root, wrong], "a.json"))
          assert.isTrue(Errors.isServerFault(error))
          assert.strictEqual(error.message, `The files root '${wrong}' is not a folder that exists`)
          assert.include(Hints.text(error.hint), "--files-root")
        }
        assert.match((yield* Effect.flip(read([], "a.json"))).message, /is not under the files root \(none is set\)/)
        const files = WorkflowFiles.layer({ roots: [`${root}/later`] })
        yield* Effect.gen(function*() {
          const { read } = yield* WorkflowFiles.WorkflowFiles
          assert.match((yield* Effect.flip(read("a.json"))).message, /later' is not a folder that exists/)
          yield* fs.makeDirectory(`${root}/later`)
          yield* fs.writeFileString(`${root}/later/a.json`, "1")
          assert.strictEqual((yield* read("a.json")).value, 1)
        }).pipe(Effect.provide(files))
      }))
  })

  describe("holding", () => {
    it.effect.each([
      { content: "{\"a\":[1,{\"b\":null}]}", value: { a: [1, { b: null }] }, repairs: [] },
      { content: " \r\n[ ]\n\n", value: [], repairs: [] },
      { content: "\"//, not a comment ,]\"", value: "//, not a comment ,]", repairs: [] },
      { content: "\uFEFF[\"\uFEFF\"]", value: ["\uFEFF"], repairs: ["removed a byte order mark"] },
      {
        content: "{\n  \"a\": [1, 2,],\r\n  \"b\": 3\n, }",
        value: { a: [1, 2], b: 3 },
        repairs: ["removed 2 trailing commas, the first at line 2, column 13"]
      },
      { content: "[{\"a\":1,}]", value: [{ a: 1 }], repairs: ["removed a trailing comma at line 1, column 8"] },
      { content: "[[1,],[],{}]", value: [[1], [], {}], repairs: ["removed a trailing comma at line 1, column 4"] },
      {
        content: "[\"請求書,]\",\n  \"🚀\" , /* 終わり, */ ]",
        value: ["請求書,]", "🚀"],
        repairs: ["removed a comment at line 2, column 10", "removed a trailing comma at line 2, column 8"]
      },
      {
        content: "\uFEFF// from n8n\n{ /* a\n b */ \"a\": \"/* kept */\", // last\n}",
        value: { a: "/* kept */" },
        repairs: [
          "removed a byte order mark",
          "removed 3 comments, the first at line 1, column 1",
          "removed a trailing comma at line 3, column 24"
        ]
      },
      {
        content: "{\"__proto__\":{\"polluted\":true},}",
        value: JSON.parse("{\"__proto__\":{\"polluted\":true}}"),
        repairs: ["removed a trailing comma at line 1, column 31"]
      }
    ])("$content is read", ({ content, repairs, value }) =>
      Effect.gen(function*() {
        const file = yield* readContent(content)
        assert.deepStrictEqual(file.value, value)
        assert.strictEqual(JSON.stringify(file.value), JSON.stringify(value))
        assert.deepStrictEqual(file.repairs, repairs)
      }))

    it.effect.each([
      { content: "", says: "is empty" },
      { content: "\uFEFF \n\t", says: "is empty" },
      { content: "{\n  \"a\": 1\n  \"b\": 2\n}", says: "is not JSON: comma expected at line 3, column 3" },
      { content: "{\"a\" 1}", says: "is not JSON: colon expected at line 1, column 6" },
      { content: "{a: 1}", says: "is not JSON: invalid symbol at line 1, column 2" },
      { content: "{'a': 1}", says: "is not JSON: invalid symbol at line 1, column 2" },
      { content: "{1: 1}", says: "is not JSON: property name expected at line 1, column 2" },
      { content: "{\"a\": }", says: "is not JSON: value expected at line 1, column 7" },
      { content: "[1,,2]", says: "is not JSON: value expected at line 1, column 4" },
      { content: "[,]", says: "is not JSON: value expected at line 1, column 2" },
      { content: "[1,,]", says: "is not JSON: value expected at line 1, column 4" },
      { content: "{,}", says: "is not JSON: value expected at line 1, column 2" },
      { content: "[NaN]", says: "is not JSON: invalid symbol at line 1, column 2" },
      { content: "[01]", says: "is not JSON: comma expected at line 1, column 3" },
      { content: "[1.]", says: "is not JSON: unexpected end of number at line 1, column 2" },
      { content: "[\"a\nb\"]", says: "is not JSON: unexpected end of string at line 1, column 2" },
      { content: "[\"\t\"]", says: "is not JSON: invalid character at line 1, column 2" },
      { content: "[\"\\x\"]", says: "is not JSON: invalid escape character at line 1, column 2" },
      { content: "[\"\\u12\"]", says: "is not JSON: invalid unicode at line 1, column 2" },
      { content: "[1] [2]", says: "is not JSON: end of file expected at line 1, column 5" },
      { content: "{\"a\": 1},", says: "is not JSON: end of file expected at line 1, column 9" },
      { content: "{\"a\": [1", says: "is not JSON: close bracket expected at line 1, column 9" },
      { content: "\uFEFF{\r\n\"a\": 1,\r\n", says: "is not JSON: property name expected at line 3, column 1" },
      { content: "/* only */", says: "is not JSON: value expected at line 1, column 11" },
      { content: "{} /* open", says: "is not JSON: unexpected end of comment at line 1, column 4" },
      { content: "<!DOCTYPE html>", says: "is not JSON: invalid symbol at line 1, column 1" },
      { content: `${"[".repeat(100_000)},`, says: "is not JSON: it is nested too deeply" },
      { content: Uint8Array.of(0x22, 0xe3, 0x81, 0x22), says: "is not UTF-8 text" },
      { content: Uint8Array.of(0xff, 0xfe, 0x7b, 0, 0x7d), says: "is not UTF-8 text" },
      { content: Uint8Array.of(0x1f, 0x8b, 8, 0), says: "is not UTF-8 text" }
    ])("invalid JSON is refused: $says", ({ content, says }) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(readContent(content))
        assert.strictEqual(error.message, `File 'x.json' ${says}`)
        assert.strictEqual(error.field, "filePath")
      }))

    it.effect.each(["UTF-8", "UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE"] as const)(
      "in %s is read, with a mark and without, and written in it again",
      (encoding) =>
        Effect.gen(function*() {
          const fs = yield* FileSystem.FileSystem
          for (const mark of ["", "\uFEFF"]) {
            const root = yield* folderWith({ "x.json": Encoding.encode(mark + workflow("請求書 🚀"), encoding) })
            const files = yield* Effect.provide(
              WorkflowFiles.WorkflowFiles,
              WorkflowFiles.layer({ roots: [root] })
            )
            assert.deepInclude(yield* files.read("x.json"), { encoding, text: mark + workflow("請求書 🚀") })
            yield* files.update("x.json", ({ rewriting }) => rewriting(JSON.parse(workflow("次"))))
            assert.deepStrictEqual(
              Buffer.from(yield* fs.readFile(`${root}/x.json`)),
              Buffer.from(Encoding.encode(mark + workflow("次"), encoding))
            )
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
        Effect.gen(function*() {
          const { value: found } = yield* readContent(loose(value))
          assert.strictEqual(JSON.stringify(found), JSON.stringify(value))
        }),
      { arbitrary: { runs: rounds(100), size: 10 } }
    )

    const tokens = [
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      "\"a\"",
      "1",
      "-",
      "0",
      "null",
      "/**/",
      "//",
      "/",
      "\n",
      " ",
      "\u00a0"
    ]

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
