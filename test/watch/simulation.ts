/** Days of an n8n in memory with workflows of many kinds, for a watch. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as Documents from "../../src/base/Documents.ts"
import type { Obj } from "../../src/base/Json.ts"
import * as Executions from "../../src/executions/Executions.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as Watch from "../../src/watch/Watch.ts"
import { random } from "../support/random.ts"
import { main, node, workflow } from "../support/workflows.ts"

export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour

export const iso = (time: number) => new Date(time).toISOString()

/** Run to come. */
export interface Planned {
  readonly workflow: FakeN8n.Workflow
  readonly at: number
  readonly ms: number
  readonly mode: string
  readonly status?: string
  readonly message?: string
  readonly items?: number
  readonly version?: string
}

/** Published workflow of a trigger and a Code node. */
export const published = (id: string, trigger: ReturnType<typeof node>, more: Obj = {}) =>
  workflow(id, [trigger, node("Work", "code", 2)], {
    active: true,
    connections: { [trigger.name]: main("Work") },
    ...more
  })

/** Trigger by a cron expression. */
export const cron = (expression: string) =>
  node("Schedule", "scheduleTrigger", 1.2, { rule: { interval: [{ field: "cronExpression", expression }] } })

export const webhook = node("Webhook", "webhook", 2, { path: "p" })

/** Execution as n8n lists it at a time: running before its end. */
const executionAt = (
  { at, items = 1, message, mode, ms, status = "success", version, workflow }: Planned,
  id: string,
  now: number
) => {
  const isOver = at + ms <= now
  const times = {
    id,
    mode,
    status: isOver ? status : "running",
    startedAt: iso(at),
    stoppedAt: isOver ? iso(at + ms) : null
  }
  if (!isOver) return { workflowId: workflow.id, finished: false, waitTill: null, ...times }
  return {
    ...message === undefined
      ? FakeN8n.succeededExecution({ workflow, items: { Work: Array.from({ length: items }, () => ({ a: 1 })) } })
      : FakeN8n.failedExecution({ workflow, node: "Work", message }),
    ...times,
    ...version === undefined ? {} : { workflowVersionId: version }
  }
}

/** Runs that appear on n8n as time passes; ids are in the order of the starts. */
export const player = (runs: ReadonlyArray<Planned>, firstId = 1) => {
  const sorted = runs.toSorted((a, b) => a.at - b.at)
  let position = 0
  const running = new Map<string, Planned>()
  return Effect.gen(function*() {
    const fake = yield* FakeN8n.FakeN8n
    const now = yield* Clock.currentTimeMillis
    for (const [id, run] of running) {
      if (run.at + run.ms > now) continue
      running.delete(id)
      yield* fake.addExecution(executionAt(run, id, now))
    }
    for (let run = sorted[position]; run !== undefined && run.at <= now; run = sorted[++position]) {
      const id = String(firstId + position)
      if (run.at + run.ms > now) running.set(id, run)
      yield* fake.addExecution(executionAt(run, id, now))
    }
  })
}

export const layer = (seed: Parameters<typeof FakeN8n.layer>[0], options: Parameters<typeof FakeN8n.layer>[1] = {}) =>
  Layer.mergeAll(FakeN8n.layer(seed, options), Executions.layer(), Documents.layerMemory)

/** Polls and confirms the delivery. */
export const poll = (options: Partial<Watch.Options> = {}) =>
  Effect.tap(Watch.poll({ every: minute, zone: "UTC", ...options }), (report) => Watch.settle(report, true))

/** Polls once a minute until a time; `play` shows n8n's runs before each. Returns the reports. */
const pollUntil = Effect.fnUntraced(function*<E, R>(
  end: number,
  play: Effect.Effect<void, E, R>,
  options: Partial<Watch.Options> = {}
) {
  const reports: Array<Watch.Report & { readonly time: number }> = []
  for (let time = yield* Clock.currentTimeMillis; time < end; time += options.every ?? minute) {
    yield* TestClock.setTime(time)
    yield* play
    reports.push({ ...yield* poll(options), time })
  }
  return reports
})

/** Runs of a cron-like rule: each `every` ms at an offset, with chosen seconds and durations. */
const regular = (
  workflow: FakeN8n.Workflow,
  pick: (below: number) => number,
  { every, from, ms, offset = 0, to }: {
    readonly every: number
    readonly offset?: number
    readonly ms: number
    readonly from: number
    readonly to: number
  }
): ReadonlyArray<Planned> => {
  const runs: Array<Planned> = []
  for (let at = Math.ceil((from - offset) / every) * every + offset; at < to; at += every) {
    runs.push({ workflow, at: at + 7_000 + pick(900), ms: Math.round(ms * (0.7 + pick(600) / 1000)), mode: "trigger" })
  }
  return runs
}

