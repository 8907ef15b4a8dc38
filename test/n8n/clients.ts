/** Clients of a scripted n8n and of the simulated one. */
import { assert } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Errors from "../../src/base/Errors.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import * as TestTime from "../support/TestTime.ts"
import { node } from "../support/workflows.ts"

/** The key of every client here. */
export const apiKey = "a-key-that-never-leaves-its-header"

// ---- a scripted n8n

/** How the scripted n8n handles a request. */
export type Answer = (
  request: HttpClientRequest.HttpClientRequest,
  url: URL
) => Effect.Effect<Response, HttpClientError.HttpClientError>

/** Answers with a text, or with a value as JSON. */
export const says = (body: unknown, init?: ResponseInit): Answer => () =>
  Effect.sync(() => typeof body === "string" ? new Response(body, init) : Response.json(body, init))

/** Refuses with a message of n8n. */
export const refuses = (status: number, headers?: Record<string, string>): Answer =>
  says({ message: "n8n's own words" }, { status, ...(headers === undefined ? {} : { headers }) })

/** The connection fails as `fetch` reports it: the reason is in the chain of causes. */
export const fails = (code?: string, message = `connect ${code} 127.0.0.1:5678`): Answer => (request) =>
  Effect.fail(
    new HttpClientError.HttpClientError({
      reason: new HttpClientError.TransportError({
        request,
        cause: new TypeError("fetch failed", {
          cause: Object.assign(new Error(message), code === undefined ? {} : { code })
        })
      })
    })
  )

const unknownIssuer = "UNABLE_TO_VERIFY_LEAF_SIGNATURE UNABLE_TO_GET_ISSUER_CERT_LOCALLY".split(" ")

/** Codes of certificates that Node does not know. */
export const unknownCertificates = ["DEPTH_ZERO_SELF_SIGNED_CERT", "SELF_SIGNED_CERT_IN_CHAIN", ...unknownIssuer]

export const certificateFaults = [...unknownCertificates, "ERR_TLS_CERT_ALTNAME_INVALID", "CERT_HAS_EXPIRED"]

const streams = (pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void): Answer => () =>
  Effect.sync(() =>
    new Response(
      new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode(`{"id":"1",`)),
        pull
      })
    )
  )

export const breaksOff = streams((controller) => controller.error(new Error("terminated")))

export const neverEnds = streams(() => new Promise<void>(() => {}))

export const neverAnswers: Answer = () => Effect.never

export const workflow = { id: "1", name: "Daily", active: true, nodes: [], connections: {} }
export const answers = says(workflow)

interface RecordedRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly at: number
  readonly signal: AbortSignal
}

/** A client of an n8n that gives these answers in turn and repeats the last; `requests` are those received so far. */
export const scriptedClient = Effect.fnUntraced(function*(
  script: readonly [Answer, ...ReadonlyArray<Answer>],
  options: Partial<Pick<N8nClient.Options, "headers" | "retry" | "timeout" | "webhookUrl">> & {
    readonly url?: string
    readonly apiKey?: string
  } = {}
) {
  const requests: Array<RecordedRequest> = []
  const http = HttpClient.make(Effect.fnUntraced(function*(request, url, signal) {
    const answer = script[requests.length] ?? script.at(-1) ?? script[0]
    requests.push({ url: url.href, headers: { ...request.headers }, at: yield* Clock.currentTimeMillis, signal })
    return HttpClientResponse.fromWeb(request, yield* answer(request, url))
  }))
  const n8n = yield* N8nClient.make({
    url: new URL(options.url ?? "https://n8n.test/"),
    apiKey: Redacted.make(options.apiKey ?? apiKey),
    retry: options.retry,
    timeout: options.timeout,
    headers: options.headers,
    webhookUrl: options.webhookUrl
  }).pipe(Effect.provideService(HttpClient.HttpClient, http))
  return { n8n, requests }
})

/** Runs an effect and advances the test clock until it ends. */
export const settle = <A, E>(effect: Effect.Effect<A, E>) => TestTime.run(effect, { step: 100 })

export const failure = <A>(effect: Effect.Effect<A, Errors.N8nError>) => settle(Effect.flip(effect))

export const apiFailure = <A>(effect: Effect.Effect<A, Errors.N8nError>) =>
  Effect.map(failure(effect), (error) => {
    assert.instanceOf(error, Errors.ApiError)
    return error
  })

/** Reads an execution as text. */
export const readText = (n8n: N8nClient.Service, id: string) =>
  n8n.readExecution(id, {}, (body) => Stream.mkString(Stream.decodeText(body)))

export const pausesBetween = (requests: ReadonlyArray<RecordedRequest>) =>
  requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? 0))

// ---- the simulated n8n

export const memoryClient = Effect.fnUntraced(function*(
  seed: Partial<N8nApi.Seed>,
  version: "1" | "2" = "2",
  options: N8nApi.Options = {}
) {
  const api = yield* N8nApi.make({ workflows: [], executions: [], ...seed }, { version, ...options })
  const n8n = yield* N8nClient.make({ url: new URL("https://n8n.test/"), apiKey: Redacted.make(apiKey) }).pipe(
    Effect.provideService(HttpClient.HttpClient, api.client)
  )
  const queries = Effect.map(api.requests, (requests) => requests.map(({ url }) => new URL(url).searchParams))
  return { n8n, queries, count: Effect.map(api.requests, ({ length }) => length) }
})

/** Makes the simulated n8n refuse what its API has only since 2.40: drafts, publishing by that name, the history. */
export const before240: NonNullable<N8nApi.Options["before"]> = ({ method, url }) =>
  Effect.sync(() => {
    const { pathname, searchParams } = new URL(url)
    const refuse = (status: number, message: string) => Response.json({ message }, { status })
    if (/\/(?:un)?publish$/.test(pathname)) return refuse(405, `${method} method not allowed`)
    if (pathname.endsWith("/history")) return refuse(404, "Version not found")
    if (pathname.includes("/versions/")) return refuse(404, "not found")
    return searchParams.has("publishIfActive") ? refuse(400, "Unknown query parameter 'publishIfActive'") : undefined
  })

export const versions = ["1", "2"] as const

/** A workflow with a Webhook node for `POST in`. */
export const webhookWorkflow: N8nApi.Workflow = {
  id: "w",
  name: "Orders",
  active: false,
  nodes: [node("Hook", "webhook", 2, { path: "in", httpMethod: "POST" }, { id: "hook" })],
  connections: {},
  settings: {}
}

/** Reads all pages by following the cursors. */
export const readPages = Effect.fnUntraced(function*<Page extends { readonly nextCursor?: string }>(
  page: (cursor: string | undefined) => Effect.Effect<Page, Errors.N8nError>
) {
  const pages: Array<Page> = []
  let cursor: string | undefined
  do {
    const next: Page = yield* page(cursor)
    pages.push(next)
    cursor = next.nextCursor
  } while (cursor !== undefined && pages.length < 200)
  return pages
})
