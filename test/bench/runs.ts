/**
 * `pnpm bench runs`: questions about an execution of 66 MB and about 100 runs of 1 MB, beside the plain way: a script
 * that downloads over the same number of connections, parses, and looks at each item.
 *
 * **Details**
 *
 * n8n is a stub that answers immediately; with `N8N_URL` and `N8N_API_KEY` a real one, where it creates two workflows,
 * runs them, and deletes them. Each question is asked twice in a server of its own over stdio, which has listed a run
 * before and whose compiled code is cached, in turns with the plain way. Prints medians, and the greatest peak of
 * memory. The exit code is 1 if a question takes more than 1.3 times as long as the plain way, more than 1 s when
 * repeated, or more than 250 MB. `--quick`: three rounds instead of five.
 */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import { say } from "../support/processes.ts"
import { aWhile, client, place, requested, temporary } from "./atN8n.ts"
import * as HttpProcess from "./load/HttpProcess.ts"
import { file, finish, machine, main, quick } from "./main.ts"
import * as McpProcess from "./McpProcess.ts"
import { atMost, format, inTurn, median, table } from "./results.ts"
import * as Orders from "./runs/orders.ts"
import { all, connections, large, many, type Place, type Question, runCount } from "./runs/questions.ts"

interface Target extends Place {
  readonly url: URL
  readonly apiKey: string
}

const stub = Effect.fnUntraced(function*(home: string) {
  const { port } = yield* HttpProcess.start("n8n", [file("runs/stub.ts")], home)
  const url = new URL(`http://127.0.0.1:${port}/`)
  return { url, apiKey: "bench", id: String(runCount + 1), workflowId: "many" } satisfies Target
})

/** Creates a workflow, which is deleted afterwards, and runs it so often. */
const seeded = Effect.fnUntraced(function*(url: URL, size: Orders.Size, count: number) {
  const path = crypto.randomUUID()
  const { id } = yield* temporary(Orders.workflow(path, size))
  const call = (run: number) => requested("call the webhook", new URL(`webhook/${path}?run=${run}`, url))
  yield* Effect.retry(call(1), aWhile)
  yield* Effect.forEach(Array.from({ length: count - 1 }, (_, index) => index + 2), call, { concurrency: 2 })
  return id
})

const real = Effect.gen(function*() {
  const { apiKey: key, url } = yield* place
  const apiKey = Redacted.value(key)
  yield* say("running workflows")
  const [one, workflowId] = [yield* seeded(url, large, 1), yield* seeded(url, many, runCount)]
  const list = yield* requested("list runs", new URL(`api/v1/executions?workflowId=${one}`, url), {
    headers: { "x-n8n-api-key": apiKey }
  })
  const { data: [newest] } = JSON.parse(list) as { readonly data: ReadonlyArray<{ readonly id: string }> }
  return { url, apiKey, id: String(newest?.id), workflowId } satisfies Target
}).pipe(Effect.provide(client))

const contenders = { ours: file("../../dist/main.js"), plain: file("runs/plain.ts") } as const
type Name = keyof typeof contenders

const firstTools = { ours: "list_executions", plain: "list_workflows" } as const

/** Wall clock and processor time of a call, in milliseconds. */
interface Cost {
  readonly wall: number
  readonly cpu: number
}

interface Sample {
  readonly first: Cost
  readonly again: Cost
  /** Peak of the process in MB. */
  readonly peak: number
}

const start = Effect.fnUntraced(function*(name: Name, { apiKey, url }: Target, home: string) {
  const server = yield* McpProcess.start(name, {
    args: [contenders[name]],
    env: { PATH: process.env["PATH"] ?? "", HOME: home, N8N_URL: url.href, N8N_API_KEY: apiKey, LOG_LEVEL: "error" },
    cwd: home
  })
  // After which our program is loaded, as in all sessions that are older than a second.
  yield* server.call({ tool: firstTools[name], args: { limit: 1 }, expect: "\"success\":true" })
  return server
})

const callOf = ({ args, expect, tool }: Question, target: Target) => ({ tool, args: args(target), expect })

/** Asks all questions once, so that the compiled code of our server is in its cache, as for a user. */
const warmUp = Effect.fnUntraced(function*(questions: ReadonlyArray<Question>, target: Target, home: string) {
  const server = yield* start("ours", target, home)
  for (const question of questions) yield* server.call(callOf(question, target))
  yield* server.end
}, Effect.scoped)

