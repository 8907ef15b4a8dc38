/** A week of an n8n with planted incidents, and the weeks before it as its usual behaviour: data for any time. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { type Obj, obj } from "../../../src/base/Json.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import type { Health } from "../../../src/watch/Health.ts"
import type { Incident } from "../../../src/watch/Incident.ts"
import { cron, day, hour, iso, layer as memory, minute } from "../../watch/simulation.ts"
import { random } from "../random.ts"
import { main, node } from "../workflows.ts"

/** Circumstances of a week. */
export interface Options {
  /** Its end, epoch milliseconds. */
  readonly now: number
  /** Time zone of n8n itself. */
  readonly zone: string
  /** Time at which New York's clocks change in this week, if they do: there is a hole around it then. */
  readonly change?: number
}

/** The week of New York's last clock change of 2026. */
export const november: Options = {
  now: Date.parse("2026-11-04T12:00:00Z"),
  zone: "Europe/Berlin",
  change: Date.parse("2026-11-01T06:00:00Z")
}

/** Version of a workflow in the week: the second is published in it. */
export type Version = 1 | 2

/** Run to store. Milliseconds are those before, in and after its nodes. */
export interface Planned {
  readonly workflow: string
  readonly version: Version
  readonly at: number
  readonly before: number
  readonly fetch: number
  readonly work: number
  readonly after: number
  readonly items: number
  /** Message of its failure, and the node that failed. */
  readonly failure?: { readonly node: "Fetch" | "Work"; readonly message: string }
}

/** Workflow of the week. */
export interface Plan {
  readonly key: string
  readonly name: string
  /** Time zone of its own. */
  readonly zone?: string
  readonly tags: ReadonlyArray<string>
  readonly trigger: ReturnType<typeof node>
  /** Time of its second version. */
  readonly changedAt?: number
  /** Code of its last node in each version. */
  readonly code: Readonly<Record<Version, string>>
}

/** Incident that is planted in the week. Times are epoch milliseconds. */
export interface Planted {
  readonly workflow: string
  readonly kind: Incident["kind"]
  /** First occurrence in the week. */
  readonly from: number
  /** First occurrence of all, if that is before the week. */
  readonly earliest?: number
  /** Last occurrence; absent where that depends on which runs were read. */
  readonly to?: number
  readonly count?: number
  readonly isOver?: boolean
  /** Version that the cause names; `null` if none is to blame. */
  readonly version?: Version | null
}

const week = 7 * day

/** Beginning of the stored runs, as milliseconds before the end: two whole weeks before any silence in it. */
const history = 17 * day

/** Time on the clocks of a zone. */
const localOf = (time: number, zone: string) => {
  const zoned = DateTime.makeZonedUnsafe(time, { timeZone: zone })
  const { hour, minute } = DateTime.toParts(zoned)
  return { date: DateTime.formatIsoDate(zoned), hour, minute, offset: DateTime.zonedOffsetIso(zoned) }
}

/** Item of a Schedule Trigger, as n8n records it. */
const triggerItem = (at: number, zone: string): Obj => {
  const { date, hour, minute, offset } = localOf(at, zone)
  const two = (value: number) => String(value).padStart(2, "0")
  return { timestamp: `${date}T${two(hour)}:${two(minute)}:00.004${offset}`, Timezone: `${zone} (UTC${offset})` }
}

const passes = "return $input.all()"

