/** A receiver of OpenTelemetry's traces in JSON, for servers that run as processes of their own. */
import * as Effect from "effect/Effect"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { arr, obj } from "../../src/base/Json.ts"

/** Something that listens until the scope ends; its address. */
export const listening = (answer: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer(answer).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  ).pipe(Effect.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`))

/** A span as it was received. */
export interface Span {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  /** OpenTelemetry's number: 2 server, 3 client. */
  readonly kind: number
  /** 2 is an error. */
  readonly status: number
  readonly attributes: Readonly<Record<string, unknown>>
  readonly links: ReadonlyArray<string>
}

const spansOf = (body: unknown): ReadonlyArray<Span> =>
  arr(obj(body)?.["resourceSpans"]).flatMap((resource) => arr(obj(resource)?.["scopeSpans"])).flatMap((scope) =>
    arr(obj(scope)?.["spans"])
  ).map((each) => {
    const span = obj(each) ?? {}
    return {
      name: String(span["name"]),
      traceId: String(span["traceId"]),
      spanId: String(span["spanId"]),
      parentSpanId: typeof span["parentSpanId"] === "string" ? span["parentSpanId"] : undefined,
      kind: Number(span["kind"]),
      status: Number(obj(span["status"])?.["code"]),
      attributes: Object.fromEntries(
        arr(span["attributes"]).map((attribute) => {
          const { key, value } = obj(attribute) ?? {}
          return [String(key), Object.values(obj(value) ?? {})[0]]
        })
      ),
      links: arr(span["links"]).map((link) => String(obj(link)?.["spanId"]))
    }
  })

/** Receives what is exported to it. */
export const receive = Effect.gen(function*() {
  const spans: Array<Span> = []
  let everything = ""
  const url = yield* listening((request, response) => {
    void text(request).then((body) => {
      everything += body
      if (request.url === "/v1/traces") spans.push(...spansOf(JSON.parse(body)))
      response.end("{}")
    })
  })
  return {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" },
    spans: (): ReadonlyArray<Span> => spans,
    /** All signals as they came. */
    everything: () => everything
  }
})
