/** `pnpm test:suite long`: clients that hold more sockets than the process may open, and never close them. */
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { spawn } from "node:child_process"
import { connect, type Socket } from "node:net"
import { bundle, main, remove } from "../../support/Process.ts"

beforeAll(bundle, 60_000)
afterAll(remove)

/** Starts a server with at most 200 file descriptors and returns its address. */
const limited = Effect.acquireRelease(
  Effect.sync(() =>
    spawn("bash", [
      "-c",
      "ulimit -n 200; exec \"$0\" \"$@\"",
      process.execPath,
      main,
      ..."--transport http --demo --port 0 --max-connections 150".split(" ")
    ], { env: { PATH: process.env["PATH"] } })
  ),
  (child) => Effect.sync(() => void child.kill("SIGKILL"))
).pipe(Effect.flatMap((child) =>
  Effect.callback<URL>((resume) => {
    let said = ""
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk
      const [, address] = /address=(\S+)/.exec(said) ?? []
      if (address !== undefined) resume(Effect.succeed(new URL(address)))
    })
  })
))

/** Sends a request whose headers never end; the client never closes the socket. */
const halfRequest = (port: number) =>
  Effect.acquireRelease(
    Effect.callback<Socket>((resume) => {
      const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
      socket.on("error", () => undefined).on("connect", () => {
        socket.write("POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Half: ")
        resume(Effect.succeed(socket))
      })
    }),
    (socket) => Effect.sync(() => void socket.destroy())
  )

it.live("disconnects 250 clients with incomplete requests and answers others while they stay", () =>
  Effect.gen(function*() {
    const url = yield* limited
    const health = Effect.tryPromise(() =>
      fetch(new URL("/health", url), { headers: { connection: "close" }, signal: AbortSignal.timeout(3_000) })
        .then(({ status }) => status)
    )
    assert.strictEqual(yield* health, 200)
    const sockets = yield* Effect.forEach(
      Array.from({ length: 250 }),
      () => halfRequest(Number(url.port)),
      { concurrency: 50 }
    )
    assert.notStrictEqual(yield* Effect.orElseSucceed(health, () => 0), 200)
    const answer = yield* health.pipe(Effect.retry(Schedule.spaced("1 second")), Effect.timeout("30 seconds"))
    assert.strictEqual(answer, 200)
    assert.isTrue(sockets.some(({ destroyed }) => !destroyed))
  }))
