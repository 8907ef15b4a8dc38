/**
 * `N8N_URL=… N8N_API_KEY=… pnpm bench runs`: questions about 100 runs of 1 MB on a real n8n, beside downloading the same
 * runs over the same number of connections. Creates a workflow, runs it 100 times and deletes it. Prints the seconds
 * of three rounds, the first time and repeated, the median as a multiple of the download, and the peak of memory.
 */
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Services from "../../src/app/Services.ts"
import * as tools from "../../src/tools/index.ts"
import { joined, node } from "../support/workflows.ts"
import { aWhile, client, connections, place, requested, temporary } from "./atN8n.ts"
import { main } from "./main.ts"
import { cpuMillis, median } from "./results.ts"

const count = 100
const rounds = 3

/** Two nodes of 250 orders of 2 kB; every tenth run fails with a message of its own. */
const workflow = (path: string) => ({
  name: `Bench ${path}`,
  settings: {},
  nodes: [
    node("Hook", "webhook", 2, { path, responseMode: "lastNode" }, { webhookId: crypto.randomUUID() }),
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
  connections: joined(["Hook", "Orders"], ["Orders", "Check"])
})

/** Wall clock and processor time of this process, in seconds. */
const seconds = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const start = process.cpuUsage()
    return Effect.map(
      Effect.timed(effect),
      ([duration]) => ({ wall: Duration.toSeconds(duration), cpu: cpuMillis(start) / 1_000 })
    )
  })

/** Runs of a new workflow, which is deleted afterwards. */
const seeded = Effect.fnUntraced(function*(url: URL) {
  const path = crypto.randomUUID()
  const { id } = yield* temporary(workflow(path))
  const call = (run: number) => requested("call the webhook", new URL(`webhook/${path}?run=${run}`, url))
  yield* Effect.retry(call(1), aWhile)
  yield* Effect.forEach(Array.from({ length: count - 1 }, (_, index) => index + 2), call, { concurrency: 2 })
  return id
})

/** Downloads the same runs and discards them. */
const download = Effect.fnUntraced(function*(url: URL, apiKey: string, workflowId: string) {
  const get = (path: string) =>
    requested("download", new URL(`api/v1/executions${path}`, url), { headers: { "x-n8n-api-key": apiKey } })
  const { data } = JSON.parse(yield* get(`?limit=${count}&workflowId=${workflowId}`)) as {
    readonly data: ReadonlyArray<{ readonly id: string }>
  }
  const sizes = yield* Effect.forEach(
    data,
    ({ id }) => Effect.map(get(`/${id}?includeData=true`), ({ length }) => length),
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

const megabytes = (bytes: number) => `${Math.round(bytes / 1_000_000)} MB`

const report = Effect.gen(function*() {
  const { apiKey, url } = yield* place
  const workflowId = yield* seeded(url)
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
      }).pipe(Effect.provide(Layer.fresh(Services.layerMemory)))
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
}).pipe(Effect.scoped, Effect.provide(client))

main(Command.make("runs", {}, () => report).pipe(Command.withDescription("Measure questions about runs of a real n8n")))
