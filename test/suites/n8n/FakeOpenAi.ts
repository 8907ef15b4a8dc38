/** OpenAI's chat completions on loopback: enough for n8n's AI nodes to run. */
import * as Effect from "effect/Effect"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import { listening } from "../../support/listening.ts"

/** Tokens that every answer is said to have cost. */
export const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }

/** Calls the first tool once after a question, then answers with text: an agent ends after two rounds. */
export const completion = (request: Obj, answer: (messages: ReadonlyArray<Obj>) => string) => {
  const messages = arr(request["messages"]).map((each) => obj(each) ?? {})
  const question = messages.findLastIndex(({ role }) => role === "user")
  const tool = obj(obj(arr(request["tools"])[0])?.["function"])
  const calls = tool !== undefined && !messages.slice(question).some(({ role }) => role === "tool")
  const call = {
    id: "call_1",
    type: "function",
    function: { name: tool?.["name"], arguments: JSON.stringify({ input: "6 * 7", orderId: "7" }) }
  }
  const message = calls ? { content: null, tool_calls: [call] } : { content: answer(messages) }
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_760_000_000,
    model: request["model"],
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: calls ? "tool_calls" : "stop" }],
    usage
  }
}

/** A completion in one chunk, as a model streams it. */
export const streamed = (whole: ReturnType<typeof completion>) => {
  const choices = whole.choices.map(({ finish_reason, message: { tool_calls, ...message } }) => {
    const delta = {
      ...message,
      ...(tool_calls && { tool_calls: tool_calls.map((call, index) => ({ ...call, index })) })
    }
    return [{ index: 0, delta, finish_reason: null }, { index: 0, delta: {}, finish_reason }]
  })
  const chunks = [...choices.flat().map((choice) => ({ choices: [choice] })), { choices: [], usage }]
  const events = chunks.map((chunk) =>
    JSON.stringify({ ...whole, object: "chat.completion.chunk", usage: null, ...chunk })
  )
  return [...events, "[DONE]"].map((event) => `data: ${event}\n\n`).join("")
}

/** An answer that the scenario's structured output parser accepts. */
const text = JSON.stringify({ output: { answer: "forty-two" } })

/** Serves until the scope ends and returns the base URL for an OpenAI credential. */
export const serve = listening(async (request, response) => {
  const body = obj(JSON.parse(Buffer.concat(await request.toArray()).toString() || "{}")) ?? {}
  const models = { object: "list", data: [{ id: "gpt-4o-mini", object: "model" }] }
  const answer = request.method === "POST" ? completion(body, () => text) : models
  const isStream = "choices" in answer && body["stream"] === true
  response.setHeader("content-type", isStream ? "text/event-stream" : "application/json")
  response.end(isStream ? streamed(answer) : JSON.stringify(answer))
}).pipe(Effect.map((url) => new URL("/v1", url)))
