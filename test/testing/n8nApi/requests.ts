/** Requests to the simulated n8n, and a small workflow for them. */
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import { main, node } from "../../support/workflows.ts"

export type Json = Record<string, unknown>

export const webhook = node("Webhook", "webhook", 2, { path: "orders", httpMethod: "POST" }, {
  id: "w",
  webhookId: "hook"
})

export const noOp = node("Done", "noOp", 1, {}, { id: "n", position: [200, 0] })
export const link = { Webhook: main("Done") }
export const workflow: Json = { name: "Orders", nodes: [webhook, noOp], connections: link, settings: {} }

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS"

export const versions = ["2", "1"] as const

/** A simulated n8n, and what it answers to one request after the other. */
export const start = Effect.fnUntraced(function*(options: N8nApi.Options = {}, seed: Partial<N8nApi.Seed> = {}) {
  const api = yield* N8nApi.make({ workflows: [], executions: [], ...seed }, options)
  const send = (method: Method, path: string, body?: unknown, headers: object = {}) => {
    const request = HttpClientRequest.make(method)(`http://n8n.test${path}`, { headers: { ...headers } })
    return api.client.execute(body === undefined ? request : HttpClientRequest.bodyJsonUnsafe(request, body))
  }
  const call = Effect.fnUntraced(function*(method: Method, path: string, body?: unknown, headers?: object) {
    const response = yield* send(method, `/api/v1${path}`, body, headers)
    return { status: response.status, body: (yield* response.json) as Json }
  })
  return {
    ...api,
    send,
    call,
    /** The status and the message. */
    statusLine: (method: Method, path: string, body?: unknown) =>
      Effect.map(call(method, path, body), (answer) => `${answer.status} ${String(answer.body["message"])}`),
    create: (body: Json = workflow) =>
      Effect.map(call("POST", "/workflows", body), (answer) => String(answer.body["id"]))
  }
})
