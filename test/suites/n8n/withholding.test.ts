import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Hints from "../../../src/answer/Hints.ts"
import * as Services from "../../../src/app/Services.ts"
import { obj } from "../../../src/base/Json.ts"
import { isNewer } from "../../../src/catalogue/types/Releases.ts"
import * as Executions from "../../../src/executions/Executions.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { startsOwn } from "./elsewhere.ts"
import { RealN8n } from "./RealN8n.ts"
import { ofMajor } from "./releases.ts"
import * as scenarios from "./scenarios.ts"

const client = Layer.unwrap(Effect.gen(function*() {
  const { apiKey, url } = yield* RealN8n
  return N8nClient.layer({ url, apiKey }).pipe(Layer.provide(FetchHttpClient.layer))
}))

/** An n8n that withholds execution data over 100 kB; the default limit is 100 MB. */
const withholding = (version: string) =>
  Layer.merge(client, Services.layerMemory).pipe(
    Layer.provideMerge(RealN8n.layer(version, { env: { EXECUTIONS_DATA_MAX_DISPLAY_SIZE: "100000" } }))
  )

// 2.20 has no such limit.
const limited = ofMajor("2").filter((version) => isNewer(version, "2.20"))
for (const version of startsOwn("an n8n that withholds large data", limited)) {
  layer(withholding(version), { timeout: "15 minutes", excludeTestServices: true })(
    `n8n ${version} that withholds large data`,
    (it) => {
      it.effect("returns it on request", () =>
        Effect.gen(function*() {
          const { executionId: id } = yield* scenarios.run("big12")
          const withheld = obj(yield* scenarios.fetchJson(`executions/${id}?includeData=true`))
          assert.isTrue(withheld?.["dataTooLargeToDisplay"])
          const { statistics } = yield* tools.getExecution.call({ id, nodeOffset: 0 })
          assert.strictEqual(statistics.executedNodes, 12)
          assert.strictEqual(statistics.totalItemsProcessed, 1_101)
        }))

      it.effect("our own limit refuses with the size before the download ends", () =>
        Effect.gen(function*() {
          const { executionId: id } = yield* scenarios.run("big12")
          const error = yield* Effect.flip(tools.getExecution.call({ id, nodeOffset: 0 })).pipe(
            Effect.provide(Layer.fresh(Executions.layer({ maxBodyBytes: 100_000 })))
          )
          assert.strictEqual(error._tag, "ValidationError")
          assert.match(error.message, /contains 1 MB, more than the limit of 1 MB/)
          assert.include(Hints.text(error.hint), "--max-execution-mb")
        }))
    }
  )
}
