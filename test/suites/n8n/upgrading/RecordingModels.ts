/** Model providers on loopback that record what they are asked; equal questions get equal answers. */
import * as Effect from "effect/Effect"
import { arr, type Obj, obj, str } from "../../../../src/base/Json.ts"
import { listening } from "../../../support/listening.ts"
import { completion, streamed, usage } from "../FakeOpenAi.ts"

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

const chat = (body: Obj) => completion(body, (messages) => answerTo(messages.map(({ content }) => textOf(content))))

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

export interface Asked {
  readonly path: string
  readonly body: unknown
}

/** Serves until the scope ends. */
export const serve = Effect.suspend(() => {
  const asked: Array<Asked> = []
  return Effect.map(
    listening(async (request, response) => {
      const body = parse(Buffer.concat(await request.toArray()).toString())
      const path = request.url ?? ""
      if (request.method === "POST") asked.push({ path, body })
      const [, answer] = answers.find(([part]) => path.includes(part)) ?? []
      const isStream = answer === chat && obj(body)?.["stream"] === true
      const type = isStream ? "text/event-stream" : answer === undefined ? "audio/mpeg" : "application/json"
      response.setHeader("content-type", type)
      const value = answer?.(obj(body) ?? {})
      response.end(isStream ? streamed(chat(obj(body) ?? {})) : value === undefined ? "sound" : JSON.stringify(value))
    }),
    (url) => ({ url, asked })
  )
})
