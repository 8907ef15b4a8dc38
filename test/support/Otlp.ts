/** A receiver of OpenTelemetry's traces, in JSON and in protobuf, for servers that run as processes of their own. */
import * as Effect from "effect/Effect"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
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
  /** The name of the service that sent it. */
  readonly service: string
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

const attributesOf = (attributes: unknown) =>
  Object.fromEntries(
    arr(attributes).map((attribute) => {
      const { key, value } = obj(attribute) ?? {}
      return [String(key), Object.values(obj(value) ?? {})[0]]
    })
  )

const spansOf = (body: unknown): ReadonlyArray<Span> =>
  arr(obj(body)?.["resourceSpans"]).flatMap((each) => {
    const { resource, scopeSpans } = obj(each) ?? {}
    const service = String(attributesOf(obj(resource)?.["attributes"])["service.name"])
    return arr(scopeSpans).flatMap((scope) => arr(obj(scope)?.["spans"])).map((each) => {
      const span = obj(each) ?? {}
      const parent = span["parentSpanId"]
      return {
        service,
        name: String(span["name"]),
        traceId: String(span["traceId"]),
        spanId: String(span["spanId"]),
        parentSpanId: typeof parent === "string" && parent !== "" ? parent : undefined,
        kind: Number(span["kind"]),
        status: Number(obj(span["status"])?.["code"]),
        attributes: attributesOf(span["attributes"]),
        links: arr(span["links"]).map((link) => String(obj(link)?.["spanId"]))
      }
    })
  })

/** The values of a protobuf message by the numbers of their fields. */
const fieldsOf = (bytes: Buffer): ReadonlyMap<number, ReadonlyArray<Buffer | number>> => {
  const fields = new Map<number, Array<Buffer | number>>()
  let at = 0
  const varint = () => {
    let value = 0
    for (let scale = 1;; scale *= 128) {
      const byte = bytes.readUInt8(at++)
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }
  const take = (length: number) => bytes.subarray(at, at += length)
  while (at < bytes.length) {
    const tag = varint()
    const type = tag % 8
    const value = type === 0 ? varint() : take(type === 1 ? 8 : type === 5 ? 4 : varint())
    const number = Math.floor(tag / 8)
    fields.set(number, [...fields.get(number) ?? [], value])
  }
  return fields
}

/** What JSON would say of the traces in protobuf (opentelemetry/proto/trace/v1/trace.proto). */
const fromProtobuf = (bytes: Buffer) => {
  const messages = (fields: ReturnType<typeof fieldsOf>, number: number) =>
    (fields.get(number) ?? []).flatMap((value) => typeof value === "number" ? [] : [fieldsOf(value)])
  const bytesOf = (fields: ReturnType<typeof fieldsOf>, number: number) => {
    const value = fields.get(number)?.[0]
    return typeof value === "object" ? value : Buffer.alloc(0)
  }
  const attributes = (fields: ReturnType<typeof fieldsOf>, number: number) =>
    messages(fields, number).map((pair) => {
      const [value] = messages(pair, 2)
      const [type, content] = [...value ?? []][0] ?? []
      const [first] = content ?? []
      const text = type === 1 && typeof first === "object" ? first.toString() : first
      return { key: bytesOf(pair, 1).toString(), value: { value: text } }
    })
  const span = (fields: ReturnType<typeof fieldsOf>) => ({
    traceId: bytesOf(fields, 1).toString("hex"),
    spanId: bytesOf(fields, 2).toString("hex"),
    parentSpanId: bytesOf(fields, 4).toString("hex"),
    name: bytesOf(fields, 5).toString(),
    kind: fields.get(6)?.[0],
    attributes: attributes(fields, 9),
    links: messages(fields, 13).map((link) => ({ spanId: bytesOf(link, 2).toString("hex") })),
    status: { code: messages(fields, 15)[0]?.get(3)?.[0] ?? 0 }
  })
  return {
    resourceSpans: messages(fieldsOf(bytes), 1).map((resource) => ({
      resource: { attributes: messages(resource, 1).flatMap((each) => attributes(each, 1)) },
      scopeSpans: messages(resource, 2).map((scope) => ({ spans: messages(scope, 2).map(span) }))
    }))
  }
}

/** Receives what is exported to it. */
export const receive = Effect.gen(function*() {
  const spans: Array<Span> = []
  let everything = ""
  const url = yield* listening((request, response) => {
    void buffer(request).then((body) => {
      const isProtobuf = request.headers["content-type"] === "application/x-protobuf"
      everything += String(body)
      if (request.url === "/v1/traces" && body.length > 0) {
        spans.push(...spansOf(isProtobuf ? fromProtobuf(body) : JSON.parse(String(body))))
      }
      if (!isProtobuf) return response.end("{}")
      response.setHeader("content-type", "application/x-protobuf")
      response.end()
    })
  })
  return {
    url,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" },
    spans: (): ReadonlyArray<Span> => spans,
    /** All signals as they came. */
    everything: () => everything
  }
})