const measure = Effect.fnUntraced(function*(name: Name, question: Question, target: Target, home: string) {
  const server = yield* start(name, target, home)
  const ask = Effect.gen(function*() {
    const { cpuMillis: before = 0 } = yield* server.usage
    const { millis } = yield* server.call(callOf(question, target))
    const { cpuMillis: after = 0 } = yield* server.usage
    return { wall: millis, cpu: after - before } satisfies Cost
  })
  const first = yield* ask
  const again = name === "ours" ? yield* ask : first
  const { peak = 0 } = yield* server.usage
  return { first, again, peak } satisfies Sample
}, Effect.scoped)

interface Row extends Question {
  readonly about: string
  readonly ours: Sample
  readonly plain: Sample
}

const middle = (samples: ReadonlyArray<Sample>): Sample => {
  const of = (cost: (sample: Sample) => number) => median(samples.map(cost))
  return {
    first: { wall: of(({ first }) => first.wall), cpu: of(({ first }) => first.cpu) },
    again: { wall: of(({ again }) => again.wall), cpu: of(({ again }) => again.cpu) },
    peak: Math.max(...samples.map(({ peak }) => peak))
  }
}

const compared = Effect.fnUntraced(function*(
  about: string,
  question: Question,
  target: Target,
  home: string,
  rounds: number
) {
  const samples: { readonly [K in Name]: Array<Sample> } = { ours: [], plain: [] }
  for (let round = 0; round < rounds; round++) {
    for (const name of inTurn(["ours", "plain"] as const, round)) {
      samples[name].push(yield* measure(name, question, target, home))
    }
  }
  const row: Row = { ...question, about, ours: middle(samples.ours), plain: middle(samples.plain) }
  const ratio = format(row.ours.first.wall / row.plain.first.wall, 2)
  yield* say(`${about}, ${question.name}: ${ratio} x, ${format(row.ours.peak, 0)} MB`)
  return row
})

const draw = (rows: ReadonlyArray<Row>) =>
  table(
    ["ms (of processor)", "plain way", "this server", "÷", "(of processor)", "again", "peak, MB", "plain way's"],
    rows.map(({ about, name, ours, plain }) => [
      `${about}: ${name}`,
      ...[plain.first, ours.first].map(({ cpu, wall }) => `${format(wall, 0)} (${format(cpu, 0)})`),
      format(ours.first.wall / plain.first.wall, 2),
      format(ours.first.cpu / plain.first.cpu, 2),
      `${format(ours.again.wall, 0)} (${format(ours.again.cpu, 0)})`,
      format(ours.peak, 0),
      format(plain.peak, 0)
    ])
  )

const criteria = (rows: ReadonlyArray<Row>) =>
  rows.flatMap(({ about, name, ours, plain }) => [
    atMost(`${about}, ${name}: ÷ the plain way`, ours.first.wall / plain.first.wall, 2, 1.3),
    atMost(`${about}, ${name}: again, in s`, ours.again.wall / 1_000, 2, 1),
    atMost(`${about}, ${name}: peak in MB`, ours.peak, 0, 250)
  ])

const runs = Command.make(
  "runs",
  {
    quick: quick("Three rounds instead of five"),
    only: Flag.String("only").pipe(Flag.withDescription("Only questions with this text"), Flag.withDefault(""))
  },
  Effect.fnUntraced(function*({ only, quick }) {
    const before = machine()
    const isReal = process.env["N8N_URL"] !== undefined
    const fs = yield* FileSystem.FileSystem
    const home = yield* fs.makeTempDirectoryScoped({ prefix: "bench-runs-" })
    const target = yield* isReal ? real : stub(home)
    const questions = Object.entries(all).flatMap(([about, own]) => own.map((question) => [about, question] as const))
      .filter(([about, { name }]) => `${about}, ${name}`.includes(only))
    yield* warmUp(questions.map(([, question]) => question), target, home)
    const rows = yield* Effect.forEach(
      questions,
      ([about, question]) => compared(about, question, target, home, quick ? 3 : 5)
    )
    const head = `${before}; n8n ${
      isReal ? target.url.origin : "a stub"
    }; ${connections} connections; medians, greatest peaks`
    yield* finish([head, draw(rows)], criteria(rows))
  }, Effect.scoped)
).pipe(Command.withDescription("Measure questions about large executions, and many"))

main(runs)
