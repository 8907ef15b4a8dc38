/** What is measured under load: speed beside a bare server in turns, and memory over many calls. */
import * as Effect from "effect/Effect"
import { obj, str } from "../../../src/base/Json.ts"
import { BenchError } from "../BenchError.ts"
import type { Usage } from "../McpProcess.ts"
import { inTurn } from "../results.ts"
import * as clients from "./clients.ts"
import type { HttpProcess } from "./HttpProcess.ts"

/** How much of everything. */
export interface Plan {
  readonly clients: number
  /** Calls of each client in a round; both servers have their turn in each. */
  readonly calls: number
  readonly rounds: number
  /** Rounds of each server before that, uncounted: a server that runs for days is compiled. */
  readonly warmups: number
  /** Calls between two looks at the memory, and looks. */
  readonly step: number
  readonly steps: number
  /** Calls given up, and calls with an event stream. */
  readonly odd: number
}

const failed = (step: string, errors: ReadonlyArray<string>) =>
  new BenchError({ step, detail: `${errors.length} errors, the first: ${errors[0]}` })

const promised = <A>(step: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (error) => new BenchError({ step, detail: String(error) }) }).pipe(
    Effect.timeoutOrElse({
      duration: "10 minutes",
      orElse: () => Effect.fail(new BenchError({ step, detail: "not done in 10 minutes" }))
    })
  )

const ok = "\"success\":true"

/** What our server is asked for: find a workflow, and why its run failed. */
const messages = (
  { era = "2025-11-25", token }: { readonly era?: clients.Era; readonly token?: string } = {}
): ReadonlyArray<clients.Message> =>
  ([
    ["list_workflows", {}],
    ["list_executions", { status: "error" }],
    ["get_execution", { id: "239" }],
    ["get_execution_by_node", { id: "239", nodeName: "Upsert CRM contact" }]
  ] as const).map(([name, args]) =>
    clients.toolCall(name, args, ok, { era, ...(token === undefined ? {} : { token }) })
  )

/** What the stub was asked since the last time. */
const asked = ({ port }: HttpProcess) =>
  promised("asking the stub", () => fetch(`http://127.0.0.1:${port}/asked`).then((response) => response.json())).pipe(
    Effect.map((paths) => paths as ReadonlyArray<string>)
  )

/** The bare server's turn at answers of the same sizes, for which it asks n8n as often as ours does once it is warm. */
const bareMessages = Effect.fn("measure.bareMessages")(function*(ours: HttpProcess, n8n: HttpProcess) {
  const agent = clients.connections(1)
  const call = (message: clients.Message) => promised("a first call", () => clients.post(ours.port, agent, message))
  return yield* Effect.forEach(messages(), (message) =>
    Effect.gen(function*() {
      yield* call(message)
      yield* asked(n8n)
      const { content } = obj(obj(JSON.parse(yield* call(message)))?.["result"]) ?? {}
      const size = str(obj(Array.isArray(content) ? content[0] : undefined)?.["text"])?.length ?? 0
      return clients.toolCall("text", { size, paths: yield* asked(n8n) }, "xxxx")
    }))
})

/** One server's calls. */
export interface Side {
  readonly calls: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** Processor time of a call, in milliseconds. */
  readonly cpuMillis: number | undefined
  readonly peak: number | undefined
  readonly errors: number
}

const at = (sorted: ReadonlyArray<number>, part: number) => sorted[Math.floor((sorted.length - 1) * part)] ?? 0

const between = (before: Usage, after: Usage) =>
  before.cpuMillis === undefined || after.cpuMillis === undefined ? undefined : after.cpuMillis - before.cpuMillis

const sided = Effect.fn("measure.sided")(
  function*(server: HttpProcess, before: Usage, all: ReadonlyArray<clients.Outcome>) {
    const after = yield* server.usage
    const errors = all.flatMap((outcome) => outcome.errors)
    if (errors.length > 0) return yield* failed(server.title, errors)
    const millis = all.flatMap((outcome) => outcome.millis).toSorted((a, b) => a - b)
    const cpu = between(before, after)
    return {
      calls: millis.length,
      perSecond: millis.length / all.reduce((sum, { seconds }) => sum + seconds, 0),
      p50: at(millis, 0.5),
      p99: at(millis, 0.99),
      cpuMillis: cpu === undefined ? undefined : cpu / millis.length,
      peak: after.peak,
      errors: errors.length
    } satisfies Side
  }
)

/** The servers under load; all ask the same n8n. */
export interface Servers {
  readonly ours: HttpProcess
  readonly bare: HttpProcess
  readonly minimal: HttpProcess
  readonly n8n: HttpProcess
}

