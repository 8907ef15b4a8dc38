import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createContext, runInContext } from "node:vm"
import * as JavaScript from "../../../src/base/JavaScript.ts"
import { obj, str } from "../../../src/base/Json.ts"
import * as Fence from "../../../src/catalogue/code/Fence.ts"
import { findAll, NodeCatalogue } from "../../../src/catalogue/NodeCatalogue.ts"
import * as ParameterValues from "../../../src/catalogue/parameters/ParameterValues.ts"
import { reachesOutside } from "../../../src/catalogue/types/Outside.ts"
import * as TestMark from "../../../src/n8n/model/TestMark.ts"
import { catalogue } from "../../support/catalogue.ts"
import { escapes } from "../../support/scenarios/escapes.ts"
import { harmless, senders } from "../../support/scenarios/senders.ts"

const nodeOf = (jsCode: unknown) => ({ name: "C", type: "n8n-nodes-base.code", typeVersion: 2, parameters: { jsCode } })

const fencedCode = (code: string, parse: JavaScript.Parse) =>
  str(obj(Fence.fence(nodeOf(code), parse)?.parameters)?.["jsCode"])

/** Globals of a node's code, of the realm in which it runs: there, n8n forbids to make functions of Node's own realm. */
const globals = `
  helpers = { httpRequest: async ({ url }) => send(url), request: async ({ url }) => send(url), prepareBinaryData: async () => ({ data: 1 }) };
  require = (name) => name === "http" ? { get: send } : { isModule: name };
  setTimeout = (f, ms, ...args) => timer(() => { try { f(...args) } catch {} }, ms);
  clearTimeout = (id) => clear(id);
  console = { log: () => undefined };
  $input = { all: () => [{ json: { a: 1 } }] };
  $evaluateExpression = () => send("expression");
  items = $input.all();
`

/** A context like that of n8n's task runner, which counts what is sent. */
const runner = () => {
  const sent: Array<string> = []
  const context = createContext({})
  const begin = runInContext(`((send, timer, clear) => {${globals}})`, context) as (
    send: (url: string) => void,
    timer: (call: () => void, ms: number) => number,
    clear: (id: number) => void
  ) => void
  const timers = new Map<number, NodeJS.Timeout>()
  begin(
    (url) => void sent.push(url),
    (call, ms) => timers.set(timers.size + 1, setTimeout(call, ms)).size,
    (id) => clearTimeout(timers.get(id))
  )
  const run = async (code: string): Promise<unknown> =>
    runInContext(`var module = { exports: {} }; module.exports = async function VmCodeWrapper() {${code}\n}()`, context)
  return { sent, run, context }
}

/** What code returns, or its error with the line in the code. */
const outcome = (result: Promise<unknown>) =>
  result.then(
    (value) => JSON.stringify(value) ?? "undefined",
    (error: Error) => `${error.message} at ${/evalmachine.<anonymous>:(\d+):/.exec(error.stack ?? "")?.[1]}`
  )

