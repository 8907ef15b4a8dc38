/** A relay in front of n8n that counts requests, to verify that a server sent none; bodies stay as they are. */
import * as Effect from "effect/Effect"
import { Agent, request } from "node:http"
import { listening } from "../support/listening.ts"

/** Starts a relay to `target` that runs until the scope ends. */
export const make = Effect.fnUntraced(function*(target: URL) {
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => new Agent({ keepAlive: true })),
    (agent) => Effect.sync(() => agent.destroy())
  )
  let requests = 0
  const url = yield* listening((from, to) => {
    requests++
    const { headers, method } = from
    const forwarded = request(new URL(from.url ?? "/", target), { agent, headers, method }, (response) => {
      to.writeHead(response.statusCode ?? 502, response.rawHeaders)
      response.pipe(to)
    })
    forwarded.on("error", () => to.destroy())
    to.on("close", () => forwarded.destroy())
    from.pipe(forwarded)
  })
  return { url: new URL(url), count: () => requests }
})

/** A running relay. */
export type Relay = Effect.Success<ReturnType<typeof make>>