/** The servers in turns, ours in an era of MCP, after some rounds of each to warm up. */
export const speed = Effect.fn("measure.speed")(
  function*({ bare, minimal, n8n, ours }: Servers, plan: Plan, era: clients.Era) {
    const same = yield* bareMessages(ours, n8n)
    const side = (server: HttpProcess, wanted: ReadonlyArray<clients.Message>) => {
      const agent = clients.connections(plan.clients)
      const outcomes: Array<clients.Outcome> = []
      const turn = promised(server.title, () => clients.run(server.port, agent, plan, wanted))
      return { agent, outcomes, turn, after: (before: Usage) => sided(server, before, outcomes) }
    }
    const sides = { ours: side(ours, messages({ era })), bare: side(bare, same), minimal: side(minimal, same) }
    const all = Object.values(sides)
    for (let round = 0; round < plan.warmups; round++) for (const { turn } of all) yield* turn
    const before = { ours: yield* ours.usage, bare: yield* bare.usage, minimal: yield* minimal.usage }
    for (let round = 0; round < plan.rounds; round++) {
      for (const { outcomes, turn } of inTurn(all, round)) outcomes.push(yield* turn)
    }
    for (const { agent } of all) agent.destroy()
    return {
      ours: yield* sides.ours.after(before.ours),
      bare: yield* sides.bare.after(before.bare),
      minimal: yield* sides.minimal.after(before.minimal)
    }
  }
)

/** The tokens of two callers of one server. */
export const tokens = { quick: "the-quick-caller-of-the-bench", slow: "the-slow-caller-of-the-bench" }

/** The 99th percentile of one caller alone, and beside fifty slow calls of another. */
export const fairness = Effect.fn("measure.fairness")(function*(shared: HttpProcess, plan: Plan) {
  const quick = messages({ token: tokens.quick })
  const [own, others] = [clients.connections(4), clients.connections(50)]
  const turn = promised("fairness", () => clients.run(shared.port, own, { clients: 4, calls: plan.calls * 25 }, quick))
    .pipe(
      Effect.filterOrFail(({ errors }) => errors.length === 0, ({ errors }) => failed("fairness", errors)),
      Effect.map(({ millis }) => at(millis.toSorted((a, b) => a - b), 0.99))
    )
  const slow = clients.toolCall("list_executions", { workflowId: "slow" }, ok, { token: tokens.slow })
  yield* turn
  const alone = yield* turn
  const beside = yield* Effect.raceFirst(
    turn,
    Effect.forever(
      promised("slow calls", () => clients.run(shared.port, others, { clients: 50, calls: 1 }, [slow])).pipe(
        Effect.filterOrFail(({ errors }) => errors.length === 0, ({ errors }) => failed("slow calls", errors))
      )
    )
  )
  for (const agent of [own, others]) agent.destroy()
  return { alone, beside }
})

/** Resident megabytes after each part of many calls. */
export const memory = Effect.fn("measure.memory")(function*(ours: HttpProcess, plan: Plan) {
  const agent = clients.connections(plan.clients)
  const calls = (count: number, wanted: ReadonlyArray<clients.Message>) =>
    promised("memory", () => clients.run(ours.port, agent, { ...plan, calls: Math.ceil(count / plan.clients) }, wanted))
      .pipe(
        Effect.filterOrFail(({ errors }) => errors.length === 0, ({ errors }) => failed("memory", errors)),
        Effect.andThen(ours.usage),
        Effect.map(({ memory }) => memory)
      )
  const plain: Array<number | undefined> = []
  for (let step = 0; step < plan.steps; step++) plain.push(yield* calls(plan.step, messages()))
  const [, message] = messages()
  if (message !== undefined) {
    const each = { ...plan, calls: Math.ceil(plan.odd / plan.clients) }
    const fleeting = clients.connections(plan.clients)
    yield* promised("aborting", () => clients.runAborting(ours.port, fleeting, each, message))
    fleeting.destroy()
  }
  // a counter of calls in flight that leaks would refuse these
  const aborted = yield* calls(plan.step, messages())
  const streamed = yield* calls(plan.odd, [
    clients.toolCall("get_execution", { id: "239" }, "data: {", { meta: { progressToken: "load" } })
  ])
  agent.destroy()
  return { plain, aborted, streamed }
})

/** What the measurements gave. */
export interface Results {
  readonly fairness: Effect.Success<ReturnType<typeof fairness>>
  readonly speed: Readonly<Record<clients.Era, Effect.Success<ReturnType<typeof speed>>>>
  readonly memory: Effect.Success<ReturnType<typeof memory>>
}
