import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { obj } from "../../../../../src/base/Json.ts"
import { bundle, freePort, remove, start } from "../../../../support/Process.ts"

beforeAll(bundle, 60_000)
afterAll(remove)

const request = (id: number, method: string, params: object = {}) =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`

const initialize = request(0, "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "0" }
})

const call = (id: number, name: string, args: object = {}) => request(id, "tools/call", { name, arguments: args })

const messages = (stdout: string) =>
  stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as Record<string, unknown>)

const talk = (input: ReadonlyArray<string | Uint8Array>, args = ["--demo"], env?: Record<string, string>) =>
  Effect.gen(function*() {
    const { child, ended } = start(args, env)
    for (const part of input) child.stdin.write(part)
    child.stdin.end()
    return yield* ended
  })

describe("stdio", () => {
  it.live("answers what came before the end of stdin, in JSON-RPC alone, and ends with 0", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* talk([
        initialize,
        call(1, "list_executions"),
        call(2, "get_execution", { id: "239" })
      ])
      assert.strictEqual(code, 0)
      assert.strictEqual(stderr, "")
      const answers = messages(stdout)
      assert.deepStrictEqual(answers.map(({ id }) => id).toSorted(), [0, 1, 2])
      for (const answer of answers) assert.strictEqual(answer["jsonrpc"], "2.0")
    }))

  it.live("survives what is not a message, or has an odd id or odd arguments, and says what is wrong", () =>
    Effect.gen(function*() {
      const odd = (id: number, args: unknown) => request(id, "tools/call", { name: "list_workflows", arguments: args })
      const ids = ["1.5", "-0.25", "9007199254740993", "1e300", "1e400", "null", "true", "{}", "[1]"]
      const { code, stdout } = yield* talk([
        initialize,
        "{ not json\n",
        "\n",
        Uint8Array.from([0x22, 0xff, 0xfe, 0x22, 0x0a]),
        "[1,2]\n",
        "{\"jsonrpc\":\"2.0\",\"id\":70}\n",
        ...ids.map((id) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`),
        request(-1, "ping"),
        `${JSON.stringify({ jsonrpc: "2.0", id: "", method: "ping" })}\n`,
        ...[null, "{\"limit\":1}", "{}", "limit=1", [], 5, false].map((args, index) => odd(index + 1, args))
      ])
      assert.strictEqual(code, 0)
      const answers = messages(stdout)
      const codes = answers.flatMap(({ error, id }) => error === undefined ? [] : [[id, obj(error)?.["code"]]])
      assert.deepStrictEqual(codes, [
        [null, -32700],
        [null, -32700],
        [null, -32600],
        [70, -32600],
        ...[1.5, -0.25, 9_007_199_254_740_992, 1e300, null, null, null, null, null].map((id) => [id, -32600])
      ])
      assert.include(stdout, "the id of a request is a string or an integer")
      const results = new Map(answers.flatMap(({ id, result }) => result === undefined ? [] : [[id, obj(result)]]))
      assert.sameMembers([...results.keys()], [0, -1, "", 1, 2, 3, 4, 5, 6, 7])
      for (const id of [1, 2, 3, 4, 5, 6, 7]) {
        assert.strictEqual(results.get(id)?.["isError"] === true, id > 3, `${id}`)
        if (id > 3) assert.include(JSON.stringify(results.get(id)), "arguments must be a JSON object")
      }
    }))

  it.live("takes a line of 12 MB, refuses one of 20 MB and one of 300,001 values, and lives on", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* talk([
        initialize,
        call(1, "list_workflows", { name: "x".repeat(12_000_000) }),
        call(2, "list_workflows", { name: "x".repeat(20_000_000) }),
        call(3, "list_workflows"),
        call(4, "list_workflows", { tags: Array.from({ length: 300_001 }, () => "x") })
      ])
      assert.strictEqual(code, 0)
      const answers = messages(stdout)
      assert.deepStrictEqual(answers.filter(({ result }) => result !== undefined).map(({ id }) => id).toSorted(), [
        0,
        1,
        3
      ])
      assert.include(stdout, "message over 16777216 bytes")
      const { error } = answers.find(({ id }) => id === 4) ?? {}
      assert.include(JSON.stringify(error), "The message has more than 300,000 values")
    }))

  it.live("serves 2026-07-28 without the SDK, and 2025-11-25 on the same connection", () =>
    Effect.gen(function*() {
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}
      }
      const modern = [
        request(5, "server/discover", { _meta }),
        request(6, "tools/list", { _meta }),
        request(7, "tools/call", { _meta, name: "get_execution", arguments: { id: "239" } })
      ]
      const more = request(8, "tools/call", { _meta, name: "list_workflows" })
      const { code, stdout } = yield* talk([...modern, initialize, call(1, "list_executions"), more])
      assert.strictEqual(code, 0)
      const answers = messages(stdout).map(({ id, result }) => [id, (result as { resultType?: string }).resultType])
      assert.deepStrictEqual(answers.toSorted(), [
        [0, undefined],
        [1, undefined],
        [5, "complete"],
        [6, "complete"],
        [7, "complete"],
        [8, "complete"]
      ])
    }))

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    it.live(`ends with 0 at ${signal}`, () =>
      Effect.gen(function*() {
        const { child, ended, output } = start(["--demo"])
        child.stdin.write(initialize)
        while (output() === "") yield* Effect.sleep("10 millis")
        child.kill(signal)
        const { code, stderr } = yield* ended
        assert.strictEqual(code, 0)
        assert.strictEqual(stderr, "")
      }))
  }

  it.live("starts and lists without N8N_URL, and says what to set", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* talk([initialize, request(1, "tools/list"), call(2, "list_workflows")], [], {
        N8N_URL: ""
      })
      assert.strictEqual(code, 0)
      assert.include(stdout, "\"name\":\"get_execution_by_node\"")
      assert.include(stdout, "N8N_URL and N8N_API_KEY not set")
    }))

  it.live("starts with n8n down; the call says so", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      const { child, ended, output } = start([], {
        N8N_URL: `http://127.0.0.1:${port}`,
        N8N_API_KEY: "canary-key"
      })
      child.stdin.write(initialize)
      child.stdin.write(call(1, "list_workflows"))
      // It is tried again for longer than a server goes on whose stdin has ended.
      while (!output().includes("\"id\":1")) yield* Effect.sleep("10 millis")
      child.stdin.end()
      const { code, stderr, stdout } = yield* ended
      assert.strictEqual(code, 0)
      assert.include(stdout, "ECONNREFUSED")
      assert.include(stdout, "Nothing is listening")
      assert.notInclude(stdout + stderr, "canary-key")
    }))
})
