/** What no client of good will sends, byte by byte: each ends in JSON or in a clean close, and the server lives on. */
import { assert, layer } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { createServer } from "node:http"
import { connect, type Socket } from "node:net"
import { obj } from "../../../src/base/Json.ts"
import * as Access from "../../../src/mcp/http/Access.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { served } from "./served.ts"

/** Sends bytes and gives all that comes until the server closes; it fails when the server leaves the socket open. */
const exchange = (url: string, bytes: string, halfClose = false) =>
  Effect.callback<string>((resume) => {
    let received = ""
    const socket = connect(Number(new URL(url).port), "127.0.0.1")
    socket.setEncoding("utf8").on("data", (chunk: string) => (received += chunk))
    socket.on("error", () => undefined)
    socket.on("close", () => resume(Effect.succeed(received)))
    socket.write(bytes)
    if (halfClose) socket.end()
    return Effect.sync(() => void socket.destroy())
  }).pipe(Effect.timeoutOrElse({ duration: "3 seconds", orElse: () => Effect.succeed("left open") }))

const ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"

interface Shape {
  readonly line?: string
  readonly host?: string
  readonly more?: string
  readonly length?: string
  readonly body?: string
}

const request = (
  { body = ping, host = "Host: localhost\r\n", length, line = "POST /mcp HTTP/1.1", more = "" }: Shape = {}
) =>
  `${line}\r\n${host}Connection: close\r\nContent-Type: application/json\r\n` +
  `Accept: application/json, text/event-stream\r\n${more}` +
  `${length ?? `Content-Length: ${body.length}`}\r\n\r\n${body}`

const chunked = (body: string) => request({ length: "Transfer-Encoding: chunked", body })

const deep = (open: string, close: string) => `${open.repeat(20_000)}1${close.repeat(20_000)}`