/** Workflows, runs and planted incidents of a week; the judged runs are those from `since` on. */
export const make = ({ change, now, zone }: Options) => {
  const [since, from] = [now - week, now - history]
  const pick = random(20_261_104)
  /** Minute of all schedules, so that the last start is past by some minutes, and so is the next one. */
  const first = (new Date(now).getUTCMinutes() + 8) % 15
  const newYork = "America/New_York"
  /** Starts at hours and quarters of a zone's clocks. */
  const starts = (zone: string, isHour: (hour: number) => boolean, quarters: ReadonlyArray<number> = [0]) => {
    const times: Array<number> = []
    const begin = Math.ceil((from - first * minute) / (15 * minute)) * 15 * minute + first * minute
    for (let at = begin; at < now; at += 15 * minute) {
      const local = localOf(at, zone)
      if (isHour(local.hour) && quarters.includes((local.minute - first) / 15)) times.push(at)
    }
    return times
  }
  const plans: Array<Plan> = []
  const runs: Array<Planned> = []
  const planted: Array<Planted> = []
  /** Adds a workflow with a run at each of the times; `shape` changes some. */
  const add = (
    plan: Pick<Plan, "key" | "name"> & Partial<Plan>,
    times: ReadonlyArray<number>,
    shape: (at: number, index: number) => Partial<Planned> = () => ({})
  ) => {
    const second = (3 + 4 * plans.length) * 1_000
    plans.push({ trigger: cron("0 0 * * *"), tags: [], code: { 1: passes, 2: `${passes} // 2` }, ...plan })
    for (const [index, at] of times.entries()) {
      const vary = (ms: number) => Math.round(ms * (0.85 + pick(300) / 1000))
      const { after = 40, before = 200, fetch = 2_000, work = 300, ...more } = shape(at, index)
      runs.push({
        workflow: plan.key,
        version: plan.changedAt !== undefined && at >= plan.changedAt ? 2 : 1,
        at: at + second + pick(900),
        before: vary(before),
        fetch: vary(fetch),
        work: vary(work),
        after: vary(after),
        items: 3,
        ...more
      })
    }
  }
  /** Runs of a workflow in a span of starts; a run starts within its minute. */
  const startedIn = (key: string, from: number, to: number) =>
    runs.filter(({ at, workflow }) => workflow === key && at >= from && at <= to + minute).map(({ at }) => at)
  const ends = (times: ReadonlyArray<number>) => ({ from: times[0] ?? NaN, to: times.at(-1) ?? NaN })
  const without = (times: ReadonlyArray<number>, hole: ReadonlyArray<number>) =>
    times.filter((time) => !hole.includes(time))
  const missed = (workflow: string, hole: ReadonlyArray<number>) =>
    planted.push({ workflow, kind: "missed", ...ends(hole), count: hole.length, isOver: true })

  const daily = starts("Asia/Tokyo", (hour) => hour === 9, [2])
  const dailyHole = daily.filter((at) => at >= since).slice(2, 5)
  add(
    { key: "tokyo", name: "在庫の夜間同期", zone: "Asia/Tokyo", trigger: cron(`${first + 30} 9 * * *`) },
    without(daily, dailyHole)
  )
  missed("tokyo", dailyHole)

  const isMorning = (hour: number) => hour >= 8 && hour < 12
  const quarters = starts(zone, isMorning, [0, 1, 2, 3])
  const mornings = [...Map.groupBy(quarters.filter((at) => at >= since), (at) => localOf(at, zone).date).values()]
    .filter(({ length }) => length === 16)
  const quarterHole = mornings[4]?.slice(3, 11) ?? []
  const outage = ends(mornings[1]?.slice(2, 14) ?? [])
  const refused = {
    node: "Fetch",
    message: "The service refused the connection - perhaps it is offline (ECONNREFUSED rates.example.com:443)"
  } as const
  const duringOutage = (at: number): Partial<Planned> =>
    at >= outage.from && at <= outage.to ? { failure: refused } : {}
  add(
    { key: "quarters", name: "CRM, sync", trigger: cron(`${first}-59/15 8-11 * * *`) },
    without(quarters, quarterHole),
    duringOutage
  )
  missed("quarters", quarterHole)

  const hourly = starts(newYork, () => true)
  const hourlyHole = hourly.filter((at) => at >= outage.from + 30 * hour).slice(0, 5)
  add(
    { key: "hourly", name: "Orders to ERP", zone: newYork, trigger: cron(`${first} * * * *`) },
    without(hourly, hourlyHole),
    duringOutage
  )
  missed("hourly", hourlyHole)
  for (const workflow of ["quarters", "hourly"]) {
    const failed = startedIn(workflow, outage.from, outage.to)
    planted.push({ workflow, kind: "failed", ...ends(failed), count: failed.length, isOver: true, version: null })
  }

  const odd = starts(newYork, (hour) => hour % 2 === 1)
  const oddHole = change === undefined ? [] : odd.filter((at) => Math.abs(at - change) <= 9 * hour)
  add(
    { key: "clocks", name: "Zeitumstellung & Uhren", zone: newYork, trigger: cron(`${first} 1-23/2 * * *`) },
    without(odd, oddHole)
  )
  // Releases of n8n differ within an hour of the change.
  if (change !== undefined) missed("clocks", oddHole.filter((at) => Math.abs(at - change) > 61 * minute))

  const every = (hours: number, rest: number) => starts(zone, (hour) => hour % hours === rest)
  const brokenAt = now - 3 * day - 40 * minute
  add(
    {
      key: "broken",
      name: "請求書の送信",
      trigger: cron(`${first} */3 * * *`),
      changedAt: brokenAt,
      code: { 1: passes, 2: "return [{ json: { amount: $input.first().json.order.amount } }]" }
    },
    every(3, 0),
    (at) =>
      at < brokenAt
        ? {}
        : { failure: { node: "Work", message: "Cannot read properties of undefined (reading 'amount')" } }
  )
  const broken = startedIn("broken", brokenAt, now)
  planted.push({ workflow: "broken", kind: "failed", ...ends(broken), count: broken.length, isOver: false, version: 2 })

  const flaky = every(3, 1)
  const isFlaky = (index: number) => index % 5 === 2
  add(
    {
      key: "flaky",
      name: "Reports to sheet",
      trigger: cron(`${first} 1-23/3 * * *`),
      changedAt: now - 4 * day - 20 * minute
    },
    flaky,
    (_, index) => isFlaky(index) ? { failure: { node: "Fetch", message: "The sheet's quota is exceeded" } } : {}
  )
  const flakyRuns = startedIn("flaky", from, now).filter((_, index) => isFlaky(index))
  const flakyNow = flakyRuns.filter((at) => at >= since)
  planted.push({
    workflow: "flaky",
    kind: "failed",
    ...ends(flakyNow),
    earliest: ends(flakyRuns).from,
    count: flakyNow.length,
    version: null
  })

  const slowAt = now - 60 * hour
  add({ key: "node", name: "Rechnungen laden", trigger: cron(`${first} */4 * * *`) }, every(4, 0), (at) => ({
    fetch: at < slowAt ? 20_000 : 200_000
  }))
  add({ key: "queue", name: "Newsletter", trigger: cron(`${first} 2-23/4 * * *`) }, every(4, 2), (at) => ({
    fetch: 3_000,
    before: at < slowAt ? 2_000 : 90_000
  }))
  for (const workflow of ["node", "queue"]) {
    const slow = startedIn(workflow, slowAt, now)
    planted.push({ workflow, kind: "slow", ...ends(slow), count: slow.length, isOver: false })
  }

  const emptyAt = now - 2 * day - 30 * minute
  add(
    {
      key: "empty",
      name: "得意先マスタ連携",
      trigger: cron(`${first} */6 * * *`),
      changedAt: emptyAt,
      code: { 1: passes, 2: "return []" }
    },
    every(6, 0),
    (at) => at < emptyAt ? {} : { items: 0 }
  )
  planted.push({
    workflow: "empty",
    kind: "empty",
    from: ends(startedIn("empty", emptyAt, now)).from,
    isOver: false,
    version: 2
  })

  const calls = Array.from(
    { length: Math.floor((history - 30 * hour) / hour) },
    (_, index) => from + index * hour + pick(50) * minute
  )
  add({ key: "webhook", name: "注文 Webhook", trigger: node("Schedule", "webhook", 2, { path: "week-orders" }) }, calls)
  planted.push({ workflow: "webhook", kind: "silent", from: ends(startedIn("webhook", from, now)).to, isOver: false })

  add(
    { key: "off", name: "Experiments", tags: ["watch: off"], trigger: cron(`${first} 3-23/6 * * *`) },
    every(6, 3),
    (_, index) => index % 2 === 0 ? { failure: { node: "Work", message: "Not yet" } } : {}
  )
  add(
    { key: "healthy", name: "Lagerbestand", trigger: cron(`${first},${first + 30} 8-11 * * *`) },
    starts(zone, isMorning, [0, 2])
  )

  return { since, now, zone, plans, runs: runs.toSorted((a, b) => a.at - b.at), planted, publishedAt: now - 40 * day }
}

