/**
 * A relay in front of n8n that counts the requests: how else would one know that a server sent none?
 *
 * **Details**
 *
 * It hands bodies on as they come, still compressed, and all contenders pass through it.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import { BenchError } from "./BenchError.ts"

/** A relay that listens. */
export interface Relay {
  readonly url: URL
  /** How many requests have come so far. */
  readonly count: () => number
}

/** Stands in front of `target` until the scope ends. */
export const make = (target: URL): Effect.Effect<Relay, BenchError, Scope.Scope> =>
  Effect.gen(function*() {
    const agent = yield* Effect.acquireRelease(
      Effect.sync(() => new Agent({ keepAlive: true })),
      (agent) => Effect.sync(() => agent.destroy())
    )
    let requests = 0
    const handOn = (from: IncomingMessage, to: ServerResponse) => {
      requests++
      const { headers, method } = from
      const onward = request(new URL(from.url ?? "/", target), { agent, headers, method }, (response) => {
        to.writeHead(response.statusCode ?? 502, response.rawHeaders)
        response.pipe(to)
      })
      onward.on("error", () => to.destroy())
      to.on("close", () => onward.destroy())
      from.pipe(onward)
    }
    const server = yield* Effect.acquireRelease(
      Effect.callback<ReturnType<typeof createServer>, BenchError>((resume) => {
        const server = createServer(handOn)
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
