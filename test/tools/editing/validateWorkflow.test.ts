import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as Envelope from "../../../src/answer/Envelope.ts"
import * as Minimize from "../../../src/answer/Minimize.ts"
import * as Documents from "../../../src/base/Documents.ts"
import * as NodeCatalogue from "../../../src/catalogue/NodeCatalogue.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import { validateWorkflow } from "../../../src/tools/editing/validateWorkflow.ts"
import * as WorkflowFiles from "../../../src/workflows/files/WorkflowFiles.ts"
import * as Snapshots from "../../../src/workflows/store/Snapshots.ts"
import * as Versions from "../../../src/workflows/store/Versions.ts"
import * as fixtures from "../../support/scenarios/recorded.ts"
import { main, node } from "../../support/workflows.ts"

const same = (actual: unknown, expected: unknown) => assert.deepStrictEqual(actual, expected)

const hook = node("Hook", "webhook", 2, { path: "x" }, { id: "1" })
const good = { name: "Good", nodes: [hook], connections: {}, settings: {} }
const bad = { ...good, nodes: [{ ...hook, type: "n8n-nodes-base.webhok" }] }

const files: { readonly [name: string]: string } = {
  "good.json": JSON.stringify(good),
  "deep/bad.json": JSON.stringify(bad),
  "commented.json": `// mine\n${JSON.stringify(good)}`,
  "wrapped.json": JSON.stringify([good]),
  "other.json": JSON.stringify({ dependencies: {} }),
  "broken.json": "{\n  \"nodes\": [}\n"
}

const withFiles = Layer.unwrap(
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
    yield* fs.makeDirectory(`${folder}/deep`)
    for (const [name, content] of Object.entries(files)) yield* fs.writeFileString(`${folder}/${name}`, content)
    return WorkflowFiles.layer({ roots: [folder] })
  })
)

const offline = Layer.mergeAll(
  NodeCatalogue.layer(),
  withFiles,
  Layer.provideMerge(Versions.layer, Layer.provide(Snapshots.layer(), Documents.layerMemory))
).pipe(Layer.provide(NodeServices.layer), Layer.orDie)

const validate = validateWorkflow.call
const refused = (args: object) => Effect.map(Effect.flip(validateWorkflow.run(args)), Envelope.fromError)
const withNodes = (nodes: ReadonlyArray<unknown>, connections = {}) => ({ ...good, nodes, connections })