export type Week = ReturnType<typeof make>

/** Workflow of the week on an n8n, with the ids of its versions if n8n has any. */
export interface Installed {
  readonly plan: Plan
  readonly id: string
  readonly workflows: Readonly<Record<Version, FakeN8n.Workflow>>
  readonly versions: { readonly [version in Version]?: string }
}

const bodyOf = ({ code, name, trigger, zone }: Plan, version: Version, path: string) => ({
  name,
  nodes: [
    { ...trigger, ...trigger.parameters["path"] === undefined ? {} : { parameters: { path }, webhookId: path } },
    node("Fetch", "code", 2, { jsCode: passes }),
    node("Work", "code", 2, { jsCode: code[version] })
  ],
  connections: { [trigger.name]: main("Fetch"), Fetch: main("Work") },
  settings: { saveDataSuccessExecution: "all", ...zone === undefined ? {} : { timezone: zone } }
})

/** Creates and publishes the workflows with their versions, in the order of their times; `at` runs before each step. */
export const install = Effect.fnUntraced(function*(
  { plans, publishedAt }: Week,
  at: (time: number) => Effect.Effect<void> = () => Effect.void
) {
  const n8n = yield* N8nClient
  const isV2 = (yield* n8n.release)?.startsWith("1.") !== true
  const created = new Map<string, Installed>()
  yield* at(publishedAt)
  for (const plan of plans) {
    const path = `week-${crypto.randomUUID()}`
    const [one, two] = [bodyOf(plan, 1, path), bodyOf(plan, 2, path)]
    const { id } = yield* n8n.createWorkflow(one as never)
    if (plan.tags.length > 0) yield* n8n.setWorkflowTags(id, plan.tags)
    const { versionId } = yield* n8n.publishWorkflow(id)
    created.set(plan.key, {
      plan,
      id,
      workflows: { 1: { id, ...one }, 2: { id, ...two } },
      versions: isV2 && typeof versionId === "string" ? { 1: versionId } : {}
    })
  }
  const changed = plans.flatMap((plan) => plan.changedAt === undefined ? [] : [{ plan, time: plan.changedAt }])
  for (const { plan, time } of changed.toSorted((a, b) => a.time - b.time)) {
    const installed = created.get(plan.key)
    if (installed === undefined) continue
    yield* at(time)
    const { id: _, ...body } = installed.workflows[2]
    yield* n8n.putWorkflow(installed.id, body)
    const { versionId } = yield* n8n.publishWorkflow(installed.id)
    const versions = isV2 && typeof versionId === "string" ? { ...installed.versions, 2: versionId } : {}
    created.set(plan.key, { ...installed, versions })
  }
  return created as ReadonlyMap<string, Installed>
})