/** Runs at random times, most of them in working hours. */
const irregular = (
  workflow: FakeN8n.Workflow,
  pick: (below: number) => number,
  { from, mean, mode, ms, to }: {
    readonly mean: number
    readonly mode: string
    readonly ms: number
    readonly from: number
    readonly to: number
  }
): ReadonlyArray<Planned> => {
  const runs: Array<Planned> = []
  for (let at = from; at < to;) {
    const hourOfDay = new Date(at).getUTCHours()
    const factor = hourOfDay > 7 && hourOfDay < 18 ? 1 : 4
    at += Math.max(500, Math.round(-Math.log((pick(9_999) + 1) / 10_000) * mean * factor))
    if (at < to) runs.push({ workflow, at, ms: Math.round(ms * (0.5 + pick(1_000) / 1000)), mode })
  }
  return runs
}

/** About sixty workflows of many kinds, with their runs from a time to another. */
export const instance = (seed: number, from: number, to: number) => {
  const pick = random(seed)
  const span = { from, to }
  const all: Array<readonly [FakeN8n.Workflow, ReadonlyArray<Planned>]> = []
  const name = (kind: string, index: number) =>
    `${["Orders", "Rechnungen", "在庫", "CRM, sync"][index % 4]} ${kind} ${index}`
  for (let index = 0; index < 12; index++) {
    const every = [5, 10, 15, 30, 60, 60][index % 6] as number
    const own = published(name("every", index), cron(every === 60 ? "0 * * * *" : `*/${every} * * * *`))
    all.push([own, regular(own, pick, { ...span, every: every * minute, ms: 1_000 * (1 + index) })])
  }
  for (let index = 0; index < 8; index++) {
    const at = index * 3
    const own = published(name("daily", index), cron(`15 ${at} * * *`))
    all.push([own, regular(own, pick, { ...span, every: day, offset: at * hour + 15 * minute, ms: 20_000 })])
  }
  for (let index = 0; index < 18; index++) {
    const own = published(name("webhook", index), webhook)
    all.push([own, irregular(own, pick, { ...span, mean: (20 + 10 * index) * minute, mode: "webhook", ms: 400 })])
  }
  for (let index = 0; index < 10; index++) {
    const trigger = node("Mail", "gmailTrigger", 1.2, { pollTimes: { item: [{ mode: "everyMinute" }] } })
    const own = published(name("polling", index), trigger)
    all.push([own, irregular(own, pick, { ...span, mean: (60 + 30 * index) * minute, mode: "trigger", ms: 2_000 })])
  }
  for (let index = 0; index < 6; index++) {
    const own = published(name("slow", index), cron("0 */4 * * *"))
    all.push([own, regular(own, pick, { ...span, every: 4 * hour, ms: (2 + 2 * index) * minute })])
  }
  for (let index = 0; index < 6; index++) {
    const own = workflow(name("manual", index), [node("Go", "manualTrigger"), node("Work", "code", 2)], {
      connections: { Go: main("Work") }
    })
    all.push([own, irregular(own, pick, { ...span, mean: 5 * hour, mode: "manual", ms: 30_000 })])
  }
  const runs = all.flatMap(([, own]) => own).map((run): Planned =>
    pick(20) === 0
      ? { ...run, status: "error", message: `${["card", "address"][pick(2)]} ${pick(1e6)} was refused` }
      : { ...run, items: 1 + pick(20) }
  )
  return { workflows: all.map(([own]) => own), runs }
}

const dayStart = Date.parse("2026-03-02T08:00:30Z")

/** Watches a mixed instance for some hours; `causes` are those that its runs failed for. */
export const watchDay = (seed: number, hours: number) => {
  const end = dayStart + hours * hour
  const { runs, workflows } = instance(seed, dayStart - day, end)
  const causeOf = (id: string, text = "") => `${id} ${/card|address/.exec(text)?.[0] ?? text}`
  return Effect.gen(function*() {
    yield* TestClock.setTime(dayStart)
    const reports = yield* pollUntil(end, player(runs))
    const incidents = reports.flatMap((report) => report.incidents)
    const sent = reports.slice(1).map(({ requests }) => requests)
    const causes = runs.flatMap(({ at, message, mode, ms, workflow }) =>
      at + ms > dayStart && at + ms <= end - minute && message !== undefined && mode !== "manual"
        ? [causeOf(workflow.id, message)]
        : []
    )
    return {
      others: incidents.filter(({ kind }) => kind !== "failed"),
      failed: incidents.flatMap(({ kind, what, workflowId }) =>
        kind === "failed" ? [causeOf(workflowId ?? "", what)] : []
      )
        .toSorted(),
      causes: [...new Set(causes)].toSorted(),
      unknown: reports.flatMap((report) => report.unknown),
      most: Math.max(...sent),
      perPoll: sent.reduce((sum, requests) => sum + requests, 0) / sent.length
    }
  }).pipe(Effect.provide(layer({ workflows, executions: [] })))
}
