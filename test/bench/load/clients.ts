/** HTTP clients with plain `node:http` and keep-alive connections, to keep their overhead small. */
import { Agent, request } from "node:http"

/** A message, and a string that a correct answer contains. */
export interface Message {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  readonly expect: string
}

/** The outcome of several calls. */
export interface Outcome {
  readonly millis: Array<number>
  readonly errors: Array<string>
  /** From the start of the first call to the end of the last. */
  readonly seconds: number
}

const patienceMillis = 30_000

/** The version of MCP that a client speaks. */
export type Era = "2025-11-25" | "2026-07-28"

/** What each request of an era brings. */
const additions = (era: Era, name: string) =>
  era === "2025-11-25" ? { meta: undefined, headers: {} } : {
    meta: {
      "io.modelcontextprotocol/protocolVersion": era,
      "io.modelcontextprotocol/clientCapabilities": {}
    },
    headers: { "mcp-method": "tools/call", "mcp-name": name }
  }

/** Makes a message with a tool call. */
export const toolCall = (
  name: string,
  args: object,
  expect: string,
  { era = "2025-11-25", meta: own, token }: {
    readonly era?: Era
    readonly meta?: object
    readonly token?: string
  } = {}
): Message => {
  const { headers, meta } = additions(era, name)
  const _meta = meta === undefined && own === undefined ? {} : { _meta: { ...meta, ...own } }
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name, arguments: args, ..._meta }
  })
  return {
    body,
    expect,
    headers: {
      "content-type": "application/json",
      "accept": "application/json, text/event-stream",
      "mcp-protocol-version": era,
      "content-length": String(Buffer.byteLength(body)),
      ...headers,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` })
    }
  }
}

const options = (port: number, agent: Agent, { headers }: Message) => ({
  host: "127.0.0.1",
  port,
  path: "/mcp",
  method: "POST",
  agent,
  headers,
  timeout: patienceMillis
})

/** Sends a message; resolves to the body of the answer or rejects with the reason. */
export const post = (port: number, agent: Agent, message: Message): Promise<string> =>
  new Promise((resolve, reject) => {
    const { body, expect } = message
    const sent = request(options(port, agent, message), (answer) => {
      const parts: Array<Buffer> = []
      answer.on("data", (part: Buffer) => void parts.push(part))
      answer.once("error", reject)
      answer.once("end", () => {
        const text = Buffer.concat(parts).toString()
        if (answer.statusCode === 200 && text.includes(expect)) resolve(text)
        else reject(new Error(`${answer.statusCode} ${text.slice(0, 300)}`))
      })
    })
    sent.once("timeout", () => void sent.destroy(new Error(`no answer in ${patienceMillis} ms`)))
    sent.once("error", reject)
    sent.end(body)
  })

/** Sends one message and is gone: in the middle of it, or some milliseconds later. */
const abort = (port: number, agent: Agent, message: Message, turn: number): Promise<void> =>
  new Promise((resolve) => {
    const { body } = message
    const sent = request(options(port, agent, message), (answer) => void answer.resume())
    sent.once("error", () => undefined)
    sent.once("close", () => resolve())
    if (turn % 4 === 0) sent.write(body.slice(0, body.length / 2), () => void sent.destroy())
    else sent.end(body, () => void setTimeout(() => void sent.destroy(), turn % 5))
  })

/** So many clients, each on a connection of its own. */
export const connections = (count: number) => new Agent({ keepAlive: true, maxSockets: count, scheduling: "fifo" })

const each = async (clients: number, calls: number, one: (turn: number) => Promise<void>) => {
  const began = performance.now()
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let turn = 0; turn < calls; turn++) await one(client + turn)
    })
  )
  return (performance.now() - began) / 1000
}

/** Each client calls so often, one call after the other; the messages take turns. */
export const run = async (
  port: number,
  agent: Agent,
  plan: { readonly clients: number; readonly calls: number },
  messages: ReadonlyArray<Message>
): Promise<Outcome> => {
  const millis: Array<number> = []
  const errors: Array<string> = []
  const seconds = await each(plan.clients, plan.calls, async (turn) => {
    const message = messages[turn % messages.length]
    if (message === undefined) return
    const from = performance.now()
    await post(port, agent, message).then(
      () => void millis.push(performance.now() - from),
      (error: unknown) => void errors.push(String(error))
    )
  })
  return { millis, errors, seconds }
}

/** Each client begins so many calls and gives them up. */
export const runAborting = (
  port: number,
  agent: Agent,
  plan: { readonly clients: number; readonly calls: number },
  message: Message
): Promise<number> => each(plan.clients, plan.calls, (turn) => abort(port, agent, message, turn))
