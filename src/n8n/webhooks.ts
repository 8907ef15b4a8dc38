/** Production webhooks, which are no part of the API: they are sent no key. */
import * as Effect from "effect/Effect"
import type * as Errors from "../base/Errors.ts"
import * as body from "./body.ts"
import type { Query, Request, Requests } from "./requests.ts"

/** A call of a webhook. */
export interface Call {
  readonly method: Request["method"]
  readonly query?: Query | undefined
  readonly headers?: { readonly [name: string]: string } | undefined
  /** Sent as JSON. */
  readonly body?: unknown
  /** How long it may take. */
  readonly seconds: number
}

/** What a webhook answered, whatever the status. */
export interface Answer {
  readonly status: number
  readonly text: string
}

/** Whether nothing listened, so that nothing ran: publishing is asynchronous on 2.x. */
export const isUnregistered = ({ status, text }: Answer): boolean => status === 404 && /not registered/.test(text)

/** Calls of production webhooks. */
export interface Service {
  /** The methods that a production webhook takes by now; asking runs nothing, and never fails. */
  readonly webhookMethods: (path: string) => Effect.Effect<ReadonlyArray<string>>
  /** Calls a production webhook, without the key; whatever the status, it is an answer. */
  readonly callWebhook: (path: string, call: Call) => Effect.Effect<Answer, Errors.N8nError>
  /** Where a production webhook answers. */
  readonly webhookAddress: (path: string) => string
}

/** Calls of one n8n's production webhooks. */
export const make = (requests: Requests): Service => ({
  webhookAddress: (path) => `${requests.webhooks.href}webhook/${path}`,
  webhookMethods: Effect.fn("N8nClient.webhookMethods")((path: string) =>
    requests.send(
      // n8n answers only what looks like a browser's question before a request from elsewhere.
      { method: "OPTIONS", path: `webhook/${path}`, headers: { origin: "null" }, to: "webhook", seconds: 5 },
      { operation: "ask for the webhook" },
      ({ headers }) => Effect.succeed((headers["access-control-allow-methods"] ?? "").split(", "))
    ).pipe(Effect.orElseSucceed((): ReadonlyArray<string> => []))
  ),
  callWebhook: Effect.fn("N8nClient.callWebhook")((path: string, call: Call) =>
    requests.send(
      { ...call, path: `webhook/${path}`, to: "webhook", anyStatus: true },
      { operation: "call the webhook" },
      (response) =>
        Effect.map(
          body.beginning(response, body.maxBytes.webhook),
          (text): Answer => ({ status: response.status, text })
        )
    )
  )
})
