/**
 * An MCP server as a child process, timed from outside.
 *
 * **Details**
 *
 * It uses plain `node:child_process` and no SDK client, to keep the overhead small: a measurement ends when the line
 * with the answer is complete.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { arr, obj, str } from "../../src/base/Json.ts"
import { BenchError } from "./BenchError.ts"

/** The command that starts a server, with the Node that runs the benchmark. */
export interface Command {
  readonly args: ReadonlyArray<string>
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

/** A tool call, and a string that a correct answer contains. */
export interface Call {
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
  readonly expect: string
}

/** A result and the milliseconds that it took. */
export interface Timed {
  readonly result: unknown
  readonly millis: number
}

/** A tool's answer and the milliseconds that it took. */
export interface Answer {
  readonly text: string
  readonly millis: number
}

/** The resources that a process has used; `undefined` without `/proc`. */
export interface Usage {
  /** Resident memory in MB (10⁶ bytes). */
  readonly memory: number | undefined
  /** Peak resident memory in MB. */
  readonly peak: number | undefined
  /** CPU time of all threads in milliseconds: in steps of 10, but independent of the machine's load. */
  readonly cpuMillis: number | undefined
}

/** How a client greets: 2026-07-28 with `server/discover`, those before with `initialize`. */
export type Era = "modern" | "legacy"

/** What each request of a modern client says of the client. */
const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "0.0.0" }
}

/** A server that has answered the greeting. */
export interface McpProcess {
  /** From spawning the process to the answer to the greeting. */
  readonly startMillis: number
  readonly request: (method: string, params?: object) => Effect.Effect<Timed, BenchError>
  /** Calls a tool; fails if the answer is an error or lacks the expected string. */
  readonly call: (call: Call) => Effect.Effect<Answer, BenchError>
  readonly usage: Effect.Effect<Usage>
  /** Ends it as a client does, after which the compiled code is in its cache, and waits until it has ended. */
  readonly end: Effect.Effect<void>
}

const newline = 0x0a
const stderrChars = 2_000

const unknown: Usage = { memory: undefined, peak: undefined, cpuMillis: undefined }
const millisPerTick = 10

/** Reads the usage of a process. */
export const usageOf = (pid: number): Usage => {
  const read = (file: string) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, "utf8")
    } catch {
      return ""
    }
  }
  const status = read("status")
  // After the name, which may contain anything: the state, and as 12th and 13th field the user and system ticks.
  const [, user, system] = /^.*\)(?: \S+){11} (\d+) (\d+)/s.exec(read("stat")) ?? []
  const field = (name: string) => {
    const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024 / 1e6
  }
  return {
    memory: field("VmRSS"),
    peak: field("VmHWM"),
    cpuMillis: user === undefined ? undefined : (Number(user) + Number(system)) * millisPerTick
  }
}

type Reply = (message: unknown, at: number) => void

/** Matches answers to requests, and keeps the end of stderr for errors. */
const connect = (child: ChildProcess) => {
  const waiting = new Map<number, Reply>()
  let parts: Array<Buffer> = []
  let lastId = 0
  let stderr = ""

  const line = (bytes: Buffer, at: number) => {
    let message: unknown
    try {
      message = JSON.parse(bytes.toString())
    } catch {
      return
    }
    const id = obj(message)?.["id"]
    if (typeof id !== "number") return
    waiting.get(id)?.(message, at)
    waiting.delete(id)
  }

  child.stdout?.on("data", (chunk: Buffer) => {
    const at = performance.now()
    let from = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      line(Buffer.concat([...parts, chunk.subarray(from, end)]), at)
      parts = []
      from = end + 1
    }
    if (from < chunk.length) parts.push(chunk.subarray(from))
  })
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-stderrChars)
  })
  // The exit event reports a server that has ended.
  child.stdin?.on("error", () => undefined)

  const write = (message: object) => void child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  return {
    stderr: () => stderr,
    notify: (method: string) => write({ method }),
    send: (method: string, params: object, reply: Reply) => {
      const id = ++lastId
      waiting.set(id, reply)
      write({ id, method, params })
    }
  }
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

const ended = (child: ChildProcess, end: () => void) =>
  Effect.callback<void>((resume) => {
    if (child.pid === undefined || hasEnded(child)) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    end()
  })

/** Kills the process and waits until it has ended. */
export const stop = (child: ChildProcess) => ended(child, () => void child.kill("SIGKILL"))

/** Starts a server; it is killed when the scope ends. */
export const start = (
  title: string,
  command: Command,
  era: Era = "legacy"
): Effect.Effect<McpProcess, BenchError, Scope.Scope> =>
  Effect.gen(function*() {
    const began = performance.now()
    const { child, connection } = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const { args, cwd, env } = command
        const child = spawn(process.execPath, args, { cwd, env, stdio: "pipe" })
        return { child, connection: connect(child) }
      }),
      ({ child }) => stop(child)
    )
    const { pid } = child

    const request = (method: string, params: object = {}) => {
      const step = `${title}: ${method}`
      const failed = (detail: string) => new BenchError({ step, detail: `${detail}\n${connection.stderr()}`.trim() })
      return Effect.callback<Timed, BenchError>((resume) => {
        const ended = () => resume(Effect.fail(failed(`the server ended (${child.exitCode ?? child.signalCode})`)))
        const broken = (error: Error) => resume(Effect.fail(failed(error.message)))
        if (hasEnded(child)) return ended()
        child.once("exit", ended).once("error", broken)
        const from = performance.now()
        connection.send(method, era === "modern" ? { ...params, _meta: meta } : params, (message, at) => {
          child.off("exit", ended).off("error", broken)
          const error = obj(obj(message)?.["error"])
          resume(
            error === undefined
              ? Effect.succeed({ result: obj(message)?.["result"], millis: at - from })
              : Effect.fail(failed(str(error["message"]) ?? "error"))
          )
        })
        return Effect.sync(() => void child.off("exit", ended).off("error", broken))
      }).pipe(
        Effect.timeoutOrElse({ duration: "2 minutes", orElse: () => Effect.fail(failed("no answer in 2 minutes")) })
      )
    }

    const call = ({ args, expect, tool }: Call) =>
      Effect.flatMap(request("tools/call", { name: tool, arguments: args }), ({ millis, result }) => {
        const text = arr(obj(result)?.["content"]).map((block) => str(obj(block)?.["text"]) ?? "").join("\n")
        if (obj(result)?.["isError"] !== true && text.includes(expect)) return Effect.succeed({ text, millis })
        const detail = `${JSON.stringify(args)} should answer with ${expect}, but says ${text.slice(0, stderrChars)}`
        return Effect.fail(new BenchError({ step: `${title}: ${tool}`, detail }))
      })

    yield* era === "modern" ? request("server/discover") : request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "bench", version: "0.0.0" }
    })
    const startMillis = performance.now() - began
    if (era === "legacy") connection.notify("notifications/initialized")
    return {
      startMillis,
      request,
      call,
      usage: Effect.sync(() => pid === undefined ? unknown : usageOf(pid)),
      end: ended(child, () => void child.stdin?.end()).pipe(Effect.timeoutOption("10 seconds"), Effect.asVoid)
    }
  })
