import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { symlinkSync } from "node:fs"
import { type Obj, obj } from "../../../src/base/Json.ts"
import * as Finding from "../../../src/fleet/inspection/Finding.ts"
import * as Inspection from "../../../src/fleet/inspection/Inspection.ts"
import * as WorkflowFiles from "../../../src/workflows/files/WorkflowFiles.ts"
import * as Policy from "../../../src/workflows/policy/Policy.ts"
import { catalogue } from "../../support/catalogue.ts"
import { folderWith, platform } from "../../support/folders.ts"
import { random } from "../../support/random.ts"
import { main, node, workflow } from "../../support/workflows.ts"
import { faulty, placeIn } from "./faulty.ts"

const check = (root: string, options: { readonly to?: string; readonly only?: string } = {}) =>
  Inspection.inFolder({ root, shownAs: "flows", ...options }).pipe(
    Effect.provide(WorkflowFiles.layer({ roots: [root] }))
  )

const rulesOf = ({ findings }: Inspection.Report) => findings.map(({ rule }) => rule)

const pretty = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

const sound = workflow("sound", [
  node("Every day", "scheduleTrigger", 1.4, { rule: { interval: [{ field: "days" }] } }),
  node("Code", "code", 2, { jsCode: "return []" })
], { connections: { "Every day": main("Code") }, settings: { errorWorkflow: "e" } })

/** The same JSON in another layout: other indentation, keys and nodes in another order. */
const shuffled = (value: unknown, next: (below: number) => number): unknown => {
  if (Array.isArray(value)) return value.map((each) => shuffled(each, next))
  const object = obj(value)
  if (object === undefined) return value
  return Object.fromEntries(
    Object.entries(object).map(([key, inner]) => [next(1_000_000), [key, shuffled(inner, next)]] as const)
      .toSorted(([a], [b]) => a - b).map(([, entry]) => entry)
  )
}

