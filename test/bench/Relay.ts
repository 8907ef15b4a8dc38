/**
 * A relay in front of n8n that counts requests, to verify that a server sent none.
 *
 * **Details**
 *
 * It forwards bodies unchanged, still compressed, and all contenders use it.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import { BenchError } from "./BenchError.ts"

/** A running relay. */
export interface Relay {
  readonly url: URL
  /** The number of requests so far. */
  readonly count: () => number
}

/** Starts a relay to `target` that runs until the scope ends. */
export const make = (target: URL): Effect.Effect<Relay, BenchError, Scope.Scope> =>
  Effect.gen(function*() {
    const agent = yield* Effect.acquireRelease(
      Effect.sync(() => new Agent({ keepAlive: true })),
      (agent) => Effect.sync(() => agent.destroy())
    )
    let requests = 0
    const forward = (from: IncomingMessage, to: ServerResponse) => {
      requests++
      const { headers, method } = from
      const forwarded = request(new URL(from.url ?? "/", target), { agent, headers, method }, (response) => {
        to.writeHead(response.statusCode ?? 502, response.rawHeaders)
        response.pipe(to)
      })
      forwarded.on("error", () => to.destroy())
      to.on("close", () => forwarded.destroy())
      from.pipe(forwarded)
    }
    const server = yield* Effect.acquireRelease(
      Effect.callback<ReturnType<typeof createServer>, BenchError>((resume) => {
        const server = createServer(forward)
        server.once("error", ({ message }) => {
          resume(Effect.fail(new BenchError({ step: "starting the relay", detail: message })))
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    )
    const address = server.address()
    const port = address !== null && typeof address === "object" ? address.port : 0
    return { url: new URL(`http://127.0.0.1:${port}/`), count: () => requests }
  })
