/** Servers of a test's own. */
import * as Effect from "effect/Effect"
import { createServer, type RequestListener } from "node:http"
import { createServer as createTlsServer } from "node:https"
import type { AddressInfo } from "node:net"

/** Something that listens until the scope ends, with a certificate over TLS; its address. */
export const listening = (
  answer: RequestListener,
  certificate?: { readonly key: Uint8Array; readonly cert: Uint8Array }
) =>
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = certificate === undefined
        ? createServer(answer)
        : createTlsServer({ key: Buffer.from(certificate.key), cert: Buffer.from(certificate.cert) }, answer)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  ).pipe(Effect.map((server) =>
    `${certificate === undefined ? "http" : "https"}://127.0.0.1:${(server.address() as AddressInfo).port}`
  ))
