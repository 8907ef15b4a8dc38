/**
 * MCP over stdin and stdout: one JSON-RPC message a line.
 *
 * The SDK's own stdio transport ends itself, silently, at a message over 10 MB, answers nothing to what is no message,
 * and does not notice the end of stdin. This one reads lines up to 64 MB, answers an invalid one with an error, and ends
 * when stdin does, after the calls in flight were answered.
 */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { type JSONRPCMessage, JSONRPCMessageSchema } from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Readable, Writable } from "node:stream"
import { obj } from "../../base/Json.ts"
import { closed, connect, McpTransport, type Served } from "../McpTransport.ts"

/** A workflow with all its pinned data has some MB; more is a mistake or an attack. */
const maxLineBytes = 64 * 1024 * 1024
/** How long calls in flight may take once stdin has ended. */
const drainMillis = 700

const newline = 0x0a

type Id = string | number

const idOf = (message: unknown): Id | undefined => {
  const id = obj(message)?.["id"]
  return typeof id === "string" || typeof id === "number" ? id : undefined
}

class LineTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void
  onclose?: () => void
  onerror?: (error: Error) => void

  /** The beginning of an incomplete line. */
  #pending: Array<Buffer> = []
  #pendingBytes = 0
  #skipping = false
  #ended = false
  /** Requests without an answer yet. */
  readonly #open = new Set<Id>()
  readonly #decoder = new TextDecoder("utf-8", { fatal: true })
  readonly #input: Readable
  readonly #output: Writable

  constructor(input: Readable, output: Writable) {
    this.#input = input
    this.#output = output
  }

  start = () => {
    this.#input.on("data", this.#read)
    this.#input.once("end", this.#end)
    this.#input.once("error", this.#end)
    // The reader is gone.
    this.#output.once("error", () => this.#close())
    return Promise.resolve()
  }

  send = (message: JSONRPCMessage) => {
    if (!("method" in message)) {
      const id = idOf(message)
      if (id !== undefined) this.#open.delete(id)
    }
    this.#write(message)
    this.#closeWhenDone()
    return Promise.resolve()
  }

  close = () => {
    this.#input.off("data", this.#read)
    this.#input.pause()
    return Promise.resolve()
  }

  #read = (chunk: Buffer) => {
    let from = 0
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      this.#keep(chunk.subarray(from, at))
      this.#line()
      from = at + 1
    }
    this.#keep(chunk.subarray(from))
  }

  #keep(part: Buffer) {
    if (this.#skipping || part.length === 0) return
    this.#pendingBytes += part.length
    if (this.#pendingBytes > maxLineBytes) {
      this.#skipping = true
      this.#pending = []
      this.#refuse(-32600, `message over ${maxLineBytes} bytes`)
    } else {
      this.#pending.push(part)
    }
  }

  #line() {
    const bytes = Buffer.concat(this.#pending)
    const skipped = this.#skipping
    this.#pending = []
    this.#pendingBytes = 0
    this.#skipping = false
    if (skipped) return

    let value: unknown
    try {
      const line = this.#decoder.decode(bytes)
      if (line.trim() === "") return
      value = JSON.parse(line)
    } catch (error) {
      return this.#refuse(-32700, error instanceof SyntaxError ? "not JSON" : "not UTF-8")
    }
    const message = JSONRPCMessageSchema.safeParse(value)
    if (!message.success) return this.#refuse(-32600, "not a JSON-RPC 2.0 message", idOf(value))
    this.#note(message.data)
    this.onmessage?.(message.data)
  }

  #note(message: JSONRPCMessage) {
    if (!("method" in message)) return
    const id = idOf(message)
    if (id !== undefined) this.#open.add(id)
    const cancelled = message.method === "notifications/cancelled" ? message.params?.["requestId"] : undefined
    if (typeof cancelled === "string" || typeof cancelled === "number") this.#open.delete(cancelled)
  }

  #refuse(code: number, message: string, id: Id | null = null) {
    this.onerror?.(new Error(message))
    this.#write({ jsonrpc: "2.0", id, error: { code, message } })
  }

  #write(message: unknown) {
    if (this.#output.writable) this.#output.write(`${JSON.stringify(message)}\n`)
  }

  #end = () => {
    this.#ended = true
    setTimeout(() => this.#close(), drainMillis).unref()
    this.#closeWhenDone()
  }

  #closeWhenDone() {
    if (this.#ended && this.#open.size === 0) this.#close()
  }

  #close() {
    this.onclose?.()
  }
}

/** Serves on two streams; ends when the input does. @internal */
export const layerStreams = (input: Readable, output: Writable): Layer.Layer<McpTransport> =>
  Layer.succeed(McpTransport, {
    serve: Effect.fnUntraced(function*({ makeServer }: Served) {
      const server = yield* connect(yield* makeServer({ client: undefined }), new LineTransport(input, output))
      yield* closed(server)
    }, Effect.scoped)
  })

/** Serves on the process's stdin and stdout. */
export const layer: Layer.Layer<McpTransport> = layerStreams(process.stdin, process.stdout)
