/** The OpenAI node: version 2 has the Responses API in place of chat completions and assistants. */
import * as Result from "effect/Result"
import { arr, obj, without } from "../../base/Json.ts"
import { carry, left, locator, type Mapping } from "./mapping.ts"

const responses: { readonly [operation: string]: string } = {
  "text.message": "the answer moves from `message.content` to `output[0].content[0].text`",
  "image.analyze": "the answer moves from `content` to an object of the Responses API"
}

const toResponses: Mapping = (old) => {
  const { operation, resource } = old.parameters
  const change = responses[`${String(resource)}.${String(operation)}`]
  if (change !== undefined) {
    return left(
      `From 2 on it asks the Responses API: ${change}.`,
      "Set operation and parameters of version 2 by an update, and change the expressions that read the answer."
    )
  }
  if (resource === "assistant") {
    return left("Version 2 has no assistants: OpenAI removes their API.", "Use an AI Agent or the Responses API.")
  }
  const model = old.parameters["model"]
  if (resource === "image" && !["dall-e-2", "dall-e-3", "gpt-image-1"].includes(String(model))) {
    return left("From 2 on the model decides which response format is asked for.", "Choose the model by an update.")
  }
  const options = obj(old.own["options"]) ?? {}
  return resource === "file" && operation === "upload" && options["purpose"] === undefined
    ? carry(old, { options: { ...options, purpose: "assistants" } })
    : carry(old)
}

const imageModel: Mapping = (old) =>
  old.parameters["resource"] === "image" && old.parameters["operation"] === "generate"
    ? carry({ ...old, own: without(old.own, (_, key) => key === "model") }, {
      modelId: locator(old.parameters["model"])
    })
    : carry(old)

/** The node that n8n's core package had; its chat is that of version 1.8. */
const successor: Mapping = (old) => {
  const { operation, resource } = old.parameters
  const options = obj(old.own["options"] ?? {})
  if (resource !== "chat" || operation !== "complete") {
    return left(
      "Its operation has no successor that asks the same of OpenAI.",
      "Use the OpenAI node of @n8n/n8n-nodes-langchain, an AI Agent, or an HTTP Request."
    )
  }
  if (options === undefined || ["maxTokens", "echo"].some((key) => Object.hasOwn(options, key))) {
    return left(
      "Its successor sends max_completion_tokens in place of max_tokens, and no echo.",
      "Remove the option, or set it in a new OpenAI node."
    )
  }
  const messages = arr(obj(old.parameters["prompt"])?.["messages"]).map((each) => obj(each))
  if (messages.length === 0 || messages.includes(undefined)) {
    return left("It has no messages of its own.", "Set its messages, then upgrade again.")
  }
  return Result.succeed({
    parameters: {
      modelId: locator(old.parameters["model"] ?? old.parameters["chatModel"]),
      messages: {
        values: messages.map((each) => ({ role: each?.["role"] ?? "user", content: each?.["content"] ?? "" }))
      },
      simplify: old.parameters["simplifyOutput"] ?? true,
      options,
      ...(old.own["requestOptions"] === undefined ? {} : { requestOptions: old.own["requestOptions"] })
    },
    keys: { typeVersion: 1.8 }
  })
}

export const openAi = { steps: { 2: toResponses, 2.2: imageModel }, successor }
