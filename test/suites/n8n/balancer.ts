/** A minimal load balancer: each request goes to the next process, or to the other if that one refuses. */
import * as Effect from "effect/Effect"
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"

const attempt = (port: number, host: string, from: IncomingMessage, body: Buffer, to: ServerResponse) =>
  new Promise<boolean>((resolve) => {
    const { headers, method, url } = from
    const onward = request({ host, port, method, path: url, headers }, (answer) => {
      if (answer.statusCode === 503) {
        answer.resume()
        return resolve(false)
      }
      to.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(to)
      resolve(true)
    })
    onward.on("error", () => resolve(false))
    onward.end(body)
  })

/**
 * Balances requests over these ports until the scope ends; returns its address. A request that `isRefused` gets 404.
 */
export const balance = Effect.fn("balance")(function*(
  ports: ReadonlyArray<number>,
  { host = "127.0.0.1", isRefused = () => false }: {
    readonly host?: string
    readonly isRefused?: (request: IncomingMessage) => boolean
  } = {}
) {
  let turn = 0
  const server = createServer(async (from, to) => {
    const parts: Array<Buffer> = []
    for await (const part of from) parts.push(part as Buffer)
    if (isRefused(from)) return void to.writeHead(404, { "content-type": "text/plain" }).end("no such route")
    const first = turn++
    for (let tries = 0; tries < ports.length; tries++) {
      const port = ports[(first + tries) % ports.length] ?? 0
      if (await attempt(port, host, from, Buffer.concat(parts), to)) return
    }
    to.writeHead(502).end()
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => server.close().closeAllConnections())
  )
  const address = server.address()
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
})
