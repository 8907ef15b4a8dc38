import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as TestClock from "effect/testing/TestClock"
import * as Fs from "node:fs"
import { arr, obj } from "../../src/base/Json.ts"
import * as Audit from "../../src/fleet/Audit.ts"
import * as Inspection from "../../src/fleet/inspection/Inspection.ts"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as Sync from "../../src/sync/Sync.ts"
import * as tools from "../../src/tools/index.ts"
import * as Workflows from "../../src/workflows/Workflows.ts"
import { platform } from "../support/folders.ts"
import { main, node } from "../support/workflows.ts"
import { inWorld } from "../support/world.ts"
import { contents, create, edit, get, json, outcomes, put } from "./workflows.ts"

const bearer = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLW9mLWE"
const apiKey = "s3cr3t-%-$&-値"

const nodes = [
  node("Start", "manualTrigger", 1, {}),
  node("請求", "httpRequest", 4.2, {
    url: `https://user:hunter22@example.com/`,
    headerParameters: {
      parameters: [{ name: "Authorization", value: `Bearer ${bearer}` }, { name: "X-Api-Key", value: apiKey }]
    }
  }),
  node("Code", "code", 2, {
    jsCode: ["// long", "const a = 1", `const token = "${bearer}"`, "", `const again = "${bearer}"`, "return []"].join(
      "\n"
    )
  }),
  node("Odd", "set", 3.4, { "$secret": "no.reference", options: { "$secret": "looks.like.one" } })
]

const secrets = [bearer, apiKey, "hunter22"]

const made = Effect.flatMap(
  N8nClient,
  (n8n) => n8n.createWorkflow({ name: "Billing", nodes, connections: { Start: main("請求") }, settings: {} })
)

const store = ".n8n-secrets.json"

/** Fails if a file that git would take contains a secret. */
const assertClean = (folder: string) =>
  Effect.map(contents(folder), (files) => {
    for (const [name, text] of Object.entries(files)) {
      if (name !== store) { for (const secret of secrets) assert.notInclude(text, secret, name) }
    }
    return files
  })

