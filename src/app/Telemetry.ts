/** OpenTelemetry: traces, metrics and logs, to where the `OTEL_*` variables say. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as UrlParams from "effect/http/UrlParams"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import { version } from "../base/Version.ts"

const endpoint = /^OTEL_EXPORTER_OTLP_(?:(?:TRACES|METRICS|LOGS)_)?ENDPOINT$/

/** Defaults of OpenTelemetry's specification that Effect's exporter lacks. */
const defaults = { OTEL_TRACES_EXPORTER: "otlp", OTEL_METRICS_EXPORTER: "otlp", OTEL_LOGS_EXPORTER: "otlp" }

const load = Effect.promise(() =>
  Promise.all([import("effect/observability/Otlp"), import("effect/observability/OtlpSerialization")])
)

/** What stands in a URL's query is in no trace: callers put tokens there. */
const withoutQueries = Layer.succeed(UrlParams.CurrentRedactedNames, [/^/])

/** Nobody sees a span that is not exported; making them took a tenth of a call's time. */
const untraced = Layer.succeed(References.TracerEnabled, false)

/**
 * Exports over OTLP when an `OTEL_EXPORTER_OTLP_ENDPOINT` (or `_TRACES_ENDPOINT` …) is set; else nothing is loaded.
 *
 * **Details**
 *
 * `http/protobuf`, or `http/json` if `OTEL_EXPORTER_OTLP_PROTOCOL` says so; the service is `effect-n8n-mcp` unless
 * `OTEL_SERVICE_NAME` says so. The rest is sent when the server ends.
 */
export const layer = (variables: Readonly<Record<string, string>>) => {
  if (!Object.keys(variables).some((name) => endpoint.test(name))) return Layer.merge(withoutQueries, untraced)
  const exporting = Effect.map(load, ([Otlp, OtlpSerialization]) =>
    Otlp.layerFromConfig({
      resource: { serviceName: variables["OTEL_SERVICE_NAME"] ?? "effect-n8n-mcp", serviceVersion: version }
    }).pipe(
      Layer.provide(FetchHttpClient.layer),
      Layer.provide(
        variables["OTEL_EXPORTER_OTLP_PROTOCOL"] === "http/json"
          ? OtlpSerialization.layerJson
          : OtlpSerialization.layerProtobuf
      )
    ))
  return Layer.merge(withoutQueries, Layer.unwrap(exporting)).pipe(
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { ...defaults, ...variables } })))
  )
}
