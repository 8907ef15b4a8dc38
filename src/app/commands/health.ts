/** `health`: the past of an n8n at a glance, as a table, a page or JSON. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { defined } from "../../base/Json.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Health from "../../watch/Health.ts"
import * as Reference from "../../workflows/Reference.ts"
import * as Browser from "../Browser.ts"
import * as Options from "../config/Options.ts"
import * as HealthReport from "../report/HealthReport.ts"
import * as WatchReport from "../report/WatchReport.ts"
import * as flags from "./flags.ts"
import * as look from "./look.ts"
import * as picture from "./picture.ts"
import { name, programFor } from "./root.ts"
import { row } from "./row.ts"

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
export const present = Effect.fnUntraced(function*(
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
  services: (_, options, { page }) => Layer.unwrap(picture.withFolders(options, page?.out)),
  run: Effect.fnUntraced(function*({ since = "7d", timezone, workflow }, options, { page }) {
    const zone = yield* look.zoneOf(timezone)
    const from = yield* sinceOf(since)
    const workflows = workflow.length === 0 ? undefined : yield* Effect.forEach(workflow, Reference.idOf)
    const readerZone = new Intl.DateTimeFormat().resolvedOptions().timeZone
    const past = yield* Health.read(defined({ since: from, workflows, zone, readerZone }))
    return yield* present(past, page, { program: programFor(options), zone, readerZone })
  })
})
