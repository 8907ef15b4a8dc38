/** `watch` and `health`: what goes wrong on n8n, each incident once, and its past at a glance. */
import * as Flag from "effect/cli/Flag"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { defined } from "../../base/Json.ts"
import * as Visible from "../../base/Visible.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Health from "../../watch/Health.ts"
import * as Thresholds from "../../watch/Thresholds.ts"
import type * as Watch from "../../watch/Watch.ts"
import * as Reference from "../../workflows/Reference.ts"
import * as Browser from "../Browser.ts"
import * as ConfigFile from "../config/ConfigFile.ts"
import * as Options from "../config/Options.ts"
import * as HealthReport from "../report/HealthReport.ts"
import * as WatchReport from "../report/WatchReport.ts"
import * as Terminal from "../Terminal.ts"
import * as Watching from "../Watching.ts"
import * as drawings from "./drawings.ts"
import * as flags from "./flags.ts"
import * as look from "./look.ts"
import { exit, name, onN8n, programFor, row } from "./row.ts"

/** Tolerance, so that the limit itself is accepted. */
const minute = 60_000

const sinceOf = Effect.fnUntraced(function*(text: string) {
  const since = (yield* look.sinceOf(text)).getTime()
  const age = (yield* Clock.currentTimeMillis) - since
  if (age <= 0) return yield* Options.refuse(`--since ${text} is in the future: name an earlier time`)
  return age <= Health.maxDays * 86_400_000 + minute ? since : yield* Options.refuse(
    `--since ${text} is more than ${Health.maxDays} days ago: use --since ${Health.maxDays}d; for causes over a longer time, ${name} executions --by failure --since ${text}`
  )
})

/** Reports a health; a page that a person wants is written, and stands for its lines. */
const present = Effect.fnUntraced(function*(
  past: Health.Health,
  page: Browser.Target | undefined,
  context: WatchReport.Context
) {
  const { instance } = yield* N8nClient
  const health = WatchReport.json(past)
  const about = { ...context, host: new URL(instance.url).host }
  const judgment = HealthReport.judgment(health, about)
  if (page === undefined) return judgment
  const HealthPage = yield* Effect.promise(() => import("../report/HealthPage.ts"))
  const lines = yield* Browser.write(page, {
    name: "health",
    about: HealthReport.summary(health),
    text: HealthPage.html(health, about, instance)
  })
  return { ...judgment, text: () => lines }
})

export const health = row({
  name: "health",
  description: "Show at a glance what failed, did not run or was slow in the past days",
  flags: {
    since: flags.text(
      "since",
      "TIME",
      `Since then: 24h, 7d (default) or 2026-01-31T08:00; ${Health.maxDays} days at most`
    ),
    workflow: flags.texts("workflow", "WORKFLOW", "Only this workflow: its id, link or name; may be repeated"),
    timezone: look.timezone
  },
  form: "overview",
  services: (_, options, { page }) => Layer.unwrap(drawings.withFolders(options, page?.out)),
  run: Effect.fnUntraced(function*({ since = "7d", timezone, workflow }, options, { page }) {
    const zone = yield* look.zoneOf(timezone)
    const from = yield* sinceOf(since)
    const workflows = workflow.length === 0 ? undefined : yield* Effect.forEach(workflow, Reference.idOf)
    const readerZone = new Intl.DateTimeFormat().resolvedOptions().timeZone
    const past = yield* Health.read(defined({ since: from, workflows, zone, readerZone }))
    return yield* present(past, page, { program: programFor(options), zone, readerZone })
  })
})

const isRules = Schema.is(Schema.Record(Schema.String, Schema.String))

const rulesIn = Effect.fnUntraced(function*(file: string) {
  const refuse = (reason: string) => Options.refuse(`--thresholds: ${file}: ${reason}`)
  const rules = yield* Effect.mapError(ConfigFile.read(file), refuse)
  if (!isRules(rules)) return yield* refuse("write it as {\"Orders\": \"silent 2h\"}, with ids or names of workflows")
  const mistake = Object.entries(rules).find(([, text]) => Thresholds.parse(text) === undefined)
  if (mistake === undefined) return rules
  return yield* refuse(
    `'${mistake.map((each) => Visible.label(each)).join("': '")}' is not a threshold: ${Thresholds.forms}`
  )
})

/** Target of `--to` or `--exec`; without one, reports are only printed. */
const deliveryOf = Effect.fnUntraced(function*(to: Redacted.Redacted<string> | undefined, exec: string | undefined) {
  if (to !== undefined && exec !== undefined) {
    return yield* Options.refuse("Choose one: --to URL (N8N_MCP_WATCH_TO) or --exec COMMAND")
  }
  if (to !== undefined) return yield* Watching.post(to)
  if (exec === undefined) return undefined
  return exec.trim() === "" ? yield* Options.refuse("--exec is empty: name a command") : Watching.run(exec)
})

/** Ends the process in time even if n8n or the database of the state hangs. */
const endInTime = Effect.sync(() => {
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => setTimeout(() => process.exit(0), 900).unref())
})