const cases: ReadonlyArray<readonly [what: string, status: number, bytes: string]> = [
  ["nothing special", 200, request()],
  ["64 kB of headers", 431, request({ more: `X-Big: ${"a".repeat(65_536)}\r\n` })],
  ["a NUL in a header", 400, request({ more: "X-A: b\0c\r\n" })],
  ["a TLS hello", 400, "\x16\x03\x01\x02\x00\x01\r\n\r\n"],
  ["HTTP/2", 400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["HTTP/1.0", 200, request({ line: "POST /mcp HTTP/1.0" })],
  ["no host", 403, request({ host: "" })],
  ["two hosts, the right one first", 400, request({ more: "Host: evil.example\r\n" })],
  ["two hosts, the wrong one first", 400, request({ host: "Host: evil.example\r\nHost: localhost\r\n" })],
  ["two tokens", 400, request({ more: "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n" })],
  ["somebody else's address", 403, request({ line: "POST http://evil.example/mcp HTTP/1.1" })],
  ["100-continue", 100, request({ more: "Expect: 100-continue\r\n" })],
  ["another expectation", 417, request({ more: "Expect: wonders\r\n" })],
  ["a length that is too small", 400, request({ length: "Content-Length: 5" })],
  ["a negative length", 400, request({ length: "Content-Length: -1" })],
  ["two lengths", 400, request({ more: "Content-Length: 3\r\n" })],
  ["a length and chunks", 400, request({ more: "Transfer-Encoding: chunked\r\n" })],
  ["chunks that are none", 400, chunked("zz\r\nhello\r\n0\r\n\r\n")],
  ["a chunk with 40 kB about itself", 413, chunked(`5;${"a".repeat(40_000)}\r\nhello\r\n0\r\n\r\n`)],
  ["chunks", 200, chunked(`${ping.length.toString(16)}\r\n${ping}\r\n0\r\n\r\n`)],
  ["a tunnel", 0, "CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n"],
  ["brackets without end", 400, request({ body: "[".repeat(200_000) })],
  ["objects 20,000 deep", 400, request({ body: deep("{\"a\":", "}") })],
  ["a body that is packed", 415, request({ more: "Content-Encoding: gzip\r\n" })],
  ["a body that is not", 200, request({ more: "Content-Encoding: identity\r\n" })],
  ["our own address before the path", 200, request({ line: "POST http://localhost/mcp HTTP/1.1" })],
  ["a path in capitals", 404, request({ line: "POST /MCP HTTP/1.1" })],
  ["a path that is encoded", 404, request({ line: "POST /%6dcp HTTP/1.1" })],
  ["a path with two slashes", 404, request({ line: "POST //mcp HTTP/1.1" })],
  ["a path out of here", 404, request({ line: "POST //..//%00%ff/mcp HTTP/1.1" })]
]

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

layer(Logger.layer([]), { excludeTestServices: true })("over HTTP", (it) => {
  it.effect("an invalid or ambiguous request ends in JSON or a close", () =>
    Effect.gen(function*() {
      const { url } = yield* served()
      for (const [what, status, bytes] of cases) {
        const answer = yield* exchange(url, bytes)
        assert.strictEqual(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0), status, `${what}: ${answer}`)
        assert.notMatch(answer, /left open|\n +at /, what)
        if (status >= 200) {
          assert.isDefined(obj(parsed(answer.split("\r\n\r\n").slice(1).join(""))), `${what}: ${answer}`)
        }
      }
      const half = yield* exchange(url, request({ length: "Content-Length: 500" }), true)
      assert.match(half, /^HTTP\/1\.1 400 /, "half closed before the end")
      const three = yield* exchange(url, request().replace("Connection: close\r\n", "").repeat(2) + request())
      assert.lengthOf(three.match(/HTTP\/1\.1 200 /g) ?? [], 3, "pipelined")
    }))

  it.effect("connections are bounded, and a refused client that does not close loses its own", () =>
    Effect.gen(function*() {
      // One connection is that of the test's own `fetch`.
      const { url } = yield* served({}, [], { maxConnections: 2 })
      const open = Effect.acquireRelease(
        Effect.callback<Socket>((resume) => {
          const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", allowHalfOpen: true })
          socket.on("error", () => undefined).on("connect", () => resume(Effect.succeed(socket)))
        }),
        (socket) => Effect.sync(() => void socket.destroy())
      )
      /** Asks until there is room. */
      const answered = exchange(url, request()).pipe(
        Effect.repeat({ until: (answer) => answer !== "", schedule: Schedule.spaced("20 millis") }),
        Effect.timeout("10 seconds")
      )
      const idle = yield* open
      assert.strictEqual(yield* exchange(url, request()), "")
      idle.destroy()
      assert.match(yield* answered, /^HTTP\/1\.1 200 /)

      const refused = yield* open
      yield* Effect.callback<void>((resume) => {
        refused.once("data", () => resume(Effect.void)).write("this is not HTTP\r\n\r\n")
      })
      assert.match(yield* answered, /^HTTP\/1\.1 200 /)
      assert.isFalse(refused.destroyed)
    }))

  it.effect("a client that sends its body slowly blocks no one", () =>
    Effect.gen(function*() {
      const { url } = yield* served({ maxInFlight: 1 })
      const half = yield* Effect.forEach([1, 2, 3], () =>
        Effect.forkChild(exchange(url, request({ length: "Content-Length: 500" }))))
      assert.match(yield* exchange(url, request()), /^HTTP\/1\.1 200 /)
      yield* Fiber.interruptAll(half)
    }))

  it.effect("a name without end is not repeated", () =>
    Effect.gen(function*() {
      const { url } = yield* served()
      const name = "x".repeat(100_000)
      const params = { uri: name, name }
      for (const method of ["tools/call", "prompts/get", "resources/read"]) {
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
        assert.isBelow((yield* exchange(url, request({ body }))).length, 2_000, method)
      }
      const execute = request({ line: "POST /mcp/execute HTTP/1.1", body: JSON.stringify({ name }) })
      assert.isBelow((yield* exchange(url, execute)).length, 2_000)
    }))

  it.effect("guessing tokens at speed never keeps out who has one", () =>
    Effect.gen(function*() {
      const access = Access.make([{ token: Redacted.make("right"), client: undefined }], undefined)
      const { url } = yield* served({ access, callsPerMinute: 20 })
      const statusOf = (token: string) =>
        Effect.promise(async () => {
          const headers = { "content-type": "application/json", authorization: `Bearer ${token}` }
          const response = await fetch(`${url}/mcp/tools`, { method: "POST", headers })
          await response.arrayBuffer()
          return response.status
        })
      const guesses = yield* Effect.forEach(
        Array.from({ length: 200 }, (_, index) => `guess-${index}`),
        statusOf,
        { concurrency: 20 }
      )
      assert.deepStrictEqual([...new Set(guesses)].toSorted((a, b) => a - b), [401, 429])
      assert.isAtMost(guesses.filter((status) => status === 401).length, 21)
      assert.strictEqual(yield* statusOf("right"), 200)
    }))

  it.effect("a caller who goes away ends the request to n8n", () =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<void>()
      const gone = yield* Deferred.make<void>()
      const n8n = createServer((_request, response) => {
        response.on("close", () => void Deferred.doneUnsafe(gone, Effect.void))
        Deferred.doneUnsafe(asked, Effect.void)
      })
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => void n8n.listen(0, "127.0.0.1", () => resume(Effect.void))),
        () => Effect.sync(() => n8n.close().closeAllConnections())
      )
      const address = n8n.address()
      const client = N8nClient.layer({
        url: new URL(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/`),
        apiKey: Redacted.make("key")
      }).pipe(Layer.provide(FetchHttpClient.layer))
      const { listWorkflows } = tools
      const upstream = {
        ...listWorkflows,
        name: "upstream",
        run: (args: unknown) => listWorkflows.run(args).pipe(Effect.provide(client))
      }
      const { url } = yield* served({ maxInFlight: 1 }, [upstream])
      const call = yield* Effect.forkChild(
        exchange(url, request({ line: "POST /mcp/execute HTTP/1.1", body: "{\"name\":\"upstream\"}" }))
      )
      yield* Deferred.await(asked)
      yield* Fiber.interrupt(call)
      yield* Deferred.await(gone)
      assert.match(yield* exchange(url, request()), /^HTTP\/1\.1 200 /)
    }))
})