/** Execution of a run as n8n returns it. */
export const executionOf = (
  { after, at, before, failure, fetch, items, version, work }: Planned,
  { id, plan, versions, workflows }: Installed,
  executionId: string,
  zone: string
): FakeN8n.NewExecution & { readonly startedAt: string; readonly stoppedAt: string } => {
  const workflow = workflows[version]
  const list = Array.from({ length: failure?.node === "Fetch" ? 0 : items }, (_, index) => ({ no: index + 1 }))
  const isCalled = plan.trigger.type.endsWith(".webhook")
  const built = {
    workflow,
    id: executionId,
    startedAt: iso(at),
    items: {
      Schedule: [isCalled ? { headers: {}, body: {} } : triggerItem(at, plan.zone ?? zone)],
      Fetch: Array.from({ length: 3 }, (_, index) => ({ no: index + 1 })),
      Work: list
    }
  }
  const base = failure === undefined
    ? FakeN8n.succeededExecution(built)
    : FakeN8n.failedExecution({ ...built, ...failure })
  const data = obj(base["data"]) ?? {}
  const result = obj(data["resultData"]) ?? {}
  let start = at + before
  const runData = Object.entries(obj(result["runData"]) ?? {}).map(([name, runs]) => {
    const executionTime = name === "Fetch" ? fetch : name === "Work" ? work : 1
    const startTime = start
    start += executionTime
    return [name, (runs as ReadonlyArray<Obj>).map((run) => ({ ...run, startTime, executionTime }))] as const
  })
  return {
    ...base,
    mode: isCalled ? "webhook" : "trigger",
    startedAt: iso(at),
    createdAt: iso(at),
    stoppedAt: iso(start + after),
    ...versions[version] === undefined ? {} : { workflowVersionId: versions[version] },
    data: { ...data, resultData: { ...result, runData: Object.fromEntries(runData) } },
    workflowData: { ...obj(base["workflowData"]), id, active: true }
  }
}

/** All runs of the week as n8n returns them; ids count in the order of their starts. */
export const executions = ({ runs, zone }: Week, installed: ReadonlyMap<string, Installed>, firstId = 1) =>
  runs.map((run, index) => {
    const own = installed.get(run.workflow)
    if (own === undefined) throw new Error(`No workflow '${run.workflow}' was installed`)
    return executionOf(run, own, String(firstId + index), zone)
  })

/** n8n in memory, empty. */
export const layer = memory({ workflows: [], executions: [] })

