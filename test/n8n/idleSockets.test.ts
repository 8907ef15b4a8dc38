/** n8n closes connections that were idle for five seconds; a process that was busy meanwhile has not seen it. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Redacted from "effect/Redacted"
import { Worker } from "node:worker_threads"
import * as NodeHttpClient from "../../src/app/NodeHttpClient.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"

/**
 * A server on a thread of its own, since this one will be busy. Told to, it closes the connections that are open, and
 * notes in `shared` when all of them are closed.
 */
const server = `
const { createServer } = require("node:http")
const { parentPort, workerData } = require("node:worker_threads")
const done = new Int32Array(workerData)
const sockets = new Set()
const noteIfClosed = () => {
  if (sockets.size > 0) return
  Atomics.store(done, 0, 1)
  Atomics.notify(done, 0)
}
const answer = JSON.stringify({ id: "1", name: "Daily", active: false, nodes: [], connections: {} })
createServer((request, response) => {
  request.resume().on("end", () => response.setHeader("content-type", "application/json").end(answer))
}).on("connection", (socket) => {
  sockets.add(socket)
  socket.on("close", () => {
    sockets.delete(socket)
    noteIfClosed()
  })
}).listen(0, "127.0.0.1", function() {
  parentPort.postMessage(this.address().port)
})
parentPort.on("message", () => {
  for (const socket of sockets) socket.destroySoon()
  // The other end may have closed its last one meanwhile.
  noteIfClosed()
})
`

/** n8n's address, and a wait for it to close its connections in which nothing else happens here. */
const started = Effect.gen(function*() {
  const shared = new SharedArrayBuffer(4)
  const worker = yield* Effect.acquireRelease(
    Effect.sync(() => new Worker(server, { eval: true, workerData: shared })),
    (worker) => Effect.promise(() => worker.terminate())
  )
  const port = yield* Effect.callback<number>((resume) => {
    worker.once("message", (port: number) => resume(Effect.succeed(port)))
  })
  const done = new Int32Array(shared)
  const busyUntilClosed = Effect.sync(() => {
    Atomics.store(done, 0, 0)
    worker.postMessage("close", [])
    assert.notStrictEqual(Atomics.wait(done, 0, 0, 10_000), "timed-out")
  })
  return { url: new URL(`http://127.0.0.1:${port}/`), busyUntilClosed }
})

it.live.each([["fetch", FetchHttpClient.layer], ["node:http", NodeHttpClient.layer]] as const)(
  "a write after that is sent on a connection that is open, by %s",
  ([, layer]) =>
    Effect.gen(function*() {
      const { busyUntilClosed, url } = yield* started
      const n8n = yield* N8nClient.make({ url, apiKey: Redacted.make("k") }).pipe(Effect.provide(layer))
      for (let round = 0; round < 20; round++) {
        yield* n8n.getWorkflow("1")
        yield* busyUntilClosed
        const { name } = yield* n8n.createWorkflow({ name: "Daily" } as never)
        assert.strictEqual(name, "Daily")
      }
    }).pipe(Effect.scoped)
)