describe("the fence around a node's code", () => {
  it.effect("keeps all code from sending, whatever it says", () =>
    Effect.gen(function*() {
      const parse = yield* JavaScript.parser
      const forms = [
        ...escapes("http://x").map(({ code }) => code),
        ...senders.map((each) => `const url = 'http://x'\n${each}`)
      ]
      let without = 0
      for (const code of forms) {
        const bare = runner()
        yield* Effect.promise(() => outcome(bare.run(code)))
        if (bare.sent.length > 0) without++
        const text = fencedCode(code, parse)
        if (text === undefined) continue
        const { run, sent } = runner()
        // Twice: code that runs for each item meets the same global object again.
        for (const _ of [1, 2]) yield* Effect.promise(() => outcome(run(text)))
        assert.deepStrictEqual(sent, [], code)
      }
      assert.isAtLeast(without, 100)
    }))

  it.effect("keeps results, errors, their lines, and the rest of the surroundings", () =>
    Effect.gen(function*() {
      const parse = yield* JavaScript.parser
      const forms = [
        ...harmless,
        "return this === globalThis",
        "'use strict'; return [this === globalThis, (function () { return this })() === undefined]",
        "return arguments.length",
        "\n\nconst a = 1\nnull.x",
        "return [1].map((x) => {\n  return x.a.b\n})",
        "throw new TypeError('bad')",
        "return 1 // a comment",
        "return typeof require('crypto').isModule + require('node:util').isModule",
        "return helpers.prepareBinaryData('a')",
        "const t = setTimeout(() => { throw 1 }, 5); clearTimeout(t); return 1",
        "return typeof missing + nothing",
        "return await Promise.reject(new Error('late'))",
        "var items = 1; return items",
        "function helpers() { return 2 } return helpers()"
      ]
      for (const code of forms) {
        const text = fencedCode(code, parse)
        assert.isString(text, code)
        const fenced = yield* Effect.promise(() => outcome(runner().run(text ?? "")))
        assert.strictEqual(fenced, yield* Effect.promise(() => outcome(runner().run(code))), code)
      }
    }))

  it.effect("takes n8n's variables away again before the next item, and stops where it cannot take anything", () =>
    Effect.gen(function*() {
      const parse = yield* JavaScript.parser
      const { context, run, sent } = runner()
      const code = fencedCode("return typeof $evaluateExpression", parse) ?? ""
      assert.strictEqual(yield* Effect.promise(() => outcome(run(code))), "\"undefined\"")
      Object.assign(context, { $evaluateExpression: () => sent.push("x") })
      assert.strictEqual(yield* Effect.promise(() => outcome(run(code))), "\"undefined\"")
      const open = runner()
      Object.assign(open.context, { fetch: () => open.sent.push("x") })
      assert.include(
        yield* Effect.promise(() => outcome(open.run(fencedCode("return fetch('http://x')", parse) ?? ""))),
        Fence.unfenced
      )
      assert.deepStrictEqual(open.sent, [])
    }))

  it.effect("refuses code that ends its function early, and leaves nodes without code as they are", () =>
    Effect.gen(function*() {
      const parse = yield* JavaScript.parser
      for (
        const code of [
          "}(); helpers.httpRequest({ url: 'x' }); (function () {",
          "return 1 }).call(this); helpers.request({}); (async function () {",
          "={{ $json.code }}",
          "return {",
          7
        ]
      ) assert.isUndefined(Fence.fence(nodeOf(code), parse), String(code))
      const sort = {
        name: "S",
        type: "n8n-nodes-base.sort",
        parameters: { code: "await /}).x, send(), ((a, b) => {/ 1" }
      }
      assert.isUndefined(Fence.fence(sort, parse))
      const set = { name: "S", type: "n8n-nodes-base.set", parameters: { jsCode: "helpers" } }
      assert.deepStrictEqual(Fence.fence(set, parse), set)
    }))

  it.effect("is not seen by who reads the copy's nodes", () =>
    Effect.gen(function*() {
      const parse = yield* JavaScript.parser
      for (
        const node of [
          nodeOf("return 1\n// end"),
          { name: "S", type: "n8n-nodes-base.sort", parameters: { type: "code", code: "return a.n - b.n" } },
          { name: "L", type: "@n8n/n8n-nodes-langchain.code", parameters: { code: { execute: { code: "return []" } } } }
        ]
      ) {
        const fenced = Fence.fence(node, parse)
        assert.notDeepEqual(fenced?.parameters, node.parameters as unknown)
        assert.deepStrictEqual(TestMark.originalParameters(fenced?.parameters), node.parameters as unknown)
      }
    }))

  it.effect("has a place for the code of every type that a replay runs", () =>
    Effect.gen(function*() {
      const parse = yield* JavaScript.parser
      const types = yield* (yield* NodeCatalogue).types
      const find = yield* findAll(types)
      const running: Array<string> = []
      for (const id of types) {
        for (const description of find(id)?.descriptions ?? []) {
          const code = description.properties.filter((property) => ParameterValues.codeExtension(property) === "js")
          for (const { name } of code) {
            const version = description.version
            const typeVersion = Array.isArray(version) ? version.at(-1) : version
            const node = { name: "C", type: id, typeVersion, parameters: { [name]: "return []" } }
            if (reachesOutside(find(id), node, parse)) continue
            running.push(id)
            assert.isTrue(Fence.isFenceable(id, name), `${id} ${name}`)
          }
        }
      }
      assert.includeMembers(running, ["n8n-nodes-base.code", "n8n-nodes-base.function", "n8n-nodes-base.sort"])
    }).pipe(Effect.provide(catalogue)))
})
