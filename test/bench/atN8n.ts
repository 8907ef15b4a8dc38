/** What benchmarks on a real n8n share: its address and key in the environment, and workflows that are deleted. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { layerConfig, N8nClient } from "../../src/n8n/N8nClient.ts"
import { BenchError } from "./BenchError.ts"

/** Connections of a measurement to n8n. */
export const connections = 4

export const place = Config.all({ url: Config.URL("N8N_URL"), apiKey: Config.Redacted("N8N_API_KEY") })

/** The client of the n8n that the environment names. */
export const client = Layer.provide(layerConfig(), FetchHttpClient.layer)

/** n8n publishes and unpublishes in the background. */
export const aWhile = Schedule.max([Schedule.spaced("300 millis"), Schedule.recurs(60)])

/** Creates a workflow that is deleted when the scope ends. */
export const temporary = (body: object, isPublished = true) =>
  N8nClient.use((n8n) =>
    Effect.acquireRelease(
      Effect.tap(n8n.createWorkflow(body as never), ({ id }) => isPublished ? n8n.publishWorkflow(id) : Effect.void),
      ({ id }) => Effect.ignore(Effect.andThen(n8n.unpublishWorkflow(id), Effect.retry(n8n.deleteWorkflow(id), aWhile)))
    )
  )

/** Requests something as text; fails with `step` if nothing answers, or if n8n does not know the path (yet). */
export const requested = (step: string, url: URL, init: RequestInit = {}) =>
  Effect.tryPromise({
    try: async () => {
      const response = await fetch(url, init)
      const text = await response.text()
      if (response.status === 404) throw new Error(`404 at ${url.pathname}`)
      return text
    },
    catch: (cause) => new BenchError({ step, detail: String(cause) })
  })
