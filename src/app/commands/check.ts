/** `check` and `audit`: problems and risks in files or on n8n, with an exit code for CI and a baseline of known ones. */
import * as Flag from "effect/cli/Flag"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Visible from "../../base/Visible.ts"
import * as Audit from "../../fleet/Audit.ts"
import * as Finding from "../../fleet/inspection/Finding.ts"
import * as Inspection from "../../fleet/inspection/Inspection.ts"
import * as Findings from "../../tools/security/Findings.ts"
import * as Breaks from "../../workflow/upgrade/Breaks.ts"
import { noWorkflows } from "../../workflows/files/WorkflowFiles.ts"
import * as ConfigFile from "../config/ConfigFile.ts"
import * as Options from "../config/Options.ts"
import * as CheckReport from "../report/CheckReport.ts"
import * as JUnit from "../report/JUnit.ts"
import * as Sarif from "../report/Sarif.ts"
import * as ToolContext from "../ToolContext.ts"
import * as flags from "./flags.ts"
import { command, exit, isColoured, placeOf, print, printMarked, report } from "./root.ts"

type Key = ReadonlyArray<string>

const baselineFlags = {
  baseline: flags.text("baseline", "FILE", "Report only findings that are not in this file"),
  updateBaseline: flags.toggle("update-baseline", "Write the findings into the baseline, and report none of them")
}

const decodeBaseline = Schema.decodeEffect(Schema.fromJsonString(Schema.Array(Schema.Array(Schema.String))))

const readBaseline = Effect.fnUntraced(function*(file: string) {
  const text = yield* Effect.mapError(
    FileSystem.FileSystem.use((fs) => fs.readFileString(file)),
    (error) =>
      Options.refuse(`--baseline: '${file}' cannot be read: ${ConfigFile.fault(error)}. --update-baseline writes it`)
  )
  return yield* Effect.mapError(
    decodeBaseline(text),
    () => Options.refuse(`--baseline: '${file}' is not a baseline; --update-baseline writes one`)
  )
})

/** Writes the keys, one per line; `isOther` selects the keys of the file that remain. */
const writeBaseline = Effect.fnUntraced(function*(
  file: string,
  keys: ReadonlyArray<Key>,
  isOther: (key: Key) => boolean
) {
  const fs = yield* FileSystem.FileSystem
  const others = (yield* fs.exists(file)) ? (yield* readBaseline(file)).filter(isOther) : []
  const lines = [...others, ...keys].map((key) => JSON.stringify(key)).toSorted()
  yield* fs.writeFileString(file, `[\n${lines.join(",\n")}\n]\n`)
}, (effect, file) =>
  Effect.catchTag(
    effect,
    "PlatformError",
    (error) => Effect.fail(Options.refuse(`--baseline: '${file}' cannot be written: ${ConfigFile.fault(error)}`))
  ))

/** Opens the baseline: `isKnown` tests for its findings, `update` writes it if that was requested. */
const openBaseline = Effect.fnUntraced(function*(file: string | undefined, isUpdate: boolean) {
  if (isUpdate && file === undefined) return yield* Options.refuse("--update-baseline needs --baseline FILE")
  const known = new Set(
    file === undefined || isUpdate ? [] : (yield* readBaseline(file)).map((key) => JSON.stringify(key))
  )
  return {
    isKnown: (key: Key) => isUpdate || known.has(JSON.stringify(key)),
    update: (keys: ReadonlyArray<Key>, isOther: (key: Key) => boolean) =>
      file === undefined || !isUpdate ? Effect.void : writeBaseline(file, keys, isOther)
  }
})

const inFolder = Effect.fnUntraced(function*(userPath: string, to: string | undefined, options: Options.Options) {
  const place = yield* placeOf(userPath)
  const inspected = yield* Effect.provide(
    Inspection.inFolder({ ...place, to }),
    ToolContext.layerOffline(options, [place.root])
  )
  if (inspected.places.length === 0) return yield* noWorkflows(`'${userPath}'`, inspected.others)
  const folder = place.shownAs === "" ? "" : `${place.shownAs}/`
  return {
    ...inspected,
    hasRead: (name: string) => place.only === undefined ? name.startsWith(folder) : inspected.places.includes(name)
  }
})

const formats = {
  text: (checked: CheckReport.Report) => CheckReport.text(checked, isColoured).join("\n"),
  json: (checked: CheckReport.Report) => JSON.stringify(CheckReport.json(checked)),
  sarif: ({ findings }: CheckReport.Report) => JSON.stringify(Sarif.document(findings)),
  github: CheckReport.summary,
  junit: (checked: CheckReport.Report, times: JUnit.Times) =>
    JUnit.document(CheckReport.junit(checked), times).trimEnd()
}