interface Sent {
  readonly lines: (incidents: Watch.Report["incidents"]) => ReadonlyArray<string>
  readonly message: (incidents: Watch.Report["incidents"]) => string
  readonly delivery: Watching.Delivery | undefined
}

/** Returns a function that delivers a report: it prints each incident once, and resends those that were not accepted. */
const deliverer = ({ delivery, lines, message }: Sent) => {
  const printed = new Set<string>()
  const keyOf = ({ at, key }: Watch.Incident) => `${key} ${at}`
  return Effect.fnUntraced(function*({ incidents, unknown }: Watch.Report) {
    const fresh = incidents.filter((incident) => !printed.has(keyOf(incident)))
    yield* Terminal.deliver(lines(fresh)).pipe(delivery === undefined ? (self) => self : Effect.ignore)
    for (const incident of fresh) printed.add(keyOf(incident))
    yield* Effect.forEach(unknown, (sentence) => Terminal.warn(`unknown: ${Visible.label(sentence, 400)}`))
    if (incidents.length > 0 && delivery !== undefined) yield* delivery(message(incidents))
  })
}

const noteOf = ({ fault, incidents, isFirst, isSkipped }: Watch.Report, once: boolean) =>
  fault !== undefined || incidents.length > 0
    ? undefined
    : isFirst === true
    ? "The first look only learns what is usual; the next ones report new incidents."
    : !once
    ? undefined
    : isSkipped
    ? "Another watch of this n8n is looking at it now."
    : "Nothing new."

export const watch = row({
  name: "watch",
  description: "Report what fails, does not run or is slow, each incident once",
  flags: {
    every: flags.integer("every", [10, 86_400], "Seconds between two looks (10 to 86400, default 60)"),
    once: flags.toggle("once", "Look once, and exit: for cron and CI"),
    to: Flag.Redacted("to").pipe(
      Flag.withDescription(
        "Also post {text, incidents} to this webhook, such as Slack's or Teams'; better set in the environment [N8N_MCP_WATCH_TO]"
      ),
      Flag.withMetavar("URL"),
      Flag.withFallbackConfig(Config.Redacted("N8N_MCP_WATCH_TO")),
      Flag.withDefault(undefined)
    ),
    exec: flags.text("exec", "COMMAND", "Also run this command for each report, with {text, incidents} on stdin"),
    timezone: look.timezone,
    thresholds: flags.text("thresholds", "FILE", "JSON file with 'silent 2h' or 'off' by a workflow's id or name"),
    json: flags.toggle("json", "Print a line of JSON for each incident")
  },
  form: "none",
  services: onN8n,
  run: Effect.fnUntraced(function*({ every = 60, exec, json, once, thresholds, timezone, to }, options) {
    const delivery = yield* deliveryOf(to, exec)
    const zone = yield* look.zoneOf(timezone)
    const rules = thresholds === undefined ? {} : yield* rulesIn(thresholds)
    const context: WatchReport.Context = { program: programFor(options), zone }
    const watching: Watch.Options = { every: every * 1_000, zone, isOnce: once, rules }
    const { instance } = yield* N8nClient
    // Without a setting there is no address; the first look says so.
    const host = () => new URL(instance.url).host
    const deliver = deliverer({
      delivery,
      lines: (incidents) =>
        incidents.flatMap((incident) =>
          json
            ? JSON.stringify(WatchReport.json(incident))
            : WatchReport.lines(incident, context, { isColoured: Terminal.isColoured, width: Infinity })
        ),
      message: (incidents) => JSON.stringify(WatchReport.message(incidents, host(), context))
    })
    let hasLooked = false
    let reason: string | undefined
    const poll = Effect.gen(function*() {
      const { failure, report } = yield* Watching.round(watching, deliver)
      if (report.denied !== undefined && !hasLooked) return yield* Effect.fail(report.denied)
      if (!once && !hasLooked && !report.isSkipped && Terminal.isWatched()) {
        yield* Terminal.warn(`Watching n8n at ${host()}, every ${every} s; Ctrl+C ends it`)
      }
      hasLooked ||= !report.isSkipped
      const why = failure === undefined
        ? report.fault === undefined ? undefined : `n8n could not be checked: ${report.fault}`
        : `not delivered: ${failure}`
      const again = once ? "" : "; the next look tries again"
      if (why !== undefined && why !== reason) yield* Terminal.warn(`${name}: ${Visible.label(why, 400)}${again}`)
      reason = why
      const note = noteOf(report, once)
      if (note !== undefined && (report.isFirst === true || Terminal.isWatched())) yield* Terminal.warn(note)
      if (once) yield* exit(why !== undefined ? 1 : report.incidents.length > 0 ? 2 : 0)
      // Without another receiver, a closed stdout ends the watch.
      return { isOver: once || delivery === undefined && failure !== undefined, nextAfterMs: report.nextAfterMs }
    })
    yield* endInTime
    yield* Watching.repeat(watching.every, poll)
  }, Effect.scoped)
})