/** Puts the week into an n8n in memory, whose clock is then at its end. */
export const simulate = Effect.fnUntraced(function*(week: Week) {
  const fake = yield* FakeN8n.FakeN8n
  const installed = yield* install(week, TestClock.setTime)
  yield* TestClock.setTime(week.now)
  yield* Effect.forEach(executions(week, installed), fake.addExecution, { discard: true })
  const workflows = Array.from(installed.values(), ({ id, plan, workflows }) => ({
    id,
    nodes: [plan.trigger],
    settings: workflows[2]["settings"]
  }))
  return { installed, workflows, expected: expected(week, installed) }
})

/** Planted incident on an n8n. */
export interface Expected extends Omit<Planted, "version" | "workflow"> {
  readonly workflowId: string
  readonly name: string
  /** Version that its cause names; `null` if it names none. */
  readonly version?: string | null
  /** Versions of the workflow. */
  readonly versions: ReadonlyArray<string>
}

/** Planted incidents on an n8n; without versions none is named. */
export const expected = (
  { planted }: Week,
  installed: ReadonlyMap<string, Installed>
): ReadonlyArray<Expected> =>
  planted.flatMap(({ version, workflow, ...rest }) => {
    const own = installed.get(workflow)
    if (own === undefined) return []
    const all = Object.values(own.versions)
    const named = version === null || version === undefined ? version : own.versions[version]
    return [{
      ...rest,
      workflowId: own.id,
      name: own.plan.name,
      versions: all,
      ...named === undefined ? {} : { version: named }
    }]
  })

const clockOf = (time: number | undefined) => Number.isFinite(time) ? iso(time ?? 0).slice(0, 16) : "never"

/** Incidents of each workflow; one of several workflows is one of each. */
const incidentsOf = ({ rows, shared }: Health) => [
  ...rows.flatMap(({ incidents, workflowId, workflowName = workflowId }) =>
    incidents.map((incident) => ({ workflowId, name: workflowName, incident, isShared: false }))
  ),
  ...shared.flatMap((incident) =>
    (incident.workflows ?? [{ id: incident.workflowId ?? "", name: incident.workflowName ?? "n8n" }]).map((
      { id, name }
    ) => ({ workflowId: id, name, incident, isShared: true }))
  )
]

/** Difference of times that is not one, since runs start within their minute. */
const tolerance = 2 * minute

/** Sentences about incidents that are missing, false, or not as planted. */
export const compare = (health: Health, expected: ReadonlyArray<Expected>): ReadonlyArray<string> => {
  const left = new Set(incidentsOf(health))
  const sentences = expected.flatMap((want) => {
    const { count, earliest, from, isOver, kind, name, to, version, versions, workflowId } = want
    const title = `${kind} of '${name}' from ${clockOf(from)}`
    const distance = ({ at }: Incident) =>
      Math.min(Math.abs(Date.parse(at) - from), Math.abs(Date.parse(at) - (earliest ?? from)))
    const match = [...left].filter(({ incident, ...each }) => each.workflowId === workflowId && incident.kind === kind)
      .toSorted((a, b) => distance(a.incident) - distance(b.incident))[0]
    if (match === undefined) return [`missing: ${title}`]
    left.delete(match)
    const { incident, isShared } = match
    const last = Date.parse(incident.until ?? incident.at)
    const cause = incident.cause ?? ""
    const blamed = versions.filter((each) => cause.includes(each.slice(0, 8)))
    return [
      ...distance(incident) > tolerance ? [`wrong: ${title} begins at ${clockOf(Date.parse(incident.at))}`] : [],
      ...to !== undefined && Math.abs(last - to) > tolerance
        ? [`wrong: ${title} ends at ${clockOf(last)}, not ${clockOf(to)}`]
        : [],
      ...!isShared && count !== undefined && incident.count !== count
        ? [`wrong: ${title} has ${incident.count} occurrences, not ${count}`]
        : [],
      ...isOver !== undefined && (incident.isOver ?? false) !== isOver
        ? [`wrong: ${title} is ${isOver ? "over" : "not over"}`]
        : [],
      ...version === undefined || version === null && blamed.length === 0 || blamed.includes(version ?? "")
        ? []
        : [`wrong: ${title} ${version === null ? "blames a version" : "does not name its version"}: ${cause}`]
    ]
  })
  const wrong = [...left].map(({ incident, name }) =>
    `false: ${incident.kind} of '${name}' from ${clockOf(Date.parse(incident.at))}: ${incident.what}`
  )
  return [...sentences, ...wrong]
}
