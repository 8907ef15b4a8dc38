/** Production webhooks, which are not part of the API and get no API key. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Semaphore from "effect/Semaphore"
import * as body from "./body.ts"
import type { Request, Requests } from "./requests.ts"

/** A request to a webhook. */
export interface Call {
  readonly method: Request["method"]
  readonly query?: Request["query"]
  readonly headers?: { readonly [name: string]: string } | undefined
  /** Sent as JSON, unless it is a form or bytes. */
  readonly body?: unknown
  /** Whether the path is that of a form, which n8n serves beside the webhooks. */
  readonly isForm?: boolean | undefined
  readonly seconds: number
}

/** A webhook's answer, with any status. */
export interface Answer {
  readonly status: number
  readonly text: string
  /** `content-type` and `x-*` headers. */
  readonly headers: { readonly [name: string]: string }
}

/** Whether the webhook or form was not registered (yet: publishing is asynchronous on 2.x), so that nothing ran. */
export const isUnregistered = ({ status, text }: Pick<Answer, "status" | "text">): boolean =>
  status === 404 && /not registered|<title>Problem loading form/.test(text)

const isShown = (_: string, name: string) => name === "content-type" || name.startsWith("x-") && name !== "x-powered-by"

/** Milliseconds after which an address where n8n did not answer for webhooks is asked again. */
const blindMillis = 600_000

/** Methods of a webhook by an `OPTIONS` request; `undefined` if the answer is not n8n's, which always lists some. */
const preflight = (requests: Requests, path: string) =>
  requests.send(
    // n8n lists the methods only in answer to a CORS preflight.
    { method: "OPTIONS", path: `webhook/${path}`, headers: { origin: "null" }, to: "webhook", seconds: 5 },
    { operation: "ask for the webhook" },
    ({ headers }) => Effect.succeed(headers["access-control-allow-methods"]?.split(", "))
  ).pipe(Effect.orElseSucceed((): ReadonlyArray<string> | undefined => undefined))

export const make = Effect.fnUntraced(function*(requests: Requests) {
  const learning = yield* Semaphore.make(1)
  let isKnown = false
  let blindUntil = -Infinity
  const look = Effect.fnUntraced(function*(path: string) {
    const now = yield* Clock.currentTimeMillis
    if (now < blindUntil) return undefined
    const methods = yield* preflight(requests, path)
    if (methods === undefined && isKnown) return []
    if (methods === undefined) blindUntil = now + blindMillis
    else isKnown = true
    return methods
  })
  return {
    webhookAddress: (path: string) => `${requests.webhooks.href}webhook/${path}`,
    /**
     * The HTTP methods that a production webhook accepts now (`OPTIONS`); it runs nothing and never fails. `undefined` if
     * not n8n answers at the address of its webhooks, which one request learns for all of them.
     */
    webhookMethods: Effect.fn("N8nClient.webhookMethods")((path: string) =>
      Effect.suspend(() => isKnown ? look(path) : learning.withPermits(1)(look(path)))
    ),
    /** Calls a production webhook without the API key; any status is an answer. */
    callWebhook: Effect.fn("N8nClient.callWebhook")((path: string, { isForm, ...call }: Call) =>
      requests.send(
        { ...call, path: `${isForm === true ? "form" : "webhook"}/${path}`, to: "webhook", anyStatus: true },
        { operation: "call the webhook" },
        (response) =>
          Effect.map(
            body.beginning(response, body.maxBytes.webhook),
            (text): Answer => ({ status: response.status, text, headers: Record.filter(response.headers, isShown) })
          )
      )
    )
  }
})
