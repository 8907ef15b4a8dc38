/** The fence around code, by itself, on a real n8n: whatever code says, a counting server gets nothing. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Services from "../../../src/app/Services.ts"
import * as JavaScript from "../../../src/base/JavaScript.ts"
import { arr, type Obj, obj, str } from "../../../src/base/Json.ts"
import * as Fence from "../../../src/catalogue/code/Fence.ts"
import type { Node } from "../../../src/n8n/model/Workflow.ts"
import type * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { escapes } from "../../support/scenarios/escapes.ts"
import { harmless } from "../../support/scenarios/senders.ts"
import { node } from "../../support/workflows.ts"
import { code, connected, happened, type Link, made, test, webhook } from "./builders.ts"
import type { RealN8n } from "./RealN8n.ts"
import * as Recorder from "./Recorder.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient.N8nClient | Services.Services>

const onError = { onError: "continueRegularOutput", continueOnFail: true }

const langchain = (name: string, code: string) => ({
  ...node(name, "code", 1, {
    code: { execute: { code } },
    inputs: { input: [{ type: "main", maxConnections: 1, required: true }] },
    outputs: { output: [{ type: "main" }] }
  }, onError),
  type: "@n8n/n8n-nodes-langchain.code"
})

const ending = (code: string, end: string) => code.replace(/return \[\]$/, end)

/** Every kind of node that runs JavaScript, with the code of a form. */
const kinds: { readonly [kind: string]: (name: string, code: string) => Obj & { readonly name: string } } = {
  code: (name, text) => code(name, text, onError),
  each: (name, text) =>
    node(name, "code", 2, { mode: "runOnceForEachItem", jsCode: ending(text, "return { json: {} }") }, onError),
  function: (name, text) => node(name, "function", 1, { functionCode: ending(text, "return items") }, onError),
  functionItem: (name, text) => node(name, "functionItem", 1, { functionCode: ending(text, "return item") }, onError),
  langchain,
  aiTransform: (name, text) => node(name, "aiTransform", 1, { jsCode: text }, onError),
  sort: (name, text) =>
    node(name, "sort", 1, { type: "code", code: `(async () => { ${text} })().catch(() => 0); return 0` }, onError)
}

/** Runs the nodes once, each on two items, and returns what n8n recorded of them. */
const recorded = Effect.fnUntraced(function*(name: string, nodes: ReadonlyArray<Obj & { readonly name: string }>) {
  const path = `fence-${crypto.randomUUID()}`
  const links: ReadonlyArray<Link> = [["Orders", "Two"], ...nodes.map(({ name }): Link => ["Two", name])]
  const two = node("Two", "splitOut", 1, { fieldToSplitOut: "body.items" })
  const id = yield* made(name, [webhook(path), two, ...nodes], [], { connections: connected(links) })
  yield* scenarios.publish(id)
  const { executionId } = yield* happened(id, path, { items: [{ a: 1 }, { a: 2 }] })
  const execution = obj(yield* scenarios.fetchJson(`executions/${executionId}?includeData=true`))
  return obj(obj(obj(execution?.["data"])?.["resultData"])?.["runData"]) ?? {}
})

/** Results of code, or its errors with the lines that n8n found. */
const lines = [
  ...harmless,
  "return [{ json: { isGlobal: this === globalThis } }]",
  "'use strict'\nreturn [{ json: { isNothing: this === undefined, count: arguments.length } }]",
  "const a = $input.all()\n\nnull.x\nreturn a",
  "return items.map((item) => {\n  return item.json.b.c\n})",
  "function deep(n) {\n  if (n === 0)\n    throw new TypeError('deep')\n  return deep(n - 1)\n}\nreturn deep(3)",
  "return [{ json: { typed: typeof $json, no: missing } }]",
  "return 7",
  "return [{ json: { ended: true } }] // with a comment",
  "await new Promise((done) => { const t = setTimeout(done, 1); setTimeout(() => clearTimeout(t), 50) })\nreturn []",
  "return [{ json: { at: $now.zoneName, id: $workflow.name, env: typeof $env } }]",
  "throw 'a text'"
]