layer(Layer.merge(offline, FakeN8n.layer(fixtures.seed)))("with an n8n", (it) => {
  it.effect("names outdated nodes, which are not problems", () =>
    Effect.gen(function*() {
      const { outdated, problems, valid } = yield* validate({
        workflow: withNodes([hook, node("Old", "function")], { Hook: main("Old") })
      })
      same([valid, problems], [true, []])
      const type = "n8n-nodes-base.function"
      same(outdated, [
        { node: "Old", type, has: 1, newest: 1, deprecated: true, use: ["n8n-nodes-base.code"] },
        { node: "Hook", type: "n8n-nodes-base.webhook", has: 2, newest: 2.1 }
      ])
      assert.notProperty(yield* validate({ workflow: withNodes([{ ...hook, typeVersion: 2.1 }]) }), "outdated")
    }))

  it.effect("names what an upgrade breaks, once for all its nodes, and within the budget", () =>
    Effect.gen(function*() {
      const names = Array.from({ length: 60 }, (_, index) => `関数 ${index}`)
      const call = node("Call", "executeWorkflow", 1.2, { mode: "each", workflowId: "7" })
      const workflow = withNodes([hook, ...names.map((name) => node(name, "function")), call])
      assert.notProperty(yield* validate({ workflow }), "breaks")
      const answer = yield* validateWorkflow.run({ workflow, to: "v3" })
      const { breaks = [] } = answer.data as { breaks?: ReadonlyArray<{ [key: string]: unknown }> }
      same(breaks.map(({ node, nodes, since }) => [since, node ?? nodes]), [["3.0", names], ["3.0", "Call"]])
      assert.include(answer.message, "; 2 breaks")
      assert.isBelow(countTokens(JSON.stringify(breaks)), 700)
      same((yield* validate({ workflow, to: "2.41.1" })).breaks, [])
      const many = Array.from({ length: 1_000 }, (_, index) => node(`N${index}`, "function"))
      const long = yield* validateWorkflow.run({ workflow: withNodes(many), to: "3" })
      assert.isBelow(JSON.stringify(long).length, 40_000)
      const shapes = [{ nodes: [] }, { nodes: [null, 3, {}] }, {
        nodes: [{ type: "n8n-nodes-base.cron" }],
        settings: 3
      }]
      const odd = yield* Effect.forEach(shapes, (workflow) => validate({ workflow, to: "3" }))
      same(odd.map(({ breaks = [] }) => breaks.map(({ what }) => what)), [[], [], ["Cron is removed."]])
    }))

  it.effect("says that a target is older, and refuses one that is not a release", () =>
    Effect.gen(function*() {
      const workflow = withNodes([hook, node("Set", "set", 3.5)], { Hook: main("Set") })
      const { breaks = [], note } = yield* validate({ workflow, to: "1.123" })
      same(breaks.map((each) => [each.since, "node" in each && each.node]), [["1.123", "Set"]])
      assert.include(note, "n8n 1.123 is older than this n8n (2.41.1)")
      const { context, hint, name } = yield* refused({ workflow, to: "next" })
      same([name, context["field"]], ["ValidationError", "to"])
      assert.include(hint, "up to n8n 3.0")
    }))

  it.effect("answers in its own shape if there are too many problems, for any limit", () =>
    Effect.gen(function*() {
      const merges = Array.from({ length: 300 }, (_, at) => node(`Merge ${at}`, "merge", 3.2, { numberInputs: 1e7 }))
      const ask = (nodes: ReadonlyArray<unknown>) => validateWorkflow.run({ workflow: withNodes(nodes) })
      for (const room of [0, 138, 276, 414, 552].map((more) => Minimize.minResultChars + more)) {
        const { data } = yield* Effect.provideService(ask(merges), Minimize.MaxResultChars, room)
        same((data as { counts: unknown }).counts, { errors: 0, warnings: 301 })
      }
      const answer = yield* ask(Array.from({ length: 1_000 }, (_, index) => node(`N${index}`, "x.y")))
      assert.isBelow(JSON.stringify(answer).length, 40_000)
      same((answer.data as { counts: unknown }).counts, { errors: 1_000, warnings: 0 })
      assert.property(answer.data, "_truncated")
    }))

  it.effect("judges a live workflow", () =>
    Effect.gen(function*() {
      const workflowId = fixtures.workflowId("branch")
      const { outdated, ...rest } = yield* validate({ workflowId })
      same(rest, { valid: true, source: "n8n", counts: { errors: 0, warnings: 0 }, problems: [] })
      assert.isTrue(outdated?.every(({ has, newest }) => has < newest))
      same((yield* validateWorkflow.run({ workflowId })).message, "Valid, 0 warnings")
    }))

  it.effect("judges files, and says what one was repaired of, or where it is broken", () =>
    Effect.gen(function*() {
      const { counts, problems, valid } = yield* validate({ workflowId: "deep/bad.json" })
      same([valid, counts], [false, { errors: 1, warnings: 0 }])
      same(problems, [{
        severity: "error",
        node: "Hook",
        nodeId: "1",
        path: "nodes[0].type",
        message: "n8n 2.41.1 has no type 'n8n-nodes-base.webhok'.",
        fix: "Did you mean 'n8n-nodes-base.webhook' or 'n8n-nodes-base.webflow'?"
      }])
      const remarks = (workflowId: string) =>
        Effect.map(validate({ workflowId }), ({ problems, valid }) => [valid, problems.map(({ message }) => message)])
      same(yield* remarks("good.json"), [true, []])
      same(yield* remarks("commented.json"), [true, ["removed a comment at line 1, column 1"]])
      same(yield* remarks("wrapped.json"), [true, ["Unwrapped the workflow."]])
      assert.include((yield* refused({ workflowId: "other.json" })).message, "its keys are: dependencies")
      const broken = yield* refused({ workflowId: "broken.json" })
      assert.include(broken.message, "line 2, column 13")
      same(broken.context["field"], "workflowId")
      assert.include((yield* refused({ workflowId: "deep/webhook" })).message, "is not a .json file")
      for (const args of [{}, { workflowId: "" }, { workflowId: "1", workflow: good }]) {
        assert.include((yield* refused(args)).message, "either workflowId or workflow")
      }
    }))
})

layer(Layer.merge(offline, N8nClient.layerUnconfigured(["N8N_URL", "N8N_API_KEY"])))("without an n8n", (it) => {
  it.effect("validates files and given workflows", () =>
    Effect.gen(function*() {
      const verdicts = yield* Effect.forEach(
        [{ workflow: good }, { workflow: bad }, { workflowId: "good.json" }],
        (args) => validate(args)
      )
      same(verdicts.map(({ valid }) => valid), [true, false, true])
      assert.include((yield* refused({ workflowId: "id" })).hint, "N8N_URL")
    }))
})
