/**
 * `N8N_URL=… N8N_API_KEY=… pnpm bench runs`: questions about 100 runs of 1 MB on a real n8n, beside downloading the same
 * runs over the same number of connections. Creates a workflow, runs it 100 times and deletes it. Prints the seconds
 * of three rounds, the first time and repeated, the median as a multiple of the download, and the peak of memory.
 */
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Services from "../../src/app/Services.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import * as tools from "../../src/tools/index.ts"
import { BenchError } from "./BenchError.ts"

const count = 100
const connections = 4
const rounds = 3

const node = (name: string, type: string, typeVersion: number, parameters: object) => ({
  id: name.toLowerCase(),
  name,
  type: `n8n-nodes-base.${type}`,
  typeVersion,
  position: [0, 0],
  parameters
})

/** Two nodes of 250 orders of 2 kB; every tenth run fails with a message of its own. */
const workflow = (path: string) => ({
  name: `Bench ${path}`,
  settings: {},
  nodes: [
    { ...node("Hook", "webhook", 2, { path, responseMode: "lastNode" }), webhookId: crypto.randomUUID() },
    node("Orders", "code", 2, {
      jsCode: `return Array.from({ length: 250 }, (_, n) => ({ json: {
  orderNo: 'A-' + n, amount: n * 1.5, customer: { id: 'cus_' + n, email: 'user' + n + '@example.com' },
  note: 'Please leave the parcel at the back door of number 17. '.repeat(34) } }))`
    }),
    node("Check", "code", 2, {
      jsCode: `const run = Number($('Hook').first().json.query.run)
if (run % 10 === 0) throw new Error('Order A-' + run + ' has no address')
return $input.all()`
    })
  ],
  connections: {
    Hook: { main: [[{ node: "Orders", type: "main", index: 0 }]] },
    Orders: { main: [[{ node: "Check", type: "main", index: 0 }]] }
  }
})

/** Wall clock and processor time of this process, in seconds; other work on the machine does not change the latter. */
const seconds = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const [start, cpu] = [yield* Clock.currentTimeMillis, process.cpuUsage()]
    yield* effect
    const { system, user } = process.cpuUsage(cpu)
    return { wall: ((yield* Clock.currentTimeMillis) - start) / 1_000, cpu: (system + user) / 1_000_000 }
  })

const failed = (step: string) => (cause: unknown) => new BenchError({ step, detail: String(cause) })

/** n8n publishes and unpublishes in the background. */
const aWhile = Schedule.max([Schedule.spaced("300 millis"), Schedule.recurs(30)])

/** Runs of a new workflow, which is deleted afterwards. */
const seeded = Effect.fnUntraced(function*(url: URL) {
  const n8n = yield* N8nClient.N8nClient
  const path = crypto.randomUUID()
  const { id } = yield* Effect.acquireRelease(
    n8n.createWorkflow(workflow(path)),
    ({ id }) => Effect.ignore(Effect.andThen(n8n.unpublishWorkflow(id), Effect.retry(n8n.deleteWorkflow(id), aWhile)))
  )
  yield* n8n.publishWorkflow(id)
  const call = (run: number) =>
    Effect.tryPromise({
      try: async () => {
        const response = await fetch(new URL(`webhook/${path}?run=${run}`, url))
        await response.arrayBuffer()
        if (response.status === 404) throw new Error("not registered yet")
      },
      catch: failed("call the webhook")
    })
  yield* Effect.retry(call(1), aWhile)
  yield* Effect.forEach(Array.from({ length: count - 1 }, (_, index) => index + 2), call, { concurrency: 2 })
  return id
})

/** Downloads the same runs and discards them. */
const download = Effect.fnUntraced(function*(url: URL, apiKey: string, workflowId: string) {
  const get = (path: string) =>
    Effect.tryPromise({
      try: async () => (await fetch(new URL(path, url), { headers: { "x-n8n-api-key": apiKey } })).text(),
      catch: failed(path)
    })
  const list = yield* get(`api/v1/executions?limit=${count}&workflowId=${workflowId}`)
  const { data } = JSON.parse(list) as { readonly data: ReadonlyArray<{ readonly id: string }> }
  const sizes = yield* Effect.forEach(
    data,
    ({ id }) => Effect.map(get(`api/v1/executions/${id}?includeData=true`), ({ length }) => length),
    { concurrency: connections }
  )
  return sizes.reduce((sum, size) => sum + size, 0)
})

const questions = {
  "search, text": (workflowId: string) =>
    Effect.asVoid(tools.searchExecution.answer({ workflowId, last: count, text: "A-249" })),
  "search, where": (workflowId: string) =>
    Effect.asVoid(tools.searchExecution.answer({
      workflowId,
      last: count,
      where: "amount > 370 && customer.id.endsWith('9')"
    })),
  "groups of failures": (workflowId: string) =>
    Effect.asVoid(tools.listExecutions.answer({ workflowId, limit: count, groupBy: "failure" })),
  "profile of nodes": (workflowId: string) =>
    Effect.asVoid(tools.listExecutions.answer({ workflowId, limit: count, groupBy: "node" })),
  "groups of versions": (workflowId: string) =>
    Effect.asVoid(tools.listExecutions.answer({ workflowId, limit: count, groupBy: "version" }))
}

const median = (times: ReadonlyArray<number>) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0

const megabytes = (bytes: number) => `${Math.round(bytes / 1_000_000)} MB`

const report = Effect.gen(function*() {
  const url = yield* Config.URL("N8N_URL")
  const apiKey = yield* Config.Redacted("N8N_API_KEY")
  const client = N8nClient.layer({ url, apiKey }).pipe(Layer.provide(FetchHttpClient.layer))
  const workflowId = yield* Effect.provide(seeded(url), client)
  const plain = download(url, Redacted.value(apiKey), workflowId)
  yield* Console.log(`${count} runs, ${megabytes(yield* plain)}; seconds of each of ${rounds} rounds`)
  const times: { [name: string]: Array<{ readonly wall: number; readonly cpu: number }> } = {}
  let peak = 0
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20)
  for (let round = 0; round < rounds; round++) {
    const add = (name: string, time: { readonly wall: number; readonly cpu: number }) => (times[name] ??= []).push(time)
    add("download alone", yield* seconds(plain))
    for (const [name, ask] of Object.entries(questions)) {
      // A new cache for each question.
      yield* Effect.gen(function*() {
        add(name, yield* seconds(ask(workflowId)))
        add(`${name}, again`, yield* seconds(ask(workflowId)))
      }).pipe(Effect.provide(Layer.merge(client, Layer.fresh(Services.layerMemory))))
    }
  }
  clearInterval(watch)
  const base = median((times["download alone"] ?? []).map(({ wall }) => wall))
  for (const [name, all] of Object.entries(times)) {
    const walls = all.map(({ wall }) => wall)
    const cpu = median(all.map(({ cpu }) => cpu)).toFixed(2)
    const shown = walls.map((time) => time.toFixed(2)).join("  ")
    yield* Console.log(
      `${name.padEnd(28)}${shown.padEnd(22)}${(median(walls) / base).toFixed(2)} x  ${cpu} s of processor`
    )
  }
  yield* Console.log(`peak memory of this process: ${megabytes(peak)}`)
}).pipe(Effect.scoped)

Effect.runPromise(report)
