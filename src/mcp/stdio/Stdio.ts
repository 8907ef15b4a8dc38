/**
 * MCP over stdin and stdout: one JSON-RPC message per line, of either era on one connection.
 *
 * The SDK's stdio transport dies silently at a message over 10 MB, ignores invalid messages, and ignores the end
 * of stdin. This one reads lines up to 64 MB, answers invalid lines with an error, and ends with stdin after answering
 * the calls in flight.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { Readable, Writable } from "node:stream"
import * as Modern from "../eras/Modern.ts"
import { McpTransport, type Served } from "../McpTransport.ts"
import * as Rpc from "../Rpc.ts"

/** Maximum bytes of a line: a workflow with all its pinned data has some MB. */
const maxLineBytes = 64 * 1024 * 1024
/** Time limit for calls in flight after the end of stdin. */
const drainMillis = 700

const newline = 0x0a

class Lines {
  onmessage?: (message: Rpc.Message) => void
  onclose?: () => void

  #pending: Array<Buffer> = []
  #pendingBytes = 0
  #skipping = false
  #ended = false
  readonly #open = new Set<Rpc.Id>()
  readonly #decoder = new TextDecoder("utf-8", { fatal: true })
  readonly #input: Readable
  readonly #output: Writable

  /** Effect that calls wait for before they run. */
  readonly #ready: Effect.Effect<unknown>

  constructor(input: Readable, output: Writable, ready: Effect.Effect<unknown>) {
    this.#input = input
    this.#output = output
    this.#ready = ready
  }

  start() {
    this.#input.on("data", this.#read)
    this.#input.once("end", this.#end)
    this.#input.once("error", this.#end)
    // The reader has closed the pipe.
    this.#output.once("error", () => this.#close())
  }

  send(message: object) {
    if (!("method" in message)) {
      const id = Rpc.idOf(message)
      if (id !== undefined) this.#open.delete(id)
    }
    this.#write(message)
    this.#closeWhenDone()
  }

  stop() {
    this.#input.off("data", this.#read)
    this.#input.pause()
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
      this.#refuse(Rpc.codes.invalidRequest, `message over ${maxLineBytes} bytes`)
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
      return this.#refuse(Rpc.codes.parseError, error instanceof SyntaxError ? "not JSON" : "not UTF-8")
    }
    const message = Rpc.parse(value)
    if (message === undefined) {
      return this.#refuse(Rpc.codes.invalidRequest, Rpc.problem(value), Rpc.idOf(value))
    }
    this.#note(message)
    this.onmessage?.(message)
  }

  #note(message: Rpc.Message) {
    if (Rpc.isRequest(message)) this.#open.add(message.id)
    const cancelled = cancelledBy(message)
    if (cancelled !== undefined) this.#open.delete(cancelled)
  }

  #refuse(code: number, message: string, id: Rpc.Id | null = null) {
    this.#write(Rpc.failure(id, { code, message }))
  }

  #write(message: object) {
    if (this.#output.writable) this.#output.write(`${JSON.stringify(message)}\n`)
  }

  #end = () => {
    this.#ended = true
    void Effect.runPromise(this.#ready).then(() => setTimeout(() => this.#close(), drainMillis).unref())
    this.#closeWhenDone()
  }

  #closeWhenDone() {
    if (this.#ended && this.#open.size === 0) this.#close()
  }

  #close() {
    this.onclose?.()
  }
}

const cancelledBy = (message: Rpc.Message): Rpc.Id | undefined => {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined
  return Rpc.idOf({ id: message.params?.["requestId"] })
}

const caller = { client: undefined }

const converse = Effect.fnUntraced(function*(served: Served, lines: Lines) {
  const fibers = yield* FiberSet.make()
  const run = yield* FiberSet.runtime(fibers)()
  const runPromise = yield* FiberSet.runtimePromise(fibers)()
  const scope = yield* Effect.scope
  const calls = new Map<Rpc.Id, Fiber.Fiber<unknown>>()
  let legacy: Promise<(message: Rpc.Message) => void> | undefined

  const connectLegacy = Effect.promise(() => import("../eras/Legacy.ts")).pipe(
    Effect.flatMap((Legacy) => Legacy.converse(served, caller, (message) => lines.send(message))),
    Effect.provideService(Scope.Scope, scope),
    Effect.map(({ receive }) => receive)
  )

  const answer = (request: Rpc.Request) => {
    const refusal = Modern.refusal(request, undefined)
    if (refusal !== undefined) return lines.send(refusal.body)
    if (calls.has(request.id)) {
      return lines.send(Rpc.failure(request.id, {
        code: Rpc.codes.invalidRequest,
        message: "A request with this id is still in progress"
      }))
    }
    const call = Modern.answer(served, caller, request, (message) => lines.send(message)).pipe(
      Effect.map(({ body }) => lines.send(body)),
      Effect.ensuring(Effect.sync(() => calls.delete(request.id)))
    )
    const fiber = run(call)
    // It may have been answered immediately.
    if (fiber.pollUnsafe() === undefined) calls.set(request.id, fiber)
  }

  lines.onmessage = (message) => {
    const cancelled = cancelledBy(message)
    const call = cancelled === undefined ? undefined : calls.get(cancelled)
    if (call !== undefined) return void run(Fiber.interrupt(call))
    if (Rpc.isRequest(message)) {
      const isInitialize = message.method === "initialize" && !Modern.isModern(message)
      if (isInitialize) legacy ??= runPromise(connectLegacy)
      if (legacy === undefined || Modern.isModern(message)) return answer(message)
    }
    void legacy?.then((receive) => receive(message))
  }
})

/**
 * Serves on two streams; ends with the input after the calls in flight are answered or their time is up, once `ready`.
 * @internal
 */
export const layerStreams = (
  input: Readable,
  output: Writable,
  ready: Effect.Effect<unknown> = Effect.void
): Layer.Layer<McpTransport> =>
  Layer.succeed(McpTransport, {
    serve: Effect.fnUntraced(function*(served: Served) {
      const lines = new Lines(input, output, ready)
      yield* Effect.addFinalizer(() => Effect.sync(() => lines.stop()))
      yield* converse(served, lines)
      yield* Effect.callback<void>((resume) => {
        lines.onclose = () => resume(Effect.void)
        lines.start()
      })
    }, Effect.scoped)
  })

/** Serves on the process's stdin and stdout. */
export const layer: Layer.Layer<McpTransport> = layerStreams(process.stdin, process.stdout)
