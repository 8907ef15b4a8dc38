import { assert, describe, it } from "@effect/vitest"
import * as ItemView from "../../src/executions/ItemView.ts"

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
})