describe("literal secrets", () => {
  it.effect("are refused: no file of theirs is written, and the nodes are named", () =>
    inWorld(function*({ folder }) {
      const { id } = yield* made
      yield* create("Plain")
      const steps: Array<unknown> = []
      const report = yield* Sync.pull(".", { secrets: "refuse", onStep: (step) => Effect.sync(() => steps.push(step)) })
      assert.deepStrictEqual(outcomes(report), ["refused", "created"])
      assert.isTrue(report.hasSecrets)
      assert.isFalse(report.hasErrors)
      assert.deepStrictEqual(Object.keys(yield* contents(folder)), [".n8n-sync.json", "plain.json"])
      assert.match(JSON.stringify(steps[0]), /'請求': parameters\.url contains a literal secret.*'Code'/)

      // What is in a file already is refused as well, whether or not it would be written.
      yield* Sync.pull(".")
      assert.deepStrictEqual(outcomes(yield* Sync.pull(".", { secrets: "refuse" })), ["refused", "same"])
      // It is gone on n8n, so the file may follow.
      yield* TestClock.adjust("1 second")
      yield* N8nClient.use((n8n) =>
        n8n.putWorkflow(id, { name: "Billing", nodes: nodes.slice(0, 1), connections: {}, settings: {} })
      )
      const clean = yield* Sync.pull(".", { secrets: "refuse" })
      assert.deepStrictEqual(outcomes(clean), ["updated", "same"])
      assert.isFalse(clean.hasSecrets)
    }))

  const stem = "4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"

  it.effect.each<readonly [isSecret: boolean, value: string]>([
    [true, `Bearer sk-live-${stem}`],
    [false, "Bearer YOUR_OPENAI_API_KEY"],
    [false, "<your token here>"],
    [false, "Bearer add-your-key-to-this-place"]
  ])(
    "and placeholders are judged in one way by pull, push, check, audit and workflow_save (%j)",
    ([isSecret, value]) =>
      inWorld(function*({ folder }) {
        const fetch = node("Fetch", "httpRequest", 4.2, {
          url: "https://example.com",
          headerParameters: { parameters: [{ name: "Authorization", value }] }
        })
        const note = node("Note", "stickyNote", 1, { content: `curl -H 'Authorization: ${value}' https://example.com` })
        const start = node("Start", "manualTrigger", 1, {})
        const body = {
          name: "Billing",
          nodes: [start, fetch, note],
          connections: { Start: main("Fetch") },
          settings: {}
        }
        const { id } = yield* N8nClient.use((n8n) => n8n.createWorkflow(body))
        const refused = yield* Sync.pull(".", { secrets: "refuse" })
        assert.deepStrictEqual(outcomes(refused), [isSecret ? "refused" : "created"])
        const warns = (report: unknown) => JSON.stringify(report).includes("literal secret")
        assert.strictEqual(warns(yield* Sync.pull(".")), isSecret)
        const { spots } = yield* Audit.run(id, { only: ["literal-secret"] })
        assert.strictEqual(spots.length > 0, isSecret)
        const { findings } = yield* Inspection.inFolder({ root: folder, shownAs: "flows" }).pipe(
          Effect.provide(platform)
        )
        const own = findings.filter(({ node, rule }) => rule === "literal-secret" && node === "Fetch")
        // Redaction leaves some placeholders as they are.
        const text = own.map(({ fix, severity }) => `${severity}: ${fix}`).join()
        assert.match(text, isSecret ? /^error: .*rotate/ : /^(note: Bind a credential(?!.*rotate).*)?$/)
        yield* edit(`${folder}/billing.json`, "https://example.com", "https://example.com/2")
        assert.strictEqual(warns(yield* Sync.push(".", { dryRun: true })), isSecret)
        const saved = yield* tools.workflowSave.call({ workflowId: id, filePath: "copy.json" })
        assert.strictEqual(warns(saved), isSecret)
      })
  )

  it.effect("are extracted to a file that git ignores, and pushed as they were, whatever is edited around them", () =>
    inWorld(function*({ folder }) {
      const { id } = yield* made
      assert.deepStrictEqual(outcomes(yield* Sync.pull(".")), ["created"])
      const plain = yield* contents(folder)
      assert.deepStrictEqual(outcomes(yield* Sync.pull(".", { secrets: "extract", splitsCode: true })), ["updated"])
      const files = yield* assertClean(folder)
      assert.deepStrictEqual(Object.keys(files), [".gitignore", ".n8n-secrets.json", ".n8n-sync.json", "billing.json"])
      assert.strictEqual(files[".gitignore"], `${store}\n`)
      assert.strictEqual(Fs.statSync(`${folder}/${store}`).mode & 0o777, 0o600)
      for (const text of ["https://user:", "const a = 1"]) assert.include(files["billing.json"] ?? "", text)
      assert.isTrue((yield* Sync.status(".")).isSame)
      // Again, and without asking: not a byte.
      yield* Sync.pull(".", { secrets: "extract" })
      yield* Sync.pull(".")
      assert.deepStrictEqual(yield* contents(folder), files)
      // All others see the values.
      const { workflow } = yield* Workflows.document("billing.json", "workflowId")
      assert.deepStrictEqual(
        arr(workflow["nodes"]).map((each) => obj(each)?.["parameters"]),
        nodes.map(({ parameters }) => parameters)
      )

      // Renamed, moved to another place in the list, and edited around the secrets.
      const file = `${folder}/billing.json`
      yield* edit(file, "\"name\": \"請求\"", "\"name\": \"Invoice\"")
      yield* edit(file, "\"請求\"", "\"Invoice\"")
      yield* edit(file, "example.com/", "example.org/")
      yield* edit(file, "const a = 1", "const a = 2")
      const value = yield* json(file)
      yield* put(file, { ...value, nodes: arr(value["nodes"]).toReversed() })
      assert.deepStrictEqual(outcomes(yield* Sync.push(".")), ["updated"])
      const pushed = yield* get(id)
      const expected = JSON.parse(
        JSON.stringify(nodes.toReversed()).replaceAll("請求", "Invoice").replace("example.com", "example.org")
          .replace("const a = 1", "const a = 2")
      )
      assert.deepStrictEqual(
        pushed.nodes.map(({ parameters }) => parameters),
        expected.map(({ parameters }: { parameters: unknown }) => parameters)
      )
      yield* assertClean(folder)

      // Allowed again, they return to the file.
      yield* N8nClient.use((n8n) =>
        n8n.putWorkflow(id, { name: "Billing", nodes, connections: { Start: main("請求") }, settings: {} })
      )
      yield* TestClock.adjust("1 second")
      yield* Sync.pull(".", { secrets: "allow", splitsCode: false })
      assert.deepStrictEqual(
        JSON.parse((yield* contents(folder))["billing.json"] ?? ""),
        JSON.parse(plain["billing.json"] ?? "")
      )
    }))

  it.effect("that are missing on another machine keep their workflow from being pushed, and no other", () =>
    inWorld(function*({ api, folder }) {
      const { id } = yield* made
      yield* create("Plain")
      yield* Sync.pull(".", { secrets: "extract" })
      const fs = yield* FileSystem.FileSystem
      const values = yield* fs.readFileString(`${folder}/${store}`)
      yield* fs.remove(`${folder}/${store}`)
      yield* edit(`${folder}/plain.json`, "value: 1", "value: 2")
      const before = yield* get(id)
      const report = yield* Sync.push(".", { deletes: true })
      const here = yield* contents(folder)
      assert.isTrue(report.hasErrors)
      assert.match(
        report.entries.find((each) => each.id === id || each.file === "billing.json")?.detail ?? "",
        /refers to the secret 'billing\.[^']+', which '.*\.n8n-secrets\.json' does not have/
      )
      assert.deepStrictEqual(yield* get(id), before)
      assert.deepStrictEqual(outcomes(report), ["invalid", "updated"])
      assert.deepStrictEqual((yield* api.workflows).length, 2)
      yield* Sync.pull(".")
      assert.deepStrictEqual(yield* contents(folder), here)
      // With the file it goes on.
      yield* put(`${folder}/${store}`, values)
      assert.deepStrictEqual(outcomes(yield* Sync.push(".")), ["same", "same"])
      assert.deepStrictEqual(
        (yield* get(id)).nodes.map(({ parameters }) => parameters),
        nodes.map(({ parameters }) => parameters)
      )
    }))
})
