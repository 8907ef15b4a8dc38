/** The same with a real n8n, where one is installed (or `N8N_MCP_REAL=1`, which installs it): and one trace through all. */
import { afterAll, assert, beforeAll, describe, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import * as Otlp from "../../support/Otlp.ts"
import { bundle, remove } from "../../support/Process.ts"
import { RealN8n } from "../n8n/RealN8n.ts"
import { inCi } from "../n8n/releases.ts"
import { call, Cluster, newWorkflow } from "./Cluster.ts"
import * as Trial from "./Trial.ts"

const version = inCi["2"]

const cache = process.env["N8N_TEST_CACHE"] ??
  join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "effect-n8n-mcp", "n8n")

const isThere = process.env["N8N_MCP_REAL"] !== undefined || existsSync(join(cache, version, ".ready"))

/** What n8n and our servers export to. */
class Collector extends Context.Service<Collector, Effect.Success<typeof Otlp.receive>>()(
  "effect-n8n-mcp/test/cluster/Collector"
) {}

const collector = Layer.effect(Collector, Otlp.receive)

const n8n = Layer.unwrap(
  Effect.map(
    Collector,
    ({ url }) => RealN8n.layer(version, { env: { N8N_OTEL_ENABLED: "true", N8N_OTEL_EXPORTER_OTLP_ENDPOINT: url } })
  )
)

const cluster = Layer.unwrap(Effect.gen(function*() {
  const { apiKey, url } = yield* RealN8n
  const collector = yield* Collector
  return Cluster.layer({
    args: ["--rate-limit", "0"],
    n8n: { url: url.href, apiKey: Redacted.value(apiKey) },
    // As it is by default: in protobuf. Sent soon, so that nobody waits for it.
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: "500" }
  })
}))

const all = cluster.pipe(Layer.provideMerge(n8n), Layer.provideMerge(collector))

describe.skipIf(!isThere)(`the same before n8n ${version}`, () => {
  beforeAll(bundle, 60_000)
  afterAll(remove)
  afterAll(Trial.print)

  layer(all, { timeout: "15 minutes", excludeTestServices: true })((it) => {
    it.effect("one trace goes from the balancer through a server into n8n", () =>
      Effect.gen(function*() {
        const { url } = yield* Cluster
        const { spans } = yield* Collector
        const workflowId = yield* newWorkflow(url, "Traced")
        for (const era of ["modern", "legacy"] as const) {
          const trace = era === "modern" ? "0af7651916cd43dd8448eb211c80319c" : "4bf92f3577b34da6a3ce929d0e0e4736"
          const params = { name: "test_workflow", arguments: { workflowId } }
          const headers = { traceparent: `00-${trace}-b7ad6b7169203331-01` }
          const answer = yield* call(url, era, params, { headers })
          assert.notInclude(answer.text, "\"isError\":true", answer.text)
          const own = () => spans().filter(({ traceId }) => traceId === trace)
          const find = (service: string, name: string) =>
            Effect.sync(() => own().find((span) => span.service === service && span.name === name)).pipe(
              Effect.filterOrFail(
                (span) => span !== undefined,
                () => `no ${name} in ${own().map((span) => `${span.service} ${span.name}`).join(", ")}`
              ),
              Effect.retry({ schedule: Schedule.spaced("200 millis"), times: 100 })
            )
          const execution = yield* find("n8n", "workflow.execute")
          const http = yield* find("effect-n8n-mcp", "POST /mcp")
          const tool = yield* find("effect-n8n-mcp", "tools/call test_workflow")
          assert.strictEqual(http.parentSpanId, "b7ad6b7169203331")
          assert.strictEqual(tool.parentSpanId, http.spanId)
          const webhook = own().find(({ spanId }) => spanId === execution.parentSpanId)
          assert.strictEqual(webhook?.name, "N8nClient.callWebhook")
          const above = (span: Otlp.Span): ReadonlyArray<string> => {
            const parent = own().find(({ spanId }) => spanId === span.parentSpanId)
            return parent === undefined ? [] : [parent.name, ...above(parent)]
          }
          assert.include(above(execution), "tools/call test_workflow")
          assert.strictEqual(above(execution).at(-1), "POST /mcp")
        }
      }))

    it.effect("a rolling restart fails no call", () =>
      Effect.gen(function*() {
        const { replicas, url } = yield* Cluster
        const counts = yield* Trial.tried(`n8n ${version}: each server restarted in turn (SIGTERM)`, url, {
          meanwhile: ({ more }) =>
            Effect.forEach(replicas, ({ start, stop }) => stop.pipe(Effect.andThen(start), Effect.andThen(more(30))))
        })
        assert.strictEqual(counts.failed, 0, Trial.told(counts))
      }), 180_000)

    it.effect("n8n killed and started: every call says so, and it recovers by itself", () =>
      Effect.gen(function*() {
        const cluster = yield* Cluster
        const { crash } = yield* RealN8n
        const counts = yield* Trial.tried(`n8n ${version} killed, and started`, cluster.url, {
          meanwhile: () => crash([]),
          back: Trial.readsAgain(cluster)
        })
        assert.isAbove(counts.failed, 0)
        for (const [outcome] of counts.outcomes) {
          assert.match(outcome, /^(answered|told that n8n does not answer|told that n8n has no such path.*)$/)
        }
      }), 300_000)
  })
})
