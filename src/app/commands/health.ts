/** `health`: the past of an n8n at a glance, as a table, a page or JSON. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { defined } from "../../base/Json.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Health from "../../watch/Health.ts"
import * as Options from "../config/Options.ts"
import * as HealthReport from "../report/HealthReport.ts"
import * as WatchReport from "../report/WatchReport.ts"
import { isPiped, screen } from "../Terminal.ts"
import * as flags from "./flags.ts"
import * as look from "./look.ts"
import * as picture from "./picture.ts"
import { command, exit, name, programFor, report } from "./root.ts"

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

const outOf = (out: string | undefined) =>
  out === undefined || /\.html$/i.test(out)
    ? Effect.void
    : Options.refuse(`--out '${out}': the name of a page ends in .html; --json prints the data`)

interface Form {
  readonly json: boolean
  readonly open: boolean
  readonly out: string | undefined
}

/** Shows a health in the form that a person chose; the exit status is 2 if there are incidents. */
export const present = Effect.fnUntraced(function*(
  past: Health.Health,
  { json, open, out }: Form,
  context: WatchReport.Context
) {
  const { instance } = yield* N8nClient
  const health = WatchReport.json(past)
  const about = { ...context, host: new URL(instance.url).host }
  if (out !== undefined || open) {
    const HealthPage = yield* Effect.promise(() => import("../report/HealthPage.ts"))
    const html = HealthPage.html(health, about, instance)
    yield* picture.write({ name: "health", open, out }, html, HealthReport.summary(health))
  } else yield* report(json || isPiped(), health, () => HealthReport.text(health, about, screen()))
  yield* exit(HealthReport.incidentsOf(health).length > 0 ? 2 : 0)
})

export const health = command(
  "health",
  "Show at a glance what failed, did not run or was slow in the past days",
  {
    since: flags.text(
      "since",
      "TIME",
      `Since then: 24h, 7d (default) or 2026-01-31T08:00; ${Health.maxDays} days at most`
    ),
    workflow: flags.texts("workflow", "WORKFLOW", "Only this workflow: its id, link or name; may be repeated"),
    timezone: look.timezone,
    out: flags.text("out", "FILE", "Write a page, whose name ends in .html"),
    open: picture.open,
    json: flags.toggle("json", "Print JSON, as in a pipe")
  },
  Effect.fnUntraced(function*({ json, open, out, since = "7d", timezone, workflow }, options) {
    const zone = yield* look.zoneOf(timezone)
    yield* outOf(out)
    if (json && (open || out !== undefined)) {
      return yield* Options.refuse("Choose one: --json, or a page with --out or --open")
    }
    const from = yield* sinceOf(since)
    yield* Effect.gen(function*() {
      const workflows = workflow.length === 0 ? undefined : yield* Effect.forEach(workflow, look.workflowId)
      const past = yield* Health.read(defined({ since: from, workflows, zone }))
      yield* present(past, { json, open, out }, { program: programFor(options), zone })
    }).pipe(Effect.provide(yield* picture.withFolders(options, out)))
  })
)
