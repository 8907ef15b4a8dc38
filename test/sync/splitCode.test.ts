import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Fs from "node:fs"
import { arr, type Obj, obj } from "../../src/base/Json.ts"
import * as ParameterValues from "../../src/catalogue/parameters/ParameterValues.ts"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as Sync from "../../src/sync/Sync.ts"
import * as Workflows from "../../src/workflows/Workflows.ts"
import { node } from "../support/workflows.ts"
import { inWorld } from "../support/world.ts"
import { contents, edit, json, outcomes, put } from "./workflows.ts"

const long = (what: string) => Array.from({ length: 6 }, (_, line) => `${what} ${line}`).join("\n")

const nodes = [
  node("Add VAT", "code", 2, { jsCode: long("const a =") }),
  node("Forecast", "code", 2, { language: "pythonNative", pythonCode: long("a =") }),
  node("Short", "code", 2, { jsCode: "return []" }),
  node("Read", "postgres", 2.6, { operation: "executeQuery", query: `=${long("SELECT")}`, options: {} }),
  node("Mail", "html", 1.2, { html: long("<p>") }),
  node("Form", "formTrigger", 2.3, { formTitle: "t", options: { customCss: long("p {}") } }),
  node("Note", "stickyNote", 1, { content: long("no code") }),
  node("Unknown", "n8n-nodes-own.thing", 1, { jsCode: long("unknown") })
]

const names = [
  "orders.code/add-vat.js",
  "orders.code/forecast.py",
  "orders.code/form.css",
  "orders.code/mail.html",
  "orders.code/read.sql"
]

const made = Effect.flatMap(
  N8nClient,
  (n8n) => n8n.createWorkflow({ name: "Orders", nodes, connections: {}, settings: {} })
)

const codeIn = (workflow: Obj) => arr(workflow["nodes"]).map((each) => obj(each)?.["parameters"])

describe("code in files next to workflows", () => {
  it.effect("is what the editors of n8n edit as code, split and joined without a change, and pushed as edited", () =>
    inWorld(function*({ folder }) {
      const { id } = yield* made
      yield* Sync.pull(".")
      const plain = yield* contents(folder)
      assert.deepStrictEqual(outcomes(yield* Sync.pull(".", { splitsCode: true })), ["updated"])
      const split = yield* contents(folder)
      assert.deepStrictEqual(Object.keys(split), [".n8n-sync.json", ...names, "orders.json"])
      assert.strictEqual(split["orders.code/read.sql"], `=${long("SELECT")}`)
      assert.notInclude(split["orders.json"] ?? "", "SELECT")
      assert.isTrue((yield* Sync.pull(".", { splitsCode: true })).isSame)
      assert.isTrue((yield* Sync.status(".")).isSame)
      assert.deepStrictEqual(yield* contents(folder), split)
      // Others see the code where it belongs.
      const { workflow } = yield* Workflows.document("orders.json", "workflowId")
      assert.deepStrictEqual(codeIn(workflow), nodes.map(({ parameters }) => parameters))

      yield* edit(`${folder}/orders.code/add-vat.js`, "const a = 0", "const b = 0")
      assert.deepStrictEqual((yield* Sync.status(".")).counts, { "changed here": 1 })
      assert.strictEqual((yield* Sync.status(".", { among: ["orders.code/add-vat.js"] })).entries.length, 1)
      assert.strictEqual((yield* Sync.status(".", { among: ["orders.code/other.js"] })).entries.length, 0)
      assert.deepStrictEqual(outcomes(yield* Sync.push(".")), ["updated"])
      const n8n = yield* N8nClient
      const pushed = yield* n8n.getWorkflow(id)
      assert.strictEqual(obj(codeIn(pushed)[0])?.["jsCode"], long("const a =").replace("const a = 0", "const b = 0"))
      assert.strictEqual((yield* contents(folder))["orders.json"], split["orders.json"])

      assert.deepStrictEqual(outcomes(yield* Sync.pull(".", { splitsCode: false })), ["updated"])
      const joined = yield* contents(folder)
      assert.deepStrictEqual(Object.keys(joined), [".n8n-sync.json", "orders.json"])
      assert.strictEqual(joined["orders.json"], plain["orders.json"]?.replace("const a = 0", "const b = 0"))
      assert.notProperty(yield* json(`${folder}/.n8n-sync.json`), "splitCode")
    }))

  it.effect("has an ending for every editor in n8n's packages that edits code", () =>
    Effect.sync(() => {
      const editors = new Set<string>()
      const look = (value: unknown): void => {
        if (Array.isArray(value)) value.forEach(look)
        const property = obj(value)
        if (property === undefined) return
        const { editor } = obj(property["typeOptions"]) ?? {}
        if (typeof editor === "string") {
          assert.isDefined(ParameterValues.codeExtension(property as never), editor)
          editors.add(editor)
        }
        Object.values(property).forEach(look)
      }
      look(JSON.parse(Fs.readFileSync("node_modules/n8n-nodes-base/dist/types/nodes.json", "utf8")))
      assert.isAbove(editors.size, 3)
    }))

  it.effect("is deleted with the workflow whose file was deleted, unless another workflow uses it", () =>
    inWorld(function*({ folder }) {
      const fs = yield* FileSystem.FileSystem
      const { id } = yield* made
      yield* Sync.pull(".", { splitsCode: true })
      yield* put(`${folder}/orders.code/edited.js`, "mine")
      const user = node("U", "code", 2, { jsCode: { $file: "orders.code/add-vat.js" } })
      const other = { name: "Other", nodes: [user], connections: {}, settings: {} }
      yield* put(`${folder}/other.json`, other)
      yield* Sync.push(".")
      yield* fs.remove(`${folder}/orders.json`)
      assert.deepStrictEqual(outcomes(yield* Sync.push(".", { deletes: true })), ["removed", "same"])
      assert.deepStrictEqual(
        Object.keys(yield* contents(folder)),
        [".n8n-sync.json", "orders.code/add-vat.js", "orders.code/edited.js", "other.json"]
      )
      assert.strictEqual((yield* Effect.flip(N8nClient.use((n8n) => n8n.getWorkflow(id))))._tag, "NotFoundError")

      yield* fs.remove(`${folder}/other.json`)
      yield* fs.remove(`${folder}/orders.code/edited.js`)
      yield* made
      yield* Sync.pull(".")
      yield* fs.remove(`${folder}/orders.json`)
      yield* Sync.push(".", { deletes: true })
      assert.deepStrictEqual((yield* fs.readDirectory(folder)).toSorted(), [".n8n-sync.json"])
    }))
})
