/** `check`: workflows in files or on n8n, with an exit code for CI. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Finding from "../../workflows/inspection/Finding.ts"
import * as Inspection from "../../workflows/inspection/Inspection.ts"
import * as Breaks from "../../workflows/upgrade/Breaks.ts"
import * as Options from "../config/Options.ts"
import * as CheckReport from "../report/CheckReport.ts"
import * as JUnit from "../report/JUnit.ts"
import * as Sarif from "../report/Sarif.ts"
import * as ToolContext from "../ToolContext.ts"
import * as baseline from "./baseline.ts"
import { explained, isColoured, optional, placeOf, print, root, toggle } from "./root.ts"

const formats = ["text", "json", "sarif", "github", "junit"] as const

const inFolder = Effect.fnUntraced(function*(userPath: string, to: string | undefined) {
  const options = yield* root
  const place = yield* placeOf(userPath)
  const report = yield* Inspection.inFolder({ ...place, to }).pipe(
    explained,
    Effect.provide(ToolContext.layerOffline(options, [place.root]))
  )
  if (report.places.length === 0) return yield* Options.refuse(`No workflows found in '${userPath}'`)
  const folder = place.shownAs === "" ? "" : `${place.shownAs}/`
  return {
    ...report,
    hasRead: (name: string) => place.only === undefined ? name.startsWith(folder) : report.places.includes(name)
  }
})

const onN8n = Effect.fnUntraced(function*(to: string | undefined) {
  const report = yield* Inspection.onN8n(to).pipe(explained, Effect.provide(ToolContext.layer(yield* root)))
  return { ...report, hasRead: () => true }
})

export const check = Command.make(
  "check",
  {
    folder: Argument.String("folder").pipe(
      Argument.withDescription("Folder of workflow files, or one file; the working directory by default"),
      Argument.optional
    ),
    n8n: toggle("n8n", "Check the workflows of the connected n8n instead"),
    to: optional("to", "VERSION", "Also report what breaks in this release of n8n: 3, 2.41.1"),
    format: Flag.Literals("format", formats).pipe(
      Flag.withDescription("Format of the report"),
      Flag.withDefault("text")
    ),
    ...baseline.flags,
    strict: toggle("strict", "Fail for warnings and outdated nodes too")
  },
  Effect.fnUntraced(function*({ folder, format, n8n, strict, updateBaseline, ...flags }) {
    const startedAt = yield* Clock.currentTimeMillis
    const { policy } = yield* root
    if (n8n && Option.isSome(folder)) return yield* Options.refuse("Pass a folder or --n8n, not both")
    const to = Option.isNone(flags.to)
      ? undefined
      : yield* explained(Effect.fromResult(Breaks.parseTarget(flags.to.value)))
    const known = yield* baseline.open(Option.getOrUndefined(flags.baseline), updateBaseline)
    const { findings, hasRead, places } = n8n
      ? yield* onN8n(to)
      : yield* inFolder(Option.getOrElse(folder, () => "."), to)
    const keys = Finding.keysOf(findings)
    const hasRun = (rule: string) =>
      rule.startsWith(Finding.upgradeRule) ? to !== undefined : rule !== "policy" || Option.isSome(policy)
    yield* known.update(keys, ([rule = "", place = ""]) => !hasRun(rule) || !hasRead(place))
    const news = findings.filter((_, index) => !known.isKnown(keys[index] ?? []))
    const report: CheckReport.Report = {
      findings: news,
      places,
      isOnN8n: n8n,
      isStrict: strict,
      known: findings.length - news.length
    }
    switch (format) {
      case "text":
        yield* Effect.forEach(CheckReport.text(report, isColoured), print, { discard: true })
        break
      case "json":
        yield* print(JSON.stringify(CheckReport.json(report)))
        break
      case "sarif":
        yield* print(JSON.stringify(Sarif.document(news)))
        break
      case "github":
        yield* Effect.sync(() =>
          void process.stdout.write(CheckReport.github(report).map((each) => `${each}\n`).join(""))
        )
        yield* print(CheckReport.summary(report))
        break
      case "junit": {
        const milliseconds = (yield* Clock.currentTimeMillis) - startedAt
        yield* print(JUnit.document(CheckReport.junit(report), { milliseconds, startedAt }).trimEnd())
      }
    }
    if (!CheckReport.isFine(report)) process.exitCode = 2
  })
).pipe(
  Command.withDescription(
    "Find problems, outdated nodes, breaks of an upgrade and risks in workflow files"
  )
)
