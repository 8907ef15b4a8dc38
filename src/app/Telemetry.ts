/** OpenTelemetry traces, metrics and logs, configured by the `OTEL_*` variables. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as UrlParams from "effect/http/UrlParams"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"

const endpoint = /^OTEL_EXPORTER_OTLP_(?:(?:TRACES|METRICS|LOGS)_)?ENDPOINT$/

/** Defaults of OpenTelemetry's specification that are missing in Effect's exporter. */
const defaults = { OTEL_TRACES_EXPORTER: "otlp", OTEL_METRICS_EXPORTER: "otlp", OTEL_LOGS_EXPORTER: "otlp" }

/** Removes queries of URLs from traces, since callers put tokens there. */
const withoutQueries = Layer.succeed(UrlParams.CurrentRedactedNames, [/^/])

/** Disables spans that are not exported: creating them took a tenth of a call's time. */
const untraced = Layer.merge(
  Layer.succeed(References.TracerEnabled, false),
  // Otherwise each request to n8n would carry the headers of a no-op span.
  Layer.succeed(Tracer.DisablePropagation, true)
)

export const isExporting = (variables: Readonly<Record<string, string>>): boolean =>
  Object.keys(variables).some((name) => endpoint.test(name))

/**
 * Exports over OTLP if an `OTEL_EXPORTER_OTLP_ENDPOINT` (or `_TRACES_ENDPOINT` …) is set; otherwise nothing is loaded.
 * The protocol is `http/protobuf`, or `OTEL_EXPORTER_OTLP_PROTOCOL`; the service is `effect-n8n-mcp`, or
 * `OTEL_SERVICE_NAME`. Pending data is sent at shutdown. Data for a slow or missing collector is dropped for a minute;
 * no call waits for it.
 */
export const layer = (variables: Readonly<Record<string, string>>) => {
  if (!isExporting(variables)) return Layer.merge(withoutQueries, untraced)
  const exporting = Effect.promise(() => import("./exporting.ts")).pipe(
    Effect.map((exporting) => exporting.layer(variables))
  )
  return Layer.merge(withoutQueries, Layer.unwrap(exporting)).pipe(
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { ...defaults, ...variables } })))
  )
}
