/**
 * `N8N_URL=… N8N_API_KEY=… pnpm bench proof [RUNS] [NAME]`: proofs of thirty changes of ten workflows on a real n8n on
 * this machine, each with RUNS (10) recorded runs, of the same workflows unchanged, and of one over 50 runs. Prints
 * which changes were found and at which node, differences that no change made, seconds, and the requests that reached a
 * server during all of it. Creates workflows and deletes them.
 */
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { mkdtemp, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Services from "../../src/app/Services.ts"
import { type Obj, str } from "../../src/base/Json.ts"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as N8n from "../../src/n8n/N8nClient.ts"
import * as tools from "../../src/tools/index.ts"
import * as FakeOpenAi from "../suites/n8n/FakeOpenAi.ts"
import * as provable from "../support/provable.ts"

const runs = Number(process.argv[2] ?? 10)
const only = process.argv[3]
const manyRuns = 50
const tag = crypto.randomUUID().slice(0, 8)

const aWhile = Schedule.max([Schedule.spaced("300 millis"), Schedule.recurs(60)])

/** Server that counts requests; below `/fail` it answers with 500. */
const sink = Effect.acquireRelease(
  Effect.promise(async () => {
    const count = { requests: 0 }
    const server = createServer((request, response) => {
      request.resume().on("end", () => {
        count.requests++
        response.statusCode = request.url?.startsWith("/fail") === true ? 500 : 200
        response.setHeader("content-type", "application/json").end(JSON.stringify({ id: count.requests, ok: true }))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return { count, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }),
  ({ server }) => Effect.sync(() => server.close())
)

const created = (name: string, draft: provable.Draft) =>
  N8nClient.use((n8n) =>
    Effect.acquireRelease(
      Effect.tap(
        n8n.createWorkflow({ ...draft, name: `${tag} ${name}`, settings: { executionOrder: "v1" } }),
        ({ id }) => n8n.publishWorkflow(id)
      ),
      ({ id }) => Effect.ignore(Effect.andThen(n8n.unpublishWorkflow(id), Effect.retry(n8n.deleteWorkflow(id), aWhile)))
    )
  )

/** Calls a webhook until n8n knows it. */
const call = (url: URL, path: string, body: Obj) =>
  Effect.retry(
    Effect.tryPromise(async () => {
      const response = await fetch(new URL(`webhook/${path}`, url), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body)
      })
      if (response.status === 404) throw new Error(`404 at ${path}`)
    }),
    aWhile
  )

/** Waits until a workflow has this many executions that have ended. */
const recorded = (id: string, count: number) =>
  N8nClient.use((n8n) => n8n.listExecutions({ workflowId: id, limit: 250 })).pipe(
    Effect.filterOrFail(
      ({ executions }) => executions.filter(({ status }) => status === "success" || status === "error").length >= count
    ),
    Effect.retry(aWhile)
  )

const report = Effect.fnUntraced(function*(url: URL, folder: string) {
  const n8n = yield* N8nClient
  const server = yield* sink
  const model = yield* FakeOpenAi.serve
  const { id: sub } = yield* created("sub", provable.subWorkflow())
  const openAi = yield* n8n.createCredential({
    name: `${tag} model`,
    type: "openAiApi",
    values: Redacted.make({ apiKey: "sk-fake", url: model.href, header: false })
  })
  const place = { sink: server.url, sub, openAi: { id: openAi.id, name: openAi.name } }
  const subjects = provable.subjects.filter(({ name }) => only === undefined || name === only)
  const seeded = yield* Effect.forEach(subjects, (subject, index) =>
    Effect.gen(function*() {
      const path = `${tag}-${index}`
      const draft = subject.draft({ ...place, path })
      const { id } = yield* created(subject.name, draft)
      const count = index === 0 ? manyRuns : runs
      for (let n = 0; n < count; n++) yield* call(url, path, subject.body(n))
      yield* recorded(id, count)
      return { subject, draft, id, count }
    }), { concurrency: 2 })
  const before = server.count.requests
  const totals = { proofs: 0, found: 0, located: 0, missed: 0, false: 0, tokens: 0 }
  const prove = Effect.fnUntraced(function*(workflowId: string, last: number) {
    const [duration, result] = yield* Effect.timed(Effect.result(tools.workflowProve.call({ workflowId, last })))
    const seconds = Duration.toSeconds(duration).toFixed(1)
    if (Result.isFailure(result)) return { seconds, failure: result.failure.message, proof: undefined, tokens: 0 }
    return { seconds, failure: undefined, proof: result.success, tokens: countTokens(JSON.stringify(result.success)) }
  })
  for (const { draft, id, subject } of seeded) {
    const same = yield* prove(id, runs)
    const unreal = same.proof?.groups?.length ?? 1
    totals.false += unreal
    yield* Console.log(
      `\n${subject.name}: ${draft.nodes.length} nodes, unchanged in ${same.seconds} s: ${
        same.failure ?? same.proof?.verdict
      }`
    )
    if (unreal > 0) yield* Console.log(`  FALSE ${JSON.stringify(same.proof?.groups)}`)
    for (const each of same.proof?.ignored ?? []) {
      yield* Console.log(`  ignored ${each.node}: ${each.path} ${each.why ?? ""}`)
    }
    for (const each of same.proof?.notReplayed ?? []) {
      yield* Console.log(`  not replayed ${each.node ?? each.execution}: ${each.why}`)
    }
    for (const change of subject.changes) {
      const file = join(folder, `${subject.name}.json`)
      const workflow = {
        id,
        name: subject.name,
        settings: { executionOrder: "v1" },
        ...provable.changed(draft, change)
      }
      yield* Effect.promise(() => writeFile(file, JSON.stringify(workflow)))
      const { failure, proof, seconds, tokens } = yield* prove(file, runs)
      const [first] = proof?.groups ?? []
      const isLocated = str(first?.node) === change.at
      totals.proofs++
      totals.tokens = Math.max(totals.tokens, tokens)
      if (first === undefined) totals.missed++
      else totals.found++
      if (isLocated) totals.located++
      const mark = first === undefined ? "MISSED" : isLocated ? "found " : "ELSEWHERE"
      yield* Console.log(`  ${mark} ${change.name} (${seconds} s, ${tokens} tokens): ${failure ?? proof?.verdict}`)
      if (!isLocated) yield* Console.log(`    ${JSON.stringify(proof)}`)
    }
  }
  const [first] = seeded
  if (first !== undefined && first.count === manyRuns) {
    const { failure, proof, seconds } = yield* prove(first.id, manyRuns)
    yield* Console.log(`\n${manyRuns} runs unchanged in ${seconds} s: ${failure ?? proof?.verdict}`)
    totals.false += proof?.groups?.length ?? 1
  }
  yield* Console.log(
    `\n${totals.proofs} changes: ${totals.found} found (${totals.located} at their node), ${totals.missed} missed; ${totals.false} false; at most ${totals.tokens} tokens; ${
      server.count.requests - before
    } requests sent`
  )
}, Effect.scoped)

const main = Effect.gen(function*() {
  const url = yield* Config.URL("N8N_URL")
  const apiKey = yield* Config.Redacted("N8N_API_KEY")
  const folder = yield* Effect.promise(() => mkdtemp(join(tmpdir(), "proof-")))
  const client = N8n.layer({ url, apiKey }).pipe(Layer.provide(FetchHttpClient.layer))
  const services = Services.layer({ filesRoots: [folder], stateFolder: join(folder, ".state") })
  yield* Effect.provide(report(url, folder), Layer.merge(client, services))
})

Effect.runPromise(main)
