import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type Obj, obj } from "../../../src/base/Json.ts"
import * as Sealing from "../../../src/mcp/eras/Sealing.ts"
import * as Stateless from "../../../src/mcp/eras/Stateless.ts"
import { legacy } from "../../../src/mcp/eras/Versions.ts"
import type { Protocol } from "../../../src/mcp/McpTransport.ts"
import type * as Methods from "../../../src/mcp/Methods.ts"

const question: Methods.Question = { method: "elicitation/create", params: { message: "Really?" } }

const send = Effect.fnUntraced(function*(method: string, params?: Obj) {
  const protocol: Protocol = {
    about: { name: "test", version: "1", capabilities: { tools: {} }, instructions: "how to" },
    methods: {
      "tools/list": ({ capabilities, notify }) => Effect.as(notify("notifications/progress", {}), { capabilities }),
      "tools/call": ({ ask }) => Effect.as(ask({ sure: question }), {}),
      "resources/read": () => Effect.die(new Error("secret of the machine"))
    },
    sealing: yield* Sealing.memory
  }
  const notified: Array<string> = []
  const request = { jsonrpc: "2.0" as const, id: 7, method, ...(params === undefined ? {} : { params }) }
  const body = yield* Stateless.answer(
    protocol,
    { client: undefined },
    request,
    ({ method }) => void notified.push(method)
  )
  const { error, id, jsonrpc, result } = obj(body) ?? {}
  assert.deepStrictEqual([jsonrpc, id], ["2.0", 7])
  return { result: obj(result), error: obj(error), notified }
})

const client = { capabilities: {}, clientInfo: { name: "c", version: "1" } }

describe("Stateless", () => {
  it.effect("agrees on the version that the client asks for, or the newest of its era", () =>
    Effect.gen(function*() {
      for (const version of legacy) {
        const { result } = yield* send("initialize", { ...client, protocolVersion: version })
        assert.deepStrictEqual(result, {
          protocolVersion: version,
          capabilities: { tools: {} },
          serverInfo: { name: "test", version: "1" },
          instructions: "how to"
        })
      }
      const { result } = yield* send("initialize", { ...client, protocolVersion: "1999-01-01" })
      assert.strictEqual(result?.["protocolVersion"], "2025-11-25")
    }))

  it.effect("answers a ping, and runs methods of a client without capabilities", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* send("ping")).result, {})
      const { notified, result } = yield* send("tools/list", { _meta: { progressToken: 1 } })
      assert.deepStrictEqual([result, notified], [{ capabilities: {} }, ["notifications/progress"]])
      assert.strictEqual((yield* send("tools/call")).error?.["code"], -32021)
    }))

  it.effect.each<[method: string, params: Obj | undefined, reason: string]>([
    ["initialize", undefined, "params.protocolVersion is not a string"],
    ["initialize", { ...client, protocolVersion: 5 }, "params.protocolVersion is not a string"],
    ["initialize", { protocolVersion: "2025-11-25", clientInfo: {} }, "params.capabilities is not an object"],
    ["initialize", { protocolVersion: "2025-11-25", capabilities: {} }, "params.clientInfo is not an object"],
    ["ping", { _meta: 5 }, "params._meta is not an object"],
    ["tools/list", { _meta: { progressToken: {} } }, "params._meta.progressToken is neither a string nor an integer"]
  ])(
    "refuses %s with %o",
    ([method, params, reason]) =>
      Effect.map(
        send(method, params),
        ({ error }) => assert.deepStrictEqual(error, { code: -32602, message: `Invalid request: ${reason}` })
      )
  )

  it.effect("refuses unknown methods, and hides defects", () =>
    Effect.gen(function*() {
      for (const method of ["logging/setLevel", "constructor"]) {
        assert.strictEqual((yield* send(method)).error?.["code"], -32601)
      }
      const { error } = yield* send("resources/read")
      assert.strictEqual(error?.["code"], -32603)
      assert.notInclude(JSON.stringify(error), "secret")
    }))
})
