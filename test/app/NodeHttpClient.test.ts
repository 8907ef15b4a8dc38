import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Stream from "effect/Stream"
import type { IncomingMessage } from "node:http"
import * as NodeHttpClient from "../../src/app/NodeHttpClient.ts"
import { listening } from "../support/listening.ts"

interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage["headers"]
  readonly text: string
}

/** Address of a server that answers with what it was sent. */
const echo = listening((request, response) => {
  const parts: Array<Buffer> = []
  request.on("data", (part: Buffer) => void parts.push(part)).on("end", () => {
    const { headers, method, url } = request
    response.setHeader("set-cookie", ["a=1", "b=2"])
    response.end(JSON.stringify({ method, url, headers, text: Buffer.concat(parts).toString() } satisfies Seen))
  })
})

const send = (request: HttpClientRequest.HttpClientRequest) =>
  HttpClient.execute(request).pipe(
    Effect.flatMap((response) => Effect.map(response.json, (json) => ({ response, seen: json as unknown as Seen }))),
    Effect.provide(NodeHttpClient.layer)
  )

describe("NodeHttpClient", () => {
  it.live("sends method, address, headers and body", () =>
    Effect.gen(function*() {
      const url = `${yield* echo}/a?b=%20c`
      const json = yield* send(
        HttpClientRequest.put(url).pipe(
          HttpClientRequest.setHeader("x-own", "own"),
          HttpClientRequest.bodyJsonUnsafe({ name: "é" })
        )
      )
      assert.deepInclude(json.seen, { method: "PUT", url: "/a?b=%20c", text: "{\"name\":\"é\"}" })
      assert.include(json.seen.headers, {
        "x-own": "own",
        "content-type": "application/json",
        "content-length": "13",
        "user-agent": "node"
      })
      // Within one machine, packing takes longer than sending.
      assert.notProperty(json.seen.headers, "accept-encoding")
      assert.strictEqual(json.response.status, 200)
      assert.deepStrictEqual(Object.keys(json.response.cookies.cookies), ["a", "b"])
      const form = new FormData()
      form.set("file", new Blob(["content"]), "a.txt")
      const { seen } = yield* send(HttpClientRequest.post(url).pipe(HttpClientRequest.bodyFormData(form)))
      assert.match(seen.headers["content-type"] ?? "", /^multipart\/form-data; ?boundary=/)
      assert.match(seen.text, /filename="a\.txt"[^]*content/)
      const streamed = HttpClientRequest.bodyStream(Stream.make(Buffer.from("st"), Buffer.from("ream")))
      assert.strictEqual((yield* send(streamed(HttpClientRequest.post(url)))).seen.text, "stream")
    }).pipe(Effect.scoped))

  it.live("follows no redirect, which could carry the key elsewhere", () =>
    Effect.gen(function*() {
      const url = yield* listening((_request, response) => void response.writeHead(302, { location: "/b" }).end())
      const { headers, status } = yield* HttpClient.get(url)
      assert.deepStrictEqual([status, headers["location"]], [302, "/b"])
    }).pipe(Effect.scoped, Effect.provide(NodeHttpClient.layer)))

  it.live("keeps a connection whose answer was read, and closes it when its request's scope ends before", () =>
    Effect.gen(function*() {
      const connections = new Set<unknown>()
      const closed = yield* Deferred.make<void>()
      const url = yield* listening((request, response) => {
        connections.add(request.socket)
        if (request.url === "/endless") {
          response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
          response.write("begun")
        } else response.end("whole")
      })
      const client = HttpClient.withScope(yield* HttpClient.HttpClient)
      const whole = Effect.flatMap(client.get(url), ({ text }) => text)
      for (let turn = 0; turn < 3; turn++) assert.strictEqual(yield* Effect.scoped(whole), "whole")
      assert.strictEqual(connections.size, 1)
      yield* Effect.scoped(client.get(`${url}/endless`))
      yield* Deferred.await(closed)
      assert.strictEqual(yield* Effect.scoped(whole), "whole")
    }).pipe(Effect.scoped, Effect.provide(NodeHttpClient.layer)))

  it.live.each<[what: string, url: (address: string) => string, headers: Record<string, string>, code: string]>([
    ["no server", () => "http://127.0.0.1:1", {}, "ECONNREFUSED"],
    ["no HTTP", (address) => address.replace("http:", "https:"), {}, "ERR_SSL_WRONG_VERSION_NUMBER"],
    ["a lost connection", (address) => address, {}, "ECONNRESET"],
    ["a header that cannot be sent", (address) => address, { "x-own": "a\nb" }, "ERR_INVALID_CHAR"]
  ])("fails with the system's code: %s", ([, url, headers, code]) =>
    Effect.gen(function*() {
      const address = yield* listening(({ socket }) => void socket.destroy())
      const { reason } = yield* Effect.flip(HttpClient.get(url(address), { headers }))
      assert.strictEqual(reason._tag, "TransportError")
      assert.match(String((reason.cause as { readonly code?: string }).code), new RegExp(`^${code}`))
    }).pipe(Effect.scoped, Effect.provide(NodeHttpClient.layer)))

  it.live("fails when a body breaks off", () =>
    Effect.gen(function*() {
      const url = yield* listening(({ socket }, response) => {
        response.writeHead(200, { "content-length": "100" })
        response.write("begun", () => void socket.destroy())
      })
      const { reason } = yield* Effect.flip(Effect.flatMap(HttpClient.get(url), ({ text }) => text))
      assert.strictEqual(reason._tag, "DecodeError")
    }).pipe(Effect.scoped, Effect.provide(NodeHttpClient.layer)))
})
