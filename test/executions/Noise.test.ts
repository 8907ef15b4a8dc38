import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { arr, obj } from "../../src/base/Json.ts"
import * as ItemView from "../../src/executions/ItemView.ts"
import { getExecution } from "../../src/tools/executions/getExecution.ts"
import { getExecutionByNode } from "../../src/tools/executions/getExecutionByNode.ts"
import { document, failed, from, holding, items, run } from "./runData.ts"

const without = (json: Parameters<typeof ItemView.withoutNoise>[0]["json"]) => ItemView.withoutNoise({ json }).json

describe("Noise", () => {
  const request = {
    headers: {
      host: "n8n.test",
      accept: "*/*",
      "accept-encoding": "gzip",
      connection: "keep-alive",
      "content-length": "9",
      "content-type": "application/json",
      "User-Agent": "curl/8",
      authorization: "Bearer abc",
      "x-forwarded-for": "10.0.0.1",
      "stripe-signature": "t=1,v1=2"
    },
    params: {},
    query: {},
    body: { headers: { host: "kept" } },
    webhookUrl: "http://n8n.test/webhook/a",
    executionMode: "production"
  }

  it("keeps the headers of a webhook that say something, and counts the others", () => {
    assert.deepStrictEqual(without(request), {
      headers: {
        "content-type": "application/json",
        "User-Agent": "curl/8",
        authorization: "Bearer abc",
        "x-forwarded-for": "10.0.0.1",
        "stripe-signature": "t=1,v1=2"
      },
      otherHeaders: 5,
      params: {},
      query: {},
      body: { headers: { host: "kept" } },
      webhookUrl: "http://n8n.test/webhook/a",
      executionMode: "production"
    })
  })

  it("counts nothing if there is nothing to count, and leaves alone other items than a webhook's", () => {
    const telling = { ...request, headers: { "content-type": "text/plain" } }
    assert.deepStrictEqual(without(telling), telling)
    const { webhookUrl: _, ...response } = request
    assert.deepStrictEqual(without(response), response)
    assert.deepStrictEqual(without([request, "at 9"]), [request, "at 9"])
  })

  it("counts the lines of a stack trace, wherever it stands", () => {
    const stack = "Error: boom\n    at read (/app/a.js:3:4)\n    at async Promise.all (index 0)\n    at /app/b.js:1:2"
    assert.deepStrictEqual(without({ error: { message: "boom", stack }, log: [`before ${stack}\nafter`] }), {
      error: { message: "boom", stack: "Error: boom [3 lines of a stack trace]" },
      log: ["before Error: boom [3 lines of a stack trace]\nafter"]
    })
  })

  it("leaves prose alone", () => {
    const prose = { text: "Meet me\n    at the station\n    at 10:30", key: { "a.b": null, n: 1 } }
    assert.deepStrictEqual(without(prose), prose)
  })

  it.effect("goes from the answers", () => {
    const error = { message: "no", stack: "Error: no\n    at /app/a.js:3:4" }
    const execution = document({
      Hook: [run(0, { main: [items(request)] })],
      Step: [failed(1, error, { source: [from("Hook")] })],
      Log: [run(2, { main: [items({ error })] }, { source: [from("Hook")] })]
    }, { status: "error" })
    const shown = {
      ...request,
      headers: {
        "content-type": "application/json",
        "User-Agent": "curl/8",
        authorization: "[redacted]",
        "x-forwarded-for": "10.0.0.1",
        "stripe-signature": "t=1,v1=2"
      },
      otherHeaders: 5
    }
    return Effect.gen(function*() {
      const { failure } = yield* getExecution.call({ id: execution.id, nodeOffset: 0 })
      assert.deepInclude(failure?.inputItem, { otherHeaders: 5 })
      const log = obj((yield* getExecutionByNode.run({ id: execution.id, nodeName: "Log" })).data)
      const jsons = (side: string) => arr(obj(log?.[side])?.["items"]).map((item) => obj(item)?.["json"])
      assert.deepStrictEqual(jsons("input"), [shown])
      assert.deepStrictEqual(jsons("output"), [
        { error: { message: "no", stack: "Error: no [1 line of a stack trace]" } }
      ])
    }).pipe(Effect.provide(holding(execution)))
  })
})
