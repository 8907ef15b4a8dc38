/** A scripted model on loopback with Anthropic's API, which records the requests of Claude Code. */
import * as Effect from "effect/Effect"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { arr, type Obj, obj, str } from "../../../src/base/Json.ts"
import { listening } from "../../support/listening.ts"

/** A tool that the model calls. */
export interface ToolUse {
  readonly name: string
  readonly input: Obj
}

/** The model's next calls, given the texts of all results so far; after the last turn it answers. */
export type Turn = (shown: ReadonlyArray<string>) => ReadonlyArray<ToolUse>

/** Its answer at the end of the script. */
export const answer = "That is all I wanted to know."

/** A result as the model receives it. */
export interface Shown {
  readonly tool: string
  readonly text: string
  readonly isError: boolean
}

const blocks = (content: unknown): ReadonlyArray<Obj> =>
  typeof content === "string" ? [{ type: "text", text: content }] : arr(content).map((block) => obj(block) ?? {})

/** The texts in a content, and the names of tools that it refers to. */
const text = (content: unknown) =>
  blocks(content).map((block) => str(block["text"]) ?? str(block["tool_name"]) ?? "").join("\n")

const messages = (request: Obj) => arr(request["messages"]).map((message) => obj(message) ?? {})

const of = (request: Obj, type: string) =>
  messages(request).flatMap(({ content }) => blocks(content).filter((block) => block["type"] === type))

/** The text of a request, without tools and their results. */
export const context = (request: Obj): string =>
  [request["system"], ...messages(request).map(({ content }) => content)].map((content) =>
    blocks(content).flatMap((block) => str(block["text"]) ?? []).join("\n")
  ).join("\n")

/** The tools that a request offers. */
export const tools = (request: Obj): ReadonlyArray<Obj> => arr(request["tools"]).map((tool) => obj(tool) ?? {})

/** The results in a request, in the order of the calls. */
export const results = (request: Obj): ReadonlyArray<Shown> => {
  const found = new Map(of(request, "tool_result").map((result) => [result["tool_use_id"], result]))
  return of(request, "tool_use").map(({ id, name }) => {
    const result = found.get(id) ?? {}
    return { tool: str(name) ?? "", text: text(result["content"]), isError: result["is_error"] === true }
  })
}

const turnsTaken = (request: Obj) =>
  messages(request).filter(({ content }) => blocks(content).some(({ type }) => type === "tool_use")).length

const idOf = (turn: number, index: number) => `toolu_${turn}_${index}`

/** The next answer; a request without tools asks for a title or similar. */
const next = (turns: ReadonlyArray<Turn>, request: Obj): ReadonlyArray<Obj> => {
  const turn = turnsTaken(request)
  const calls = tools(request).length === 0 ? [] : turns[turn]?.(results(request).map(({ text }) => text)) ?? []
  return calls.length === 0
    ? [{ type: "text", text: answer }]
    : calls.map((call, index) => ({ type: "tool_use", id: idOf(turn, index), ...call }))
}

const event = (type: string, data: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`

const blockEvents = (block: Obj, index: number) => [
  event("content_block_start", {
    index,
    content_block: block["type"] === "text" ? { ...block, text: "" } : { ...block, input: {} }
  }),
  event("content_block_delta", {
    index,
    delta: block["type"] === "text"
      ? { type: "text_delta", text: block["text"] }
      : { type: "input_json_delta", partial_json: JSON.stringify(block["input"]) }
  }),
  event("content_block_stop", { index })
]

const message = (content: ReadonlyArray<Obj>, { messages, model, stream }: Obj) => {
  const stop_reason = content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn"
  const usage = { input_tokens: 10, output_tokens: 10 }
  // The client merges messages with the same id.
  const base = {
    id: `msg_${arr(messages).length}`,
    type: "message",
    role: "assistant",
    model,
    stop_sequence: null,
    usage
  }
  if (stream !== true) return JSON.stringify({ ...base, content, stop_reason })
  return [
    event("message_start", { message: { ...base, content: [], stop_reason: null } }),
    ...content.flatMap(blockEvents),
    event("message_delta", { delta: { stop_reason, stop_sequence: null }, usage }),
    event("message_stop", {})
  ].join("")
}

/** A running model. */
export interface Model {
  readonly url: string
  /** The requests so far, without those for titles and similar. */
  readonly requests: () => ReadonlyArray<Obj>
}

/** Serves the scripted model until the scope ends. */
export const serve = (turns: ReadonlyArray<Turn>) => {
  const requests: Array<Obj> = []
  return listening(async (asked, response) => {
    const path = (asked.url ?? "").replace(/\?.*$/, "")
    const body = Buffer.concat(await asked.toArray()).toString()
    response.setHeader("content-type", "application/json")
    if (asked.method !== "POST" || !path.startsWith("/v1/messages")) {
      const error = { type: "not_found_error", message: "not found" }
      response.writeHead(404).end(JSON.stringify({ type: "error", error }))
    } else if (path.endsWith("/count_tokens")) response.end(JSON.stringify({ input_tokens: countTokens(body) }))
    else {
      const request = obj(JSON.parse(body)) ?? {}
      if (tools(request).length > 0) requests.push(request)
      const isStream = request["stream"] === true
      if (isStream) response.setHeader("content-type", "text/event-stream")
      response.end(message(next(turns, request), request))
    }
  }).pipe(Effect.map((url): Model => ({ url, requests: () => requests })))
}
