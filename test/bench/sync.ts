/**
 * `pnpm bench sync`: 500 workflows of 12 nodes are pulled, compared, changed in three places on each side, pulled and
 * pushed, beside a simulated n8n over HTTP. Prints the time, the requests and the bytes of their answers; the time
 * includes the simulated n8n's own, which shares the process.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Services from "../../src/app/Services.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import * as Sync from "../../src/sync/Sync.ts"
import { serve } from "../support/HttpN8n.ts"

const workflows = 500
const nodes = 12

const code = (state: number) =>
  Array.from({ length: 20 }, (_, line) => `const v${line} = ${state} + ${line}`).join("\n")

const workflow = (at: number, state = 0) => ({
  id: `w${String(at).padStart(4, "0")}`,
  name: `Workflow ${at}`,
  active: false,
  settings: { executionOrder: "v1" },
  connections: Object.fromEntries(Array.from({ length: nodes - 1 }, (_, index) => [
    `Node ${index}`,
    { main: [[{ node: `Node ${index + 1}`, type: "main", index: 0 }]] }
  ])),
  nodes: Array.from({ length: nodes }, (_, index) => ({
    id: `node-${at}-${index}`,
    name: `Node ${index}`,
    type: index % 4 === 0 ? "n8n-nodes-base.code" : "n8n-nodes-base.httpRequest",
    typeVersion: index % 4 === 0 ? 2 : 4.2,
    position: [index * 200, 0],
    parameters: index % 4 === 0 ? { jsCode: code(state) } : { url: `https://example.com/${at}/${index}`, options: {} }
  }))
})

const bench = (splitsCode: boolean) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
    const state = yield* fs.makeTempDirectoryScoped()
    let bytes = 0
    const { api, url } = yield* serve({
      workflows: Array.from({ length: workflows }, (_, at) => workflow(at)),
      executions: []
    }, {
      after: (_, response) =>
        Effect.promise(async () => {
          bytes += (await response.clone().arrayBuffer()).byteLength
        })
    })
    const run = Effect.provide(Layer.merge(
      N8nClient.layer({ url, apiKey: Redacted.make("k") }).pipe(Layer.provide(FetchHttpClient.layer)),
      Services.layer({ filesRoots: [folder], stateFolder: state })
    ))
    const measured = <A, E>(name: string, effect: Effect.Effect<Sync.Report<Sync.Outcome>, E, A>) =>
      Effect.gen(function*() {
        const [count, before] = [(yield* api.requests).length, bytes]
        const start = yield* Clock.currentTimeMillis
        const { counts, entries } = yield* effect
        const seconds = ((yield* Clock.currentTimeMillis) - start) / 1000
        const done = entries.filter(({ action }) => action !== undefined).length
        const failed = entries.filter(({ error }) => error !== undefined).length
        yield* Console.log(
          [
            name.padEnd(26),
            `${seconds.toFixed(2)} s`.padStart(9),
            `${(yield* api.requests).length - count}`.padStart(6),
            `${((bytes - before) / 1_000_000).toFixed(2)} MB`.padStart(9),
            ` ${done} done, ${failed} failed, ${JSON.stringify(counts)}`
          ].join("  ")
        )
      })
    yield* Console.log(`\n${workflows} workflows of ${nodes} nodes${splitsCode ? ", code in files of its own" : ""}`)
    yield* Console.log(`${"".padEnd(26)}${"time".padStart(11)}${"requests".padStart(10)}${"answers".padStart(9)}`)
    yield* measured("pull", run(Sync.pull(".", splitsCode ? { splitsCode } : {})))
    yield* measured("status, nothing changed", run(Sync.status(".")))
    yield* measured("pull, nothing changed", run(Sync.pull(".")))
    for (const at of [1, 2, 3]) {
      yield* api.edit(workflow(at).id, (before) => ({ ...before, nodes: workflow(at, 1).nodes }))
      const file = splitsCode ? `workflow-${at + 100}.code/node-0.js` : `workflow-${at + 100}.json`
      const text = yield* fs.readFileString(`${folder}/${file}`)
      yield* fs.writeFileString(`${folder}/${file}`, text.replace("v0 = 0", "v0 = 2"))
    }
    yield* measured("status, 3 on each side", run(Sync.status(".")))
    yield* measured("pull", run(Sync.pull(".")))
    yield* measured("push", run(Sync.push(".")))
    yield* measured("status", run(Sync.status(".")))
  }).pipe(Effect.scoped)

await Effect.runPromise(Effect.provide(Effect.andThen(bench(false), bench(true)), NodeServices.layer))
