/** Model providers on loopback that record what they are asked; equal questions get equal answers. */
import * as Effect from "effect/Effect"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { arr, type Obj, obj, str } from "../../../../src/base/Json.ts"

const read = async (request: IncomingMessage) => {
  const parts: Array<Buffer> = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    // Boundaries of forms are random.
    return text.replaceAll(/-{4,}[\w-]+/g, "--boundary")
  }
}

const textOf = (content: unknown): string =>
  str(content) ?? arr(content).map((part) => str(obj(part)?.["text"]) ?? "").join("\n")

const answerTo = (texts: ReadonlyArray<string>) =>
  [...texts.join("\n").matchAll(/ANSWER:([^]*?):END/g)].at(-1)?.[1]?.replaceAll("\\", "") ??
    `Answer ${texts.length}: ${texts.join(" ").length} characters`

const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }

const chat = (body: Obj) => {
  const messages = arr(body["messages"]).map((each) => obj(each) ?? {})
  const last = messages.findLastIndex(({ role }) => role === "user")
  const tool = obj(obj(arr(body["tools"])[0])?.["function"])
  const isFirst = tool !== undefined && !messages.slice(last).some(({ role }) => role === "tool")
  const call = {
    id: "call_1",
    type: "function",
    function: { name: tool?.["name"], arguments: JSON.stringify({ input: "6 * 7" }) }
  }
  const message = isFirst
    ? { role: "assistant", content: null, tool_calls: [call] }
    : { role: "assistant", content: answerTo(messages.map(({ content }) => textOf(content))) }
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_760_000_000,
    model: body["model"],
    choices: [{ index: 0, message, finish_reason: isFirst ? "tool_calls" : "stop" }],
    usage
  }
}

const messages = (body: Obj) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: body["model"],
  stop_reason: "end_turn",
  content: [{ type: "text", text: answerTo(arr(body["messages"]).map((each) => textOf(obj(each)?.["content"]))) }],
  usage: { input_tokens: 11, output_tokens: 7 }
})

const gemini = (body: Obj) => ({
  candidates: [{
    content: {
      role: "model",
      parts: [{
        text: answerTo(arr(body["contents"]).flatMap((each) => arr(obj(each)?.["parts"]).map((part) => textOf([part]))))
      }]
    },
    finishReason: "STOP",
    index: 0
  }],
  usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 }
})

const vector = (text: unknown) => [1, String(text).length % 7, String(text).length % 3]

const embeddings = (body: Obj) => ({
  object: "list",
  model: body["model"],
  data: (Array.isArray(body["input"]) ? body["input"] : [body["input"]]).map((text, index) => ({
    object: "embedding",
    index,
    embedding: body["encoding_format"] === "base64"
      ? Buffer.from(new Float32Array(vector(text)).buffer).toString("base64")
      : vector(text)
  })),
  usage
})

/** One pixel. */
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const answers: ReadonlyArray<readonly [string, (body: Obj) => unknown]> = [
  ["/chat/completions", chat],
  ["/messages", messages],
  ["generateContent", gemini],
  ["/embeddings", embeddings],
  ["/images/generations", ({ response_format }) => ({
    created: 1,
    data: [response_format === "url" ? { url: "http://127.0.0.1/1.png" } : { b64_json: png }]
  })]
]

/** An answer in one chunk, as a model streams it. */
const streamed = (whole: Obj) => {
  const choice = obj(arr(whole["choices"])[0]) ?? {}
  const { tool_calls, ...message } = obj(choice["message"]) ?? {}
  const delta = tool_calls === undefined
    ? message
    : { ...message, tool_calls: arr(tool_calls).map((call, index) => ({ ...obj(call), index })) }
  const chunks = [
    { choices: [{ index: 0, delta, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: choice["finish_reason"] }] },
    { choices: [], usage }
  ]
  return `${
    chunks.map((chunk) => `data: ${JSON.stringify({ ...whole, object: "chat.completion.chunk", ...chunk })}\n\n`).join(
      ""
    )
  }data: [DONE]\n\n`
}

export interface Asked {
  readonly path: string
  readonly body: unknown
}

/** Serves until the scope ends. */
export const serve = Effect.acquireRelease(
  Effect.callback<{ readonly url: string; readonly asked: Array<Asked>; readonly close: () => void }>((resume) => {
    const asked: Array<Asked> = []
    const server = createServer(async (request, response) => {
      const body = parse(await read(request))
      const path = request.url ?? ""
      if (request.method === "POST") asked.push({ path, body })
      const [, answer] = answers.find(([part]) => path.includes(part)) ?? []
      const value = answer?.(obj(body) ?? {})
      const isStream = answer === chat && obj(body)?.["stream"] === true
      response.setHeader(
        "content-type",
        isStream ? "text/event-stream" : value === undefined ? "audio/mpeg" : "application/json"
      )
      response.end(isStream ? streamed(obj(value) ?? {}) : value === undefined ? "sound" : JSON.stringify(value))
    })
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, asked, close: () => server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)
