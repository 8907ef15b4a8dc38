import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as Hints from "../../../src/answer/Hints.ts"
import { type Obj, obj } from "../../../src/base/Json.ts"
import * as tools from "../../../src/tools/index.ts"
import * as TestBench from "../../../src/trials/TestBench.ts"
import { joined, node } from "../../support/workflows.ts"
import { inWorld } from "../../support/world.ts"
import { versioned } from "../workflows.ts"

const diff = tools.workflowDiff.call
const refused = (args: object) => Effect.flip(tools.workflowDiff.run(args))
const noteOf = (snapshot = "") => `Name, settings and pinned data are those of ${snapshot}, the last of this version.`
const hunk = (before: string, after: string) =>
  [
    "@@ -1,2 +1,2 @@",
    " const order = $input.first().json",
    `-return [{ json: { price: ${before} } }]`,
    `+return [{ json: { price: ${after} } }]`
  ].join("\n")

describe("workflow_diff", () => {
  it.effect("goes from what is published to the draft, from a version to what is there, and between any two", () =>
    inWorld(function*() {
      const { id, snapshots: [newest, oldest], versions: [first, second, third] } = yield* versioned
      // The third is the current one.
      const snapshotOf = (reference: string) =>
        reference.endsWith(first ?? "") ? [oldest] : reference.endsWith(second ?? "") ? [newest] : []
      const notesOf = (...references: ReadonlyArray<string>) => references.flatMap(snapshotOf).map(noteOf).join(" ")
      const changed = (from: string, to: string, before: string, after: string) => ({
        from,
        to,
        same: false,
        moved: 0,
        nodes: [{
          node: "Price",
          change: "changed" as const,
          fields: [{ path: "parameters.jsCode", diff: hunk(before, after) }]
        }],
        connections: { added: [], removed: [] },
        settings: "same",
        ...notesOf(from, to) === "" ? {} : { note: notesOf(from, to) }
      })
      const last = ["order.net * 1.19", "order.net * 119"] as const
      assert.deepStrictEqual(yield* diff({ a: id }), changed(`${id}@published`, id, ...last))
      for (const a of [`${id}@published`, `${id}@${second}`, `${id}@${newest}`]) {
        assert.deepStrictEqual(yield* diff({ a }), changed(a, id, ...last))
        assert.deepStrictEqual(yield* diff({ a, b: `${id}@${third}` }), changed(a, `${id}@${third}`, ...last))
      }
      const [a, b] = [`${id}@${first}`, `${id}@${second}`]
      assert.deepStrictEqual(yield* diff({ a, b }), changed(a, b, "order.net", "order.net * 1.19"))
      // Answers show the beginning of a version's id.
      const short = { from: a, to: `${id}@0a1b2c3d` }
      assert.strictEqual(
        (yield* Effect.flip(diff({ a: short.from, b: "0a1b2c3d" }))).message,
        (yield* Effect.flip(diff({ a: short.from, b: short.to }))).message
      )
      assert.deepStrictEqual(yield* diff({ a: id, b: id }), {
        from: id,
        to: id,
        same: true,
        moved: 0,
        nodes: [],
        connections: { added: [], removed: [] },
        settings: "same"
      })
    }))

  it.effect("shows a version with its own settings and name, or none, never with those of today", () =>
    inWorld(function*({ api }) {
      const { id } = yield* tools.createWorkflow.call({
        name: "Orders",
        nodes: [node("A", "noOp", 1)],
        connections: {},
        settings: { executionTimeout: 7 }
      })
      const add = (name: string) =>
        tools.workflowEdit.call({ workflowId: id, operations: [{ op: "add", type: "n8n-nodes-base.noOp", name }] })
      const versionNow = Effect.map(tools.getWorkflow.call({ id }), ({ versionId = "" }) => versionId)
      const first = yield* versionNow
      yield* add("B")
      yield* api.edit(id, (now) => ({ ...now, nodes: [...now.nodes, node("C", "noOp", 1)] as never }))
      const theirs = yield* versionNow
      yield* api.edit(id, (now) => ({ ...now, nodes: now.nodes.slice(0, 1) }))
      yield* tools.updateWorkflow.call({ id, name: "Bills", settings: { executionTimeout: 77 } })
      const { versions } = yield* tools.workflowHistory.call({ id, limit: 50 })
      const snapshot = versions.findLast(({ source }) => source === "snapshot")?.version ?? ""

      const [a, b] = [`${id}@${snapshot}`, `${id}@${first}`]
      assert.deepInclude(yield* diff({ a, b }), { same: true, settings: "same", note: noteOf(snapshot) })
      assert.deepInclude(yield* diff({ a: b }), {
        name: { before: "Orders", after: "Bills" },
        settings: [{ path: "settings.executionTimeout", before: 7, after: 77 }]
      })
      const raw = yield* tools.getWorkflow.call({ id: b, raw: true })
      assert.deepInclude(raw, { name: "Orders", note: noteOf(snapshot) })
      assert.deepInclude(raw.settings, { executionTimeout: 7 })

      // Nobody has kept the settings of a version that someone else made and overwrote.
      const unknown = yield* diff({ a: `${id}@${theirs}` })
      assert.strictEqual(unknown.settings, "unknown: n8n's versions have none")
      assert.notProperty(unknown, "name")
      assert.include(unknown.note, "there is no snapshot of this one")
      const bare = yield* tools.getWorkflow.call({ id: `${id}@${theirs}`, raw: true })
      assert.notProperty(bare, "settings")
      assert.include(bare.note, "there is no snapshot of this one")

      // A test runs it with the settings that n8n would run it with, and the other one with its own.
      const settingsOf = (reference: string) =>
        Effect.map(TestBench.workbench(reference), ({ subject }) => obj(subject.settings)?.["executionTimeout"])
      assert.deepStrictEqual([yield* settingsOf(`${id}@${theirs}`), yield* settingsOf(b)], [77, 7])
    }))

  it.effect("pairs the nodes of two workflows by content, without their ids, and shows added ones", () =>
    inWorld(function*() {
      const make = (prefix: string, ...extra: ReadonlyArray<Obj>) => {
        const nodes = [
          node(`${prefix} hook`, "webhook", 2, { path: "in" }, { webhookId: prefix }),
          node(`${prefix} price`, "code", 2, { jsCode: `return ${prefix.length}` }),
          node(`${prefix} end`, "noOp", 1)
        ]
        const connections = joined([`${prefix} hook`, `${prefix} price`], [`${prefix} price`, `${prefix} end`])
        const create = tools.createWorkflow.call({ name: prefix, nodes: [...nodes, ...extra], connections })
        return Effect.map(create, ({ id }) => id)
      }
      const a = yield* make("A")
      const b = yield* make("Bee", node("Call", "crypto", 1, { action: "hmac", value: "a", secret: "hunter2" }))
      const { moved, nodes, settings } = yield* diff({ a, b })
      assert.deepStrictEqual([moved, settings], [0, "same"])
      const rows = nodes.map((
        { change, fields = [], formerName, node }
      ) => [node, change, formerName, fields.map(({ path }) => path).toSorted()])
      assert.deepStrictEqual(rows, [
        ["Bee hook", "renamed", "A hook", []],
        ["Bee end", "renamed", "A end", []],
        ["Bee price", "renamed", "A price", ["parameters.jsCode"]],
        ["Call", "added", undefined, ["parameters", "typeVersion"]]
      ])
      const text = JSON.stringify((yield* tools.workflowDiff.run({ a, b })).data)
      assert.notInclude(text, "hunter2")
      assert.include(text, "hmac")
    }))

  it.effect("compares files with each other and with n8n", () =>
    inWorld(function*({ folder }) {
      const { id } = yield* versioned
      const { workflowData } = yield* tools.workflowLoad.call({ workflowIdOrPath: id })
      const write = (name: string, workflow: object) =>
        FileSystem.FileSystem.use((fs) => fs.writeFileString(`${folder}/${name}`, JSON.stringify(workflow)))
      const workflow = workflowData as { readonly nodes: ReadonlyArray<object>; readonly connections: object }
      const settings = { executionOrder: "v1" }
      yield* write("same.json", { name: "Prices", nodes: workflow.nodes, connections: workflow.connections, settings })
      yield* write("other.json", { ...workflow, name: "Other", nodes: workflow.nodes.slice(0, 1), connections: {} })
      assert.isTrue((yield* diff({ a: "same.json", b: id })).same)
      assert.deepInclude(yield* diff({ a: id, b: "other.json" }), {
        same: false,
        nodes: [{ node: "Price", change: "removed" as const, type: "n8n-nodes-base.code" }],
        connections: { added: [], removed: ["Hook → Price"] },
        name: { before: "Prices", after: "Other" }
      })
      assert.lengthOf((yield* diff({ a: "other.json", b: "same.json" })).nodes, 1)
      assert.deepInclude(yield* refused({ a: "same.json" }), { field: "b" })
      assert.deepInclude(yield* refused({ a: id, b: "gone.json" }), { field: "b" })
    }))

  it.effect("says what cannot be compared", () =>
    inWorld(function*() {
      const { id } = yield* tools.createWorkflow.call({ name: "New", nodes: [], connections: {} })
      const unpublished = yield* refused({ a: id })
      assert.match(unpublished.message, /^Workflow '.*' is not published/)
      assert.include(Hints.text(unpublished.hint), `workflow_history(id: '${id}')`)
      const { id: prices } = yield* versioned
      const unknown = yield* refused({ a: prices, node: "price" })
      assert.deepInclude(unknown, { field: "node", hint: "Did you mean 'Price'?" })
      assert.strictEqual((yield* refused({ a: `${prices}@nope` }))._tag, "NotFoundError")
    }))

  it.effect("of n8n 1, where what is active is what is there, says so", () =>
    inWorld(function*() {
      const { id, snapshots: [newest] } = yield* versioned
      const { note, same } = yield* diff({ a: id })
      assert.isTrue(same)
      assert.include(note, "no drafts")
      assert.lengthOf((yield* diff({ a: `${id}@${newest}` })).nodes, 1)
    }, "1"))

  it.effect("stays small and names all changed nodes; a requested node is complete", () =>
    inWorld(function*() {
      const code = (salt: string) =>
        Array.from({ length: 60 }, (_, line) => `const v${line} = "${salt} ${line * 7}"`)
          .join("\n")
      const nodes = (salt: string) =>
        Array.from(
          { length: 25 },
          (_, index) =>
            node(`Step ${index}`, "code", 2, { jsCode: code(salt) }, { id: `${index}`, position: [index, 0] })
        )
      const { id: a } = yield* tools.createWorkflow.call({ name: "A", nodes: nodes("one"), connections: {} })
      const { id: b } = yield* tools.createWorkflow.call({ name: "A", nodes: nodes("two"), connections: {} })
      const answer = yield* tools.workflowDiff.run({ a, b })
      assert.isAtMost(countTokens(JSON.stringify(answer)), 1_500)
      const { nodes: shown } = yield* diff({ a, b })
      assert.deepStrictEqual(shown.map(({ node }) => node), nodes("").map(({ name }) => name))
      const next = `workflow_diff(a: '${a}', b: '${b}', node: '*')`
      assert.deepInclude(obj(answer.data)?.["_truncated"], { path: "nodes[].fields", total: 25, next })
      const whole = yield* tools.workflowDiff.run({ a, b, node: "*" })
      const rest = obj(obj(whole.data)?.["_truncated"])
      assert.deepInclude(rest, { path: "nodes", total: 25 })
      const count = Number(rest?.["kept"])
      assert.isAbove(count, 5)
      assert.deepStrictEqual(obj(whole.data)?.["nodes"], shown.slice(0, count))
      assert.strictEqual(rest?.["next"], `workflow_diff(a: '${a}', b: '${b}', node: '*', offset: ${count})`)
      const { nodes: [only] } = yield* diff({ a, b, node: "Step 3" })
      const text = only?.fields?.[0]?.diff ?? ""
      assert.lengthOf(text.split("\n"), 121)
      assert.include(text, `+const v59 = "two 413"`)
    }))
})