export const check = command(
  "check",
  "Find problems, outdated nodes, breaks of an upgrade and risks in workflow files",
  {
    folder: flags.optionalArgument(
      "folder",
      "Folder of workflow files, or one file; the working directory by default"
    ),
    n8n: flags.toggle("n8n", "Check the workflows of the connected n8n instead"),
    to: flags.text("to", "VERSION", "Also report what breaks in this release of n8n: 3, 2.41.1"),
    format: Flag.Literals("format", Struct.keys(formats)).pipe(
      Flag.withDescription("Format of the report"),
      Flag.withDefault("text")
    ),
    ...baselineFlags,
    strict: flags.toggle("strict", "Fail for warnings and outdated nodes too")
  },
  Effect.fnUntraced(function*({ baseline, folder, format, n8n, strict, updateBaseline, ...flags }, options) {
    const startedAt = yield* Clock.currentTimeMillis
    if (n8n && folder !== undefined) return yield* Options.refuse("Pass a folder or --n8n, not both")
    const to = flags.to === undefined ? undefined : yield* Effect.fromResult(Breaks.parseTarget(flags.to))
    const known = yield* openBaseline(baseline, updateBaseline)
    const { findings, hasRead, places } = n8n
      ? { ...yield* Effect.provide(Inspection.onN8n(to), ToolContext.layer(options)), hasRead: () => true }
      : yield* inFolder(folder ?? ".", to, options)
    const keys = Finding.keysOf(findings)
    const hasRun = (rule: string) =>
      rule.startsWith(Finding.upgradeRule) ? to !== undefined : rule !== "policy" || options.policy !== undefined
    yield* known.update(keys, ([rule = "", place = ""]) => !hasRun(rule) || !hasRead(place))
    const news = findings.filter((_, index) => !known.isKnown(keys[index] ?? []))
    const checked: CheckReport.Report = {
      findings: news,
      places,
      isOnN8n: n8n,
      isStrict: strict,
      known: findings.length - news.length
    }
    if (format === "github") {
      // Commands for GitHub, which `print` would escape.
      yield* Effect.sync(() => process.stdout.write(CheckReport.github(checked).map((each) => `${each}\n`).join("")))
    }
    const milliseconds = (yield* Clock.currentTimeMillis) - startedAt
    yield* print(formats[format](checked, { milliseconds, startedAt }))
    if (!CheckReport.isFine(checked)) yield* exit(2)
  })
)

interface AuditData {
  readonly findings: ReturnType<typeof Findings.show>
  /** Number of places in the baseline. */
  readonly known?: number
  readonly note?: string
  readonly workflows: number
}

const auditLines = ({ findings, known = 0, note, workflows }: AuditData) => [
  ...findings.flatMap(({ check, count, fix, places, severity, what }) => [
    `${severity} ${check} (${count}): ${Visible.label(what, 400)}`,
    ...places.flatMap(({ at = [], id, name }) => [
      `  ${Visible.label(name)} (${Visible.label(id)})`,
      ...at.map((each) => `    ${Visible.label(each, 200)}`)
    ]),
    `  → ${Visible.label(Findings.byHand(check) || fix, 400)}`,
    ""
  ]),
  ...(note === undefined ? [] : [`${note}.`]),
  `${counted(workflows, "workflow")}, ${findings.length === 0 ? "nothing found" : counted(findings.length, "finding")}${
    known === 0 ? "" : `; ${counted(known, "place")} known in the baseline`
  }`
]

const checks = (name: string, description: string) =>
  Flag.Literals(name, Audit.checks).pipe(
    Flag.withDescription(`${description}; may be repeated`),
    Flag.atLeast(1),
    Flag.withDefault(undefined)
  )

export const audit = command(
  "audit",
  "Find risks on n8n: secrets, open webhooks, unused credentials …",
  {
    workflow: flags.optionalArgument("workflow", "Id of one workflow; all by default"),
    only: checks("only", "Only this check"),
    except: checks("except", "Without this check"),
    severity: flags.choice("severity", Audit.severities, "Only findings of this severity or a higher one"),
    ...baselineFlags,
    json: flags.json
  },
  Effect.fnUntraced(function*({ baseline, json, updateBaseline, workflow, ...scope }, options) {
    const known = yield* openBaseline(baseline, updateBaseline)
    const { spots, withoutN8n: note, workflows } = yield* Effect.provide(
      Audit.run(workflow, scope),
      ToolContext.layer(options)
    )
    const isIncomplete = note !== undefined
    const checked = yield* Audit.checksOf(scope)
    const hasRun = (check: string) =>
      Audit.checks.some((each) => each === check && checked.has(each) && !(isIncomplete && Audit.byN8n.includes(each)))
    yield* known.update(
      spots.map(Audit.keyOf),
      ([check = "", , id = ""]) => !hasRun(check) || workflow !== undefined && workflow !== id
    )
    const news = spots.filter((spot) => !known.isKnown(Audit.keyOf(spot)))
    const findings = Findings.show(news)
    const data = {
      workflows,
      ok: findings.length === 0 && !isIncomplete,
      ...(isIncomplete ? { incomplete: true } : {}),
      findings,
      ...defined({ note, known: spots.length - news.length || undefined })
    }
    yield* report(json, data, () => auditLines(data), printMarked)
    if (!data.ok) yield* exit(isIncomplete ? 1 : 2)
  })
)
