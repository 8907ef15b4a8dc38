/**
 * MCP over stdin and stdout: one JSON-RPC message per line, of either era on one connection.
 *
 * The SDK's stdio transport dies silently at a message over 10 MB, ignores invalid messages, and ignores the end
 * of stdin. This one reads lines up to 16 MB, answers invalid lines with an error, and ends with stdin after answering
 * the calls in flight.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { Readable, Writable } from "node:stream"
import * as JsonSize from "../../base/JsonSize.ts"
import * as Modern from "../eras/Modern.ts"
import { McpTransport, type Served } from "../McpTransport.ts"
import * as Rpc from "../Rpc.ts"

/** Maximum bytes of a line, as much as n8n takes; a workflow with its pinned data can have several MB. */
const maxLineBytes = 16 * 1024 * 1024
/** Time limit for calls in flight after the end of stdin. */
const drainMillis = 700

const newline = 0x0a

interface Handlers {
  readonly onMessage: (message: Rpc.Message) => void
  readonly onClose: () => void
}

/** Message lines of two streams; closes after the input, when `ready` has run and the calls in flight are answered. */
const makeLines = (input: Readable, output: Writable, ready: Effect.Effect<unknown>) => {
  const open = new Set<Rpc.Id>()
  const decoder = new TextDecoder("utf-8", { fatal: true })
  let handlers: Handlers | undefined
  let pending: Array<Buffer> = []
  let pendingBytes = 0
  let isSkipping = false
  let hasEnded = false

  const close = () => handlers?.onClose()
  const closeWhenDone = () => {
    if (hasEnded && open.size === 0) close()
  }
  const write = (message: object) => {
    if (output.writable) output.write(`${JSON.stringify(message)}\n`)
  }
  const refuse = (code: number, message: string, id: Rpc.Id | null = null) => write(Rpc.failure(id, { code, message }))

  const add = (part: Buffer) => {
    if (isSkipping || part.length === 0) return
    pendingBytes += part.length
    if (pendingBytes > maxLineBytes) {
      isSkipping = true
      pending = []
      refuse(Rpc.codes.invalidRequest, `message over ${maxLineBytes} bytes`)
    } else {
      pending.push(part)
    }
  }

  const receive = (bytes: Buffer) => {
    let value: unknown
    try {
      const line = decoder.decode(bytes)
      if (line.trim() === "") return
      const { id, isOver } = JsonSize.scan(line)
      if (isOver) {
        const own: unknown = id === undefined ? null : JSON.parse(id)
        return refuse(Rpc.codes.invalidRequest, `The message ${JsonSize.reason()}`, Rpc.idOf({ id: own }))
      }
      value = JSON.parse(line)
    } catch (error) {
      return refuse(Rpc.codes.parseError, error instanceof SyntaxError ? "not JSON" : "not UTF-8")
    }
    const message = Rpc.parse(value)
    if (message === undefined) return refuse(Rpc.codes.invalidRequest, Rpc.problem(value), Rpc.idOf(value))
    if (Rpc.isRequest(message)) open.add(message.id)
    const cancelled = cancelledBy(message)
    if (cancelled !== undefined) open.delete(cancelled)
    handlers?.onMessage(message)
  }

  const endLine = () => {
    const [bytes, skipped] = [Buffer.concat(pending), isSkipping]
    pending = []
    pendingBytes = 0
    isSkipping = false
    if (!skipped) receive(bytes)
  }

  const read = (chunk: Buffer) => {
    let from = 0
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      add(chunk.subarray(from, at))
      endLine()
      from = at + 1
    }
    add(chunk.subarray(from))
  }

  const end = () => {
    hasEnded = true
    // Not a promise: the end of the server interrupts it, and a rejection would be the process's failure.
    Effect.runFork(Effect.andThen(ready, Effect.sync(() => void setTimeout(close, drainMillis).unref())))
    closeWhenDone()
  }

  return {
    start: (own: Handlers) => {
      handlers = own
      input.on("data", read)
      input.once("end", end)
      input.once("error", end)
      // The reader has closed the pipe.
      output.once("error", close)
    },
    send: (message: object) => {
      const id = "method" in message ? undefined : Rpc.idOf(message)
      if (id !== undefined) open.delete(id)
      write(message)
      closeWhenDone()
    },
    stop: () => {
      input.off("data", read)
      input.pause()
    }
  }
}

const cancelledBy = (message: Rpc.Message): Rpc.Id | undefined => {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined
  return Rpc.idOf({ id: message.params?.["requestId"] })
}

const caller = { client: undefined }

/** Returns a function that receives messages; answers go to `send`. */
const converse = Effect.fnUntraced(function*(served: Served, send: (message: object) => void) {
  const fibers = yield* FiberSet.make()
  const run = yield* FiberSet.runtime(fibers)()
  const runPromise = yield* FiberSet.runtimePromise(fibers)()
  const scope = yield* Effect.scope
  const calls = new Map<Rpc.Id, Fiber.Fiber<unknown>>()
  let legacy: Promise<(message: Rpc.Message) => void> | undefined

  const connectLegacy = Effect.promise(() => import("../eras/Legacy.ts")).pipe(
    Effect.flatMap((Legacy) => Legacy.converse(served, caller, send)),
    Effect.provideService(Scope.Scope, scope)
  )

  const answer = (request: Rpc.Request) => {
    const refusal = Modern.refusal(request, undefined)
    if (refusal !== undefined) return send(refusal.body)
    if (calls.has(request.id)) {
      return send(Rpc.failure(request.id, {
        code: Rpc.codes.invalidRequest,
        message: "A request with this id is still in progress"
      }))
    }
    const call = Modern.answer(served, caller, request, send).pipe(
      Effect.map(({ body }) => send(body)),
      Effect.ensuring(Effect.sync(() => calls.delete(request.id)))
    )
    const fiber = run(call)
    // It may have been answered immediately.
    if (fiber.pollUnsafe() === undefined) calls.set(request.id, fiber)
  }

  return (message: Rpc.Message) => {
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
 * Serves on two streams. Ends after the input, when `ready` has run and the calls in flight are answered or out of time.
 * @internal
 */
export const layerStreams = (
  input: Readable,
  output: Writable,
  ready: Effect.Effect<unknown> = Effect.void
): Layer.Layer<McpTransport> =>
  Layer.succeed(McpTransport, {
    serve: Effect.fnUntraced(function*(served: Served) {
      const { send, start, stop } = makeLines(input, output, ready)
      yield* Effect.addFinalizer(() => Effect.sync(stop))
      const onMessage = yield* converse(served, send)
      yield* Effect.callback<void>((resume) => start({ onMessage, onClose: () => resume(Effect.void) }))
    }, Effect.scoped)
  })

/** Serves on the process's stdin and stdout. */
export const layer: Layer.Layer<McpTransport> = layerStreams(process.stdin, process.stdout)
