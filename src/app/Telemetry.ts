/** OpenTelemetry: traces, metrics and logs, to where the `OTEL_*` variables say. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as UrlParams from "effect/http/UrlParams"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"

const endpoint = /^OTEL_EXPORTER_OTLP_(?:(?:TRACES|METRICS|LOGS)_)?ENDPOINT$/

/** Defaults of OpenTelemetry's specification that Effect's exporter lacks. */
const defaults = { OTEL_TRACES_EXPORTER: "otlp", OTEL_METRICS_EXPORTER: "otlp", OTEL_LOGS_EXPORTER: "otlp" }

/** What stands in a URL's query is in no trace: callers put tokens there. */
const withoutQueries = Layer.succeed(UrlParams.CurrentRedactedNames, [/^/])

/** Nobody sees a span that is not exported; making them took a tenth of a call's time. */
const untraced = Layer.merge(
  Layer.succeed(References.TracerEnabled, false),
  // Else each request to n8n has a span all the same, which is none, and n8n is told of it.
  Layer.succeed(Tracer.DisablePropagation, true)
)

/**
 * Exports over OTLP when an `OTEL_EXPORTER_OTLP_ENDPOINT` (or `_TRACES_ENDPOINT` …) is set; else nothing is loaded.
 *
 * **Details**
 *
 * `http/protobuf`, or `http/json` if `OTEL_EXPORTER_OTLP_PROTOCOL` says so; the service is `effect-n8n-mcp` unless
 * `OTEL_SERVICE_NAME` says so. The rest is sent when the server ends. A collector that is down or slow loses what it
 * does not take, for a minute; no call waits for it.
 */
export const layer = (variables: Readonly<Record<string, string>>) => {
  if (!Object.keys(variables).some((name) => endpoint.test(name))) return Layer.merge(withoutQueries, untraced)
  const exporting = Effect.promise(() => import("./exporting.ts")).pipe(
    Effect.map((exporting) => exporting.layer(variables))
  )
  return Layer.merge(withoutQueries, Layer.unwrap(exporting)).pipe(
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { ...defaults, ...variables } })))
  )
}
