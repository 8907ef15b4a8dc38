import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import { type Obj, obj } from "../../../src/base/Json.ts"
import type * as WorkflowFiles from "../../../src/workflows/files/WorkflowFiles.ts"
import { Json, Key } from "../../support/arbitrary.ts"
import { folderWith, platform, withFileSystem } from "../../support/folders.ts"
import { rounds } from "../../support/seed.ts"
import { contents, failure, over } from "./folder.ts"

type Path = ReadonlyArray<string | number>

const stringsIn = (value: unknown, path: Path): ReadonlyArray<Path> =>
  typeof value === "string"
    ? [path]
    : Array.isArray(value)
    ? value.flatMap((each, index) => stringsIn(each, [...path, index]))
    : Object.entries(obj(value) ?? {}).flatMap(([key, each]) => stringsIn(each, [...path, key]))

/** Takes every string in parameters for code. */
const everyString: WorkflowFiles.CodePlaces = ({ nodes }) =>
  (Array.isArray(nodes) ? nodes : []).flatMap((node, index) =>
    stringsIn(obj(node)?.["parameters"], ["nodes", index, "parameters"]).map((path) => ({ path, extension: "js" }))
  )

/** As n8n's code is: several lines, or anything at all. */
const Code = Schema.Union([
  Schema.Array(Schema.String).check(Schema.isMinLength(5)).pipe(Schema.decodeTo(Schema.Unknown)),
  Json
])

const Node = Schema.Struct({
  id: Schema.optionalKey(Schema.Literals(["a", "b", "c"])),
  name: Schema.Union([Schema.Literals(["Code", "code", "CON", "../x", "請求"]), Schema.String]),
  parameters: Schema.Record(
    Schema.Union([Schema.Literals(["$file", "$$file", "jsCode"]), Key]),
    Schema.Union([Json, Schema.Record(Schema.Literals(["$file", "$$file"]), Code)])
  )
})

/** Lists of lines become one text. */
const withLines = (value: unknown): unknown =>
  Array.isArray(value) && value.length > 4 && value.every((line) => typeof line === "string")
    ? value.join("\n")
    : Array.isArray(value)
    ? value.map(withLines)
    : obj(value) === undefined
    ? value
    : Object.fromEntries(Object.entries(value as Obj).map(([key, inner]) => [key, withLines(inner)]))

const long = (name: string) => `// ${name}\n${"work()\n".repeat(6)}`

const workflow = (codes: { readonly [node: string]: string }, more: object = {}) => ({
  name: "Orders",
  nodes: Object.entries(codes).map(([name, jsCode]) => ({ id: `id of ${name}`, name, parameters: { jsCode } })),
  connections: {},
  ...more
})

const print = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

/** Runs a generator with a folder of these files, and the service over it, on a real disk. */
const inFolder = <Eff extends Effect.Effect<unknown, unknown, FileSystem.FileSystem>, A>(
  use: (folder: string, files: WorkflowFiles.Service) => Generator<Eff, A, never>,
  files: { readonly [path: string]: string } = {}
) =>
  Effect.gen(function*() {
    const folder = yield* folderWith(files)
    const service = yield* over(folder)
    return yield* Effect.gen(() => use(folder, service))
  }).pipe(Effect.scoped, Effect.provide(platform))

const code = everyString

const options = { arbitrary: { runs: rounds(40), size: 12 } }