/** Adds the tests of the fence to a suite. */
export const fencing = (it: It) => {
  it.effect(
    "fence: code of every kind of node sends in many ways, and in none with the fence alone",
    () =>
      Effect.gen(function*() {
        const parse = yield* JavaScript.parser
        const recorder = yield* Recorder.make
        const bare = escapes(`${recorder.url}/bare`)
        const sending = bare.map(({ code: text }, index) => code(`Bare ${index}`, text, onError))
        yield* recorded("sends without a fence", sending)
        const sent = new Set(recorder.lines()).size
        assert.isAtLeast(sent, 60)
        for (const [kind, build] of Object.entries(kinds)) {
          const nodes = escapes(`${recorder.url}/fenced/${kind}`).flatMap(({ code: text }, index) => {
            const own = Fence.fence(build(`${kind} ${index}`, text) as unknown as Node, parse)
            return own === undefined ? [] : [own as unknown as Obj & { readonly name: string }]
          })
          assert.isAtLeast(nodes.length, bare.length - 1)
          const runs = yield* recorded(`sends with a fence: ${kind}`, nodes)
          assert.strictEqual(Object.keys(runs).length, nodes.length + 2)
        }
        assert.deepStrictEqual(recorder.lines().filter((line) => line.includes("/fenced/")), [])
      }),
    240_000
  )

  it.effect(
    "fence: results, errors and their lines are those of the code without it",
    () =>
      Effect.gen(function*() {
        const parse = yield* JavaScript.parser
        const nodes = lines.flatMap((text, index) =>
          ["code", "each", "function", "functionItem"].flatMap((kind) => {
            const build = kinds[kind] ?? langchain
            const own = build(`Bare ${kind} ${index}`, text)
            const fenced = Fence.fence(
              { ...own, id: `fenced ${kind} ${index}`, name: `Fenced ${kind} ${index}` } as unknown as Node,
              parse
            )
            assert.isDefined(fenced, text)
            return [own, fenced as unknown as Obj & { readonly name: string }]
          })
        )
        const runs = yield* recorded("same with a fence", nodes)
        const outcome = (name: string) => {
          const [run] = arr(runs[name]).map(obj)
          const items = arr(arr(obj(run?.["data"])?.["main"])[0]).map(obj)
          const error = obj(run?.["error"])
          const parts = [run?.["executionStatus"], error?.["message"], error?.["description"], error?.["lineNumber"]]
          return JSON.stringify([parts, items.map((item) => [item?.["json"], item?.["pairedItem"]])])
            .replace(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, "id")
            .replace(/\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|[+-][\d:]+)?/g, "time")
        }
        for (const name of nodes.map(({ name }) => str(name) ?? "").filter((name) => name.startsWith("Bare"))) {
          assert.strictEqual(outcome(name.replace("Bare", "Fenced")), outcome(name), name)
        }
      }),
    240_000
  )

  it.effect(
    "fence: replays, cases and proofs run the code of every kind of node in it, which no answer shows",
    () =>
      Effect.gen(function*() {
        const seen = "typeof $evaluateExpression"
        const codes: ReadonlyArray<readonly [string, string]> = [
          ["code", `return [{ json: { seen: ${seen} } }]`],
          ["each", `return { json: { seen: ${seen} } }`],
          ["function", `return [{ json: { seen: ${seen} } }]`],
          ["functionItem", `return { seen: ${seen} }`],
          ["langchain", `return [{ json: { seen: ${seen} } }]`],
          ["aiTransform", `return [{ json: { seen: ${seen} } }]`]
        ]
        const nodes = codes.map(([kind, text]) => (kinds[kind] ?? langchain)(kind, text))
        const path = `fence-${crypto.randomUUID()}`
        const links = nodes.map(({ name }): Link => ["Orders", name])
        const id = yield* made("looks around", [webhook(path), ...nodes], [], { connections: connected(links) })
        yield* scenarios.publish(id)
        const { executionId } = yield* happened(id, path, { a: 1 })
        const seenIn = Effect.fnUntraced(function*(execution: string) {
          return yield* Effect.forEach(nodes, ({ name }) =>
            Effect.map(
              tools.getExecutionByNode.call({ id: execution, nodeName: name }),
              (answer) => /"seen":"(\w+)"/.exec(JSON.stringify(answer))?.[1]
            ))
        })
        assert.deepStrictEqual(yield* seenIn(executionId), nodes.map(() => "function"))
        const again = yield* test(id, { replay: executionId })
        assert.deepStrictEqual(yield* seenIn(again.executionId), nodes.map(() => "undefined"))
        const shown = yield* tools.getExecutionByNode.call({ id: again.executionId, nodeName: "code" })
        assert.notInclude(JSON.stringify(shown), "effect-n8n-mcp")
        const freely = yield* test(id, { testData: { a: 1 } })
        assert.deepStrictEqual(yield* seenIn(freely.executionId), nodes.map(() => "function"))
        const { ignored = [] } = yield* tools.workflowProve.call({ workflowId: id, executions: [executionId] })
        // A proof names the first node that differs in each run; an unchanged one differs by the fence alone.
        assert.lengthOf(ignored, 1)
      }),
    120_000
  )
}