layer(Layer.merge(platform, catalogue))("a folder of workflows", (it) => {
  it.effect("has no finding for extracted secrets, nor needs their values, as in a clone", () =>
    Effect.gen(function*() {
      const call = (name: string, value: unknown) =>
        node(name, "httpRequest", 4.5, {
          url: "https://api.example.com",
          sendHeaders: true,
          headerParameters: { parameters: [{ name: "Authorization", value }] },
          options: {}
        })
      const own = {
        ...sound,
        nodes: [
          ...sound.nodes,
          call("Whole", { $secret: "a.token" }),
          call("Part", { $secret: ["Bearer ", "a.token", ""] }),
          call("Literal", "Bearer sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c")
        ]
      }
      for (
        const values of [{}, { ".n8n-secrets.json": "{\"a.token\": \"sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c\"}" }]
      ) {
        const { findings } = yield* check(yield* folderWith({ "a.json": pretty(own), ...values }))
        assert.deepStrictEqual(
          findings.filter(({ rule }) => /secret|file|json/.test(rule)).map(({ node, rule }) => [rule, node]),
          [["literal-secret", "Literal"]]
        )
      }
    }))

  it.effect("has each finding at its line, with rule, severity and node", () =>
    Effect.gen(function*() {
      const text = pretty(faulty)
      const { findings, places } = yield* check(yield* folderWith({ "a/faulty.json": text }), { to: "3.0" })
      assert.deepStrictEqual(places, ["flows/a/faulty.json"])
      const at = (rule: string, part: string, severity: string, name?: string) => {
        const { column, line } = placeIn(text, part)
        const finding = findings.find((each) => each.rule === rule && each.node === name) ?? {}
        assert.deepInclude(finding, { file: "flows/a/faulty.json", rule, line, column, severity }, `${rule} ${name}`)
      }
      at("code-syntax", "\"jsCode\"", "error", "Sum")
      at("literal-secret", "\"value\": \"7285", "error", "Fetch")
      at("literal-secret", "\"value\": \"[ADD", "note", "Example")
      at("unknown-type", "\"type\": \"n8n-nodes-base.noSuchThing\"", "error", "Lost")
      at("unknown-reference", "\"subject\"", "error", "Mail")
      at("unknown-connection", "\"node\": \"Gone\"", "error", "Agent")
      at("unknown-connection", "\"Ghost\": {", "error")
      at("open-webhook", "\"parameters\": {\n        \"path\"", "warning", "Hook")
      at("no-error-workflow", "\"settings\"", "note")
      at("upgrade-type-removed", "\"type\": \"n8n-nodes-base.cron\"", "error", "Cron")
      const old = text.slice(text.indexOf("\"name\": \"Old\""))
      const before = text.slice(0, text.length - old.length).split("\n").length - 1
      assert.deepInclude(
        findings.find(({ node, rule }) => rule === "outdated-node" && node === "Old"),
        { line: before + placeIn(old, "\"typeVersion\"").line, severity: "note" }
      )
      // Its type is removed: that it is old is no news.
      assert.isEmpty(findings.filter(({ node, rule }) => node === "Cron" && rule.endsWith("-node")))
      assert.isEmpty(findings.filter(({ message }) => message.includes("72858adea87")))
    }))

  it.effect("has the same fingerprints whatever the layout and the order of keys and nodes", () =>
    Effect.gen(function*() {
      const keysOf = (text: string) =>
        Effect.flatMap(folderWith({ "faulty.json": text }), (root) => check(root, { to: "3.0" })).pipe(
          Effect.map(({ findings }) => Finding.keysOf(findings).map((key) => JSON.stringify(key)).toSorted())
        )
      const usual = yield* keysOf(pretty(faulty))
      assert.isAbove(usual.length, 20)
      assert.strictEqual(new Set(usual).size, usual.length)
      for (let seed = 0; seed < 20; seed++) {
        const next = random(seed)
        const other = shuffled(faulty, next) as Obj & { readonly nodes: ReadonlyArray<unknown> }
        const nodes = other.nodes.toSorted(() => next(3) - 1)
        const text = JSON.stringify({ ...other, nodes }, null, [0, 1, 4, "\t"][next(4)]).replaceAll(
          "\n",
          next(2) === 0 ? "\n" : "\r\n"
        )
        assert.deepStrictEqual(yield* keysOf(text), usual, `seed ${seed}`)
      }
    }))

  it.effect("may contain other files, and broken workflows, which are findings at the place of the fault", () =>
    Effect.gen(function*() {
      const text = pretty(sound)
      const utf16 = new Uint8Array(Buffer.from(`\uFEFF${text}`, "utf16le"))
      const root = yield* folderWith({
        "sound.json": text,
        "package.json": "{\"name\": \"p\",}",
        "graph.json": "{\"name\": \"g\", \"nodes\": [{\"id\": 1}], \"edges\": []}",
        "cluster.json": "{\"name\": \"c\", \"nodes\": [\"host\"]}",
        "empty.json": "",
        "tsconfig.json": "// nodes\n{}",
        "node_modules/w.json": "{\"nodes\": \"x\"}",
        "bom.json": `\uFEFF${text}`,
        "comma.json": text.replace(/\n\}\n$/, ",\n}\n"),
        "truncated.json": text.slice(0, 300),
        "conflict.json": text.replace("  \"settings\"", "<<<<<<< HEAD\n  \"settings\""),
        "nodes.json": "{\n  \"nodes\": \"x\"\n}",
        "utf16.json": utf16,
        "gone.json": pretty({ ...sound, nodes: [node("A", "code", 2, { jsCode: { $file: "gone.js" } })] }),
        "large.json": `{"nodes": [], "connections": {}, "pad": "${"x".repeat(10_000_000)}"}`,
        "all.json": pretty([sound, { ...sound, name: "" }]),
        "wrapped.json": pretty({ data: sound })
      })
      symlinkSync("/etc", `${root}/outside`)
      symlinkSync(`${root}/sound.json`, `${root}/same.json`)
      const { findings, places } = yield* check(root)
      const lines = text.split("\n").length
      const brief = (file: string) =>
        findings.flatMap((each) =>
          "file" in each && each.file === `flows/${file}.json` && each.severity !== "note"
            ? [`${each.line}:${each.column} ${each.severity} ${each.rule} ${each.message}`]
            : []
        )
      assert.deepStrictEqual(brief("sound"), [])
      assert.deepStrictEqual(brief("bom"), ["1:1 error invalid-json n8n does not import JSON with a byte order mark."])
      assert.deepStrictEqual(brief("comma"), [
        `${lines - 2}:4 error invalid-json n8n does not import JSON with a trailing comma.`
      ])
      assert.match(brief("truncated").join(), /^\d+:\d+ error invalid-json This is not JSON: [a-z ]+\.$/)
      assert.deepStrictEqual(brief("conflict"), [
        `${placeIn(text, "  \"settings\"").line}:1 error invalid-json Markers of a merge conflict are in it.`
      ])
      assert.include(brief("nodes"), "2:3 error workflow-shape nodes must be a list.")
      assert.deepStrictEqual(brief("utf16"), ["1:1 error invalid-json n8n does not import JSON in UTF-16LE."])
      assert.match(brief("gone").join(), /^\d\d:9 error unreadable-file The file refers to 'gone\.js', which does not/)
      assert.match(
        brief("large").join(),
        /^1:1 error unreadable-file The file is over 10 MB: it has 10,000,0\d\d bytes/
      )
      assert.match(brief("all").join(), /^\d+:5 error workflow-shape The workflow has no name\.$/)
      assert.match(brief("wrapped").join(), /^2:3 warning workflow-shape The workflow is inside of 'data'/)
      assert.lengthOf(places, 11)
    }))

  it.effect("has code in files of its own, with findings at their lines", () =>
    Effect.gen(function*() {
      const split = workflow("split", [
        node("Every day", "scheduleTrigger", 1.4, { rule: { interval: [{ field: "days" }] } }),
        node("Sum", "code", 2, { jsCode: { $file: "split.code/sum.js" } })
      ], { connections: { "Every day": main("Sum") } })
      const root = yield* folderWith({
        "deep/split.json": pretty(split),
        "deep/split.code/sum.js": "// one\nconst a = [\n)\n"
      })
      const { code, findings, places } = yield* check(root)
      assert.deepStrictEqual([places, code], [["flows/deep/split.json"], ["flows/deep/split.code/sum.js"]])
      assert.deepInclude(findings.find(({ rule }) => rule === "code-syntax"), {
        file: "flows/deep/split.code/sum.js",
        line: 3,
        node: "Sum"
      })
    }))

  it.effect("follows the policy, as far as files show", () =>
    Effect.gen(function*() {
      const handler = workflow("handler", [node("On error", "errorTrigger")])
      const root = yield* folderWith({
        "handler.json": pretty(handler),
        "named.json": pretty({ ...sound, settings: { errorWorkflow: "handler" } }),
        "elsewhere.json": pretty({ ...sound, settings: { errorWorkflow: "on n8n" } }),
        "wrong.json": pretty({ ...sound, settings: { errorWorkflow: "sound" } }),
        "bad.json": pretty({ ...sound, settings: {}, nodes: [node("Shell", "ssh")] })
      })
      const { findings } = yield* check(root).pipe(
        Effect.provide(Policy.layer({ bannedNodes: ["ssh"], requireErrorWorkflow: true }))
      )
      assert.deepStrictEqual(
        findings.flatMap((each) =>
          each.rule === "policy" && "file" in each ? [[each.file, each.path, each.severity]] : []
        ),
        [
          ["flows/bad.json", "nodes[0].type", "error"],
          ["flows/bad.json", "settings.errorWorkflow", "error"],
          ["flows/wrong.json", "settings.errorWorkflow", "error"]
        ]
      )
      assert.notInclude(rulesOf(yield* check(root)), "policy")
    }))

  it.effect("with any JSON in it never fails", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const root = yield* folderWith()
      const nodes = [null, 1, { name: 1 }]
      const texts =
        "null|1|\"x\"|[]|{}|{\"nodes\": null, \"connections\": {}}|{\"nodes\": {}, \"name\": 1}|[[[[{\"nodes\": \"x\"}]]]]"
      const odd = [
        { nodes, connections: { a: 1 } },
        { nodes: [{ type: "a.b", parameters: [] }], connections: [], settings: "x", name: [] },
        { workflow: { workflow: { workflow: { nodes: "x" } } } }
      ]
      const all = [...texts.split("|"), ...odd.map((value) => JSON.stringify(value))]
      yield* Effect.forEach(all, (text, index) => fs.writeFileString(`${root}/${index}.json`, text))
      const { findings } = yield* check(root, { to: "3.0" })
      assert.isNotEmpty(findings)
      yield* Schema.decodeUnknownEffect(
        Schema.Array(Schema.Struct({ line: Schema.Int.check(Schema.isGreaterThan(0)), message: Schema.NonEmptyString }))
      )(findings)
    }))
})
