/** Production webhooks, which are no part of the API: they are sent no key. */
import * as Effect from "effect/Effect"
import type { Query, Request, Requests } from "./Requests.ts"

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

export const make = (requests: Requests) => ({
  webhookAddress: (path: string): string => `${requests.webhooks.href}webhook/${path}`,
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
      (response) => Effect.map(response.text, (text): Answer => ({ status: response.status, text }))
    )
  )
})
