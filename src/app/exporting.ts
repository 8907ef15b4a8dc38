/** OpenTelemetry exporter; loaded on demand. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as Layer from "effect/Layer"
import * as Otlp from "effect/observability/Otlp"
import * as OtlpSerialization from "effect/observability/OtlpSerialization"
import * as Option from "effect/Option"
import * as Semaphore from "effect/Semaphore"
import * as Tracer from "effect/Tracer"
import { version } from "../base/Version.ts"

/** Maximum concurrent requests to the collector; further data is dropped, so that memory stays flat. */
const maxInFlight = 8

/** Time limit of a request to the collector in milliseconds, OpenTelemetry's default. */
const defaultTimeout = 10_000

/** Limits Effect's exporter, which would wait for an unresponsive collector and retain all data. */
const bounded = (timeout: number) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function*() {
      const places = yield* Semaphore.make(maxInFlight)
      return HttpClient.transform(yield* HttpClient.HttpClient, (sending, request) => {
        const fail = (reason: HttpClientError.HttpClientErrorReason) =>
          Effect.fail(new HttpClientError.HttpClientError({ reason }))
        return sending.pipe(
          Effect.timeoutOrElse({
            duration: timeout,
            orElse: () =>
              fail(new HttpClientError.TransportError({ request, description: "the collector does not answer" }))
          }),
          places.withPermitsIfAvailable(1),
          Effect.flatMap(Option.match({
            onSome: Effect.succeed,
            // An error that excludes retries.
            onNone: () => fail(new HttpClientError.EncodeError({ request, description: "the collector is too slow" }))
          }))
        )
      })
    })
  ).pipe(Layer.provide(FetchHttpClient.layer))

const nameOf = (error: unknown) =>
  error instanceof Error ? ("_tag" in error ? String(error._tag) : error.name) : "Error"

/** Failure by name and origin, without its message, which may repeat the caller's input. */
const withoutMessage = (exit: Exit.Exit<unknown, unknown>): Exit.Exit<unknown, unknown> => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return exit
  const error = Cause.squash(exit.cause)
  const shown = new Error(nameOf(error))
  shown.name = nameOf(error)
  const frames = error instanceof Error ? (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line)) : []
  shown.stack = [shown.name, ...frames].join("\n")
  return Exit.die(shown)
}

const layerWithoutMessages = Layer.effect(
  Tracer.Tracer,
  Effect.map(Tracer.Tracer, (tracer) =>
    Tracer.make({
      context: tracer.context,
      span: (options) => {
        const span = tracer.span(options)
        const end = span.end.bind(span)
        span.end = (time, exit) => end(time, withoutMessage(exit))
        return span
      }
    }))
)

export const layer = (variables: Readonly<Record<string, string>>) => {
  const timeout = Number(variables["OTEL_EXPORTER_OTLP_TIMEOUT"])
  return layerWithoutMessages.pipe(
    Layer.provideMerge(Otlp.layerFromConfig({
      resource: { serviceName: variables["OTEL_SERVICE_NAME"] ?? "effect-n8n-mcp", serviceVersion: version }
    })),
    Layer.provide(bounded(timeout > 0 ? timeout : defaultTimeout)),
    Layer.provide(
      variables["OTEL_EXPORTER_OTLP_PROTOCOL"] === "http/json"
        ? OtlpSerialization.layerJson
        : OtlpSerialization.layerProtobuf
    )
  )
}