describe("code in files next to a workflow", () => {
  it.effect.prop(
    "is restored byte for byte, for any workflow and through every change of it",
    { nodes: Schema.Array(Node), others: Schema.Array(Node) },
    ({ nodes, others }) =>
      inFolder(function*(folder, files) {
        const [first, second] = [nodes, others].map((each) => ({
          name: "w",
          nodes: withLines(each),
          connections: {}
        }))
        yield* files.create("w.json", print(first), { code })
        const made = yield* files.read("w.json")
        assert.strictEqual(made.text, print(first))
        assert.strictEqual(JSON.stringify(made.value), JSON.stringify(first))
        const { before } = yield* files.update("w.json", () => Effect.succeed(print(second)), undefined, { code })
        assert.strictEqual(before, print(first))
        assert.strictEqual((yield* files.read("w.json")).text, print(second))
        yield* files.update("w.json", ({ text }) => Effect.succeed(text), undefined, { code: "join" })
        assert.strictEqual((yield* files.read("w.json")).text, print(second))
        assert.deepStrictEqual(Object.keys(yield* contents(folder)), ["w.json"])
      }),
    options
  )

  it.effect("is referenced by path, edited there, and stays there regardless of who writes the workflow", () =>
    inFolder(function*(folder, files) {
      const fs = yield* FileSystem.FileSystem
      const short = "return 1"
      const whole = workflow({ "Add VAT": long("vat"), "add vat": long("other"), Short: short })
      yield* files.create("orders.json", print(whole), { code })
      const made = yield* contents(folder)
      assert.deepStrictEqual(Object.keys(made), ["orders.code/add-vat-2.js", "orders.code/add-vat.js", "orders.json"])
      assert.strictEqual(made["orders.code/add-vat.js"], long("vat"))
      assert.include(
        made["orders.json"] ?? "",
        "\"jsCode\": {\n          \"$file\": \"orders.code/add-vat.js\"\n        }"
      )
      assert.include(made["orders.json"] ?? "", `"jsCode": "${short}"`)

      yield* fs.writeFileString(`${folder}/orders.code/add-vat.js`, "return 2")
      const edited = yield* files.read("orders.json")
      assert.strictEqual(
        edited.text,
        print(workflow({ "Add VAT": "return 2", "add vat": long("other"), Short: short }))
      )

      // By somebody who knows nothing of the files: a node renamed and first, one of them gone.
      const kept: Array<string> = []
      const next = workflow({ Short: long("grown"), "Add VAT": "return 3" })
      yield* files.update(
        "orders.json",
        () => Effect.succeed(print(next)),
        (text) => Effect.sync(() => void kept.push(text))
      )
      assert.deepStrictEqual(kept, [edited.text])
      const after = yield* contents(folder)
      assert.deepStrictEqual(Object.keys(after), ["orders.code/add-vat.js", "orders.json"])
      assert.strictEqual(after["orders.code/add-vat.js"], "return 3")
      assert.strictEqual((yield* files.read("orders.json")).text, print(next))

      yield* files.remove("orders.json", () => Effect.void)
      assert.deepStrictEqual(yield* contents(folder), {})
    }))

  for (
    const [file, why] of [
      ["orders.code/gone.js", "which does not exist"],
      ["../outside.js", "not a code file in its folder"],
      ["/etc/outside.js", "not a code file in its folder"],
      ["a\\..\\outside.js", "not a code file in its folder"],
      [".env", "not a code file in its folder"],
      [".git/hooks/x.js", "not a code file in its folder"],
      ["other.json", "not a code file in its folder"],
      ["link.js", "is a link or not a file"],
      ["linked/outside.js", "is a link or not a file"],
      ["folder.js", "is a link or not a file"]
    ] as const
  ) {
    it.effect(`is refused as ${file}: ${why}`, () =>
      inFolder(function*(folder, files) {
        const fs = yield* FileSystem.FileSystem
        yield* fs.symlink(`${folder}/real.js`, `${folder}/link.js`)
        yield* fs.symlink(`${folder}/real`, `${folder}/linked`)
        yield* fs.makeDirectory(`${folder}/folder.js`)
        const text = print({ ...workflow({}), nodes: [{ name: "a", parameters: { jsCode: { $file: file } } }] })
        yield* fs.writeFileString(`${folder}/orders.json`, text)
        const error = yield* Effect.flip(files.read("orders.json"))
        assert.strictEqual(error._tag, "ValidationError")
        assert.include(error.message, why)
      }, { "real.js": "x", "real/outside.js": "x", "other.json": "{}", ".env": "SECRET=1" }))
  }

  it.effect("does not give way to another's files: what lies under the name of a new one stays", () =>
    inFolder(function*(folder, files) {
      yield* files.create("orders.json", print(workflow({ "Add VAT": long("vat") })), { code })
      const all = yield* contents(folder)
      assert.strictEqual(all["orders.code/add-vat.js"], "mine")
      assert.strictEqual(all["orders.code/add-vat-2.js"], long("vat"))
    }, { "orders.code/add-vat.js": "mine" }))

  /** Fails as the n-th file is put in place; after a death nothing is cleared up. */
  const failing = (at: number, death: boolean) => {
    let count = 0
    return withFileSystem((fs) => ({
      rename: (from, to) =>
        ++count === at ? (death ? Effect.interrupt : Effect.fail(failure("writeAll", "ENOSPC"))) : fs.rename(from, to),
      remove: (
        file,
        options
      ) => (death && count >= at && !file.includes(".lock") ? Effect.void : fs.remove(file, options))
    }))
  }

  for (const death of [false, true]) {
    it.effect(
      death
        ? "is whole though its writer died at any moment: each file is the old one or the new"
        : "is as before after a disk that was full at any moment",
      () =>
        Effect.gen(function*() {
          const before = print(workflow({ A: long("a"), B: long("b"), C: long("c") }))
          const after = print(workflow({ A: long("a 2"), B: long("b 2"), D: long("d") }))
          const seen = new Set<string>()
          for (let at = 1; at <= 5; at++) {
            yield* Effect.gen(function*() {
              const folder = yield* folderWith()
              const use = <A, E>(run: (files: WorkflowFiles.Service) => Effect.Effect<A, E>) =>
                Effect.flatMap(over(folder), run)
              yield* use((files) => files.create("w.json", before, { code }))
              const update = use((files) => files.update("w.json", () => Effect.succeed(after), undefined, { code }))
              const broken = yield* Effect.exit(failing(at, death)(update))
              // There are four writes: three of code, then the workflow's own.
              assert.strictEqual(broken._tag, at <= 4 ? "Failure" : "Success", `${at}`)
              const { text } = yield* use((files) => files.read("w.json"))
              if (death) {
                for (const code of ["a", "b"]) {
                  const is = (version: string) => text.includes(JSON.stringify(long(code + version)))
                  assert.notStrictEqual(is(""), is(" 2"), `${at}`)
                }
                assert.strictEqual(text.includes(JSON.stringify(long("d"))), at === 5)
              } else assert.strictEqual(text, at <= 4 ? before : after, `${at}`)
              seen.add(text)
              // The next writer goes on, and takes what it finds.
              yield* update
              assert.strictEqual((yield* use((files) => files.read("w.json"))).text, after)
              const names = Object.keys(yield* contents(folder)).filter((name) => !name.endsWith(".tmp"))
              assert.deepStrictEqual(names, ["w.code/a.js", "w.code/b.js", "w.code/d.js", "w.json"])
            }).pipe(Effect.scoped)
          }
          assert.isAtLeast(seen.size, 2)
        }).pipe(Effect.provide(platform))
    )
  }
})
