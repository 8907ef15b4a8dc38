/** Servers on loopback that record what reaches them: HTTP, mail (SMTP) and a database (Redis). */
import * as Effect from "effect/Effect"
import { createServer as createHttpServer } from "node:http"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { RealN8n } from "./RealN8n.ts"

/** What reached them, a line each, and where they listen. */
export interface Recorder {
  readonly url: string
  readonly smtpPort: number
  readonly redisPort: number
  readonly lines: () => ReadonlyArray<string>
  /** The bodies of HTTP requests, as JSON. */
  readonly bodies: () => ReadonlyArray<unknown>
  /** Decides about the answer to an HTTP request after it was recorded; by default, `lookup` or 200. */
  answer: (body: unknown) => Promise<number | undefined>
}

const listen = (server: Server) =>
  Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
    }),
    () => Effect.sync(() => server.close())
  )

/** Enough of SMTP to take any mail. */
const smtp = (record: (line: string) => void) => (socket: Socket) => {
  let isData = false
  let buffer = ""
  socket.on("error", () => undefined)
  socket.write("220 recorder\r\n")
  socket.on("data", (chunk) => {
    buffer += String(chunk)
    const lines = buffer.split("\r\n")
    buffer = lines.pop() ?? ""
    for (const line of lines) {
      if (isData) {
        if (line.startsWith("Subject:")) record(`mail ${line}`)
        isData = line !== "."
        if (!isData) socket.write("250 ok\r\n")
        continue
      }
      isData = /^data/i.test(line)
      socket.write(isData ? "354 go\r\n" : /^quit/i.test(line) ? "221 bye\r\n" : "250 ok\r\n")
    }
  })
}

/** Enough of Redis to set and get; every key holds `stored`. */
const redis = (record: (line: string) => void) => (socket: Socket) => {
  let buffer = ""
  socket.on("error", () => undefined)
  socket.on("data", (chunk) => {
    buffer += String(chunk)
    for (;;) {
      const command = /^\*(\d+)\r\n((?:\$\d+\r\n[^\r]*\r\n)*)/.exec(buffer)
      const words = [...(command?.[2] ?? "").matchAll(/\$\d+\r\n([^\r]*)\r\n/g)].map(([, word = ""]) => word)
      if (command === null || words.length < Number(command[1])) return
      const rest = words.slice(Number(command[1]))
      buffer = buffer.slice(command[0].length) + rest.join("")
      const name = (words[0] ?? "").toLowerCase()
      if (name === "get" || name === "set") record(`redis ${words.slice(0, 2).join(" ")}`)
      socket.write(name === "get" ? "$6\r\nstored\r\n" : name === "type" ? "+string\r\n" : "+OK\r\n")
    }
  })
}

/** Starts the servers; `GET /lookup?id=2` answers 404. */
export const make = Effect.gen(function*() {
  const { host } = yield* RealN8n
  const recorded: Array<string> = []
  const bodies: Array<unknown> = []
  const record = (line: string) => void recorded.push(line)
  const http = createHttpServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://recorder")
    record(`${request.method} ${url.pathname}${url.search}`)
    const id = Number(url.searchParams.get("id"))
    const text = Buffer.concat(await request.toArray()).toString()
    const body: unknown = request.headers["content-type"]?.includes("json") === true ? JSON.parse(text) : text
    if (text !== "") bodies.push(body)
    response.setHeader("content-type", "application/json")
    response.statusCode = await recorder.answer(body) ?? (id === 2 ? 404 : 200)
    response.end(JSON.stringify(id === 2 ? { message: "no such order" } : { id, price: 10 * id }))
  })
  const httpPort = yield* listen(http)
  const recorder: Recorder = {
    url: `http://${host}:${httpPort}`,
    smtpPort: yield* listen(createServer(smtp(record))),
    redisPort: yield* listen(createServer(redis(record))),
    lines: () => recorded,
    bodies: () => bodies,
    answer: () => Promise.resolve(undefined)
  }
  return recorder
})
