/** `check` and `audit`: problems and risks in files or on n8n, with an exit code for CI and a baseline of known ones. */
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
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
import * as Writer from "../report/Writer.ts"
import * as ToolContext from "../ToolContext.ts"
import * as flags from "./flags.ts"
import { placeOf } from "./root.ts"
import { row } from "./row.ts"

type Key = ReadonlyArray<string>

const baselineFlags = {
  baseline: flags.text("baseline", "FILE", "Report only findings that are not in this file"),
  updateBaseline: flags.toggle("update-baseline", "Write the findings into the baseline, and report none of them")
}

const decodeBaseline = Schema.decodeEffect(Schema.fromJsonString(Schema.Array(Schema.Array(Schema.String))))

/** Opens the baseline: `isKnown` tests for its findings, `update` writes it, one key per line, if that was requested. */
const openBaseline = Effect.fnUntraced(function*(file: string | undefined, isUpdate: boolean) {
  if (file === undefined) {
    if (isUpdate) return yield* Options.refuse("--update-baseline needs --baseline FILE")
    return { isKnown: () => false, update: () => Effect.void }
  }
  const fs = yield* FileSystem.FileSystem
  const refuse = (problem: string) => Options.refuse(`--baseline: '${file}' ${problem}`)
  const text = yield* fs.readFileString(file).pipe(
    Effect.catchIf(({ reason }) => isUpdate && reason._tag === "NotFound", () => Effect.succeed("[]")),
    Effect.mapError((error) => refuse(`cannot be read: ${ConfigFile.fault(error)}. --update-baseline writes it`))
  )
  const keys = yield* Effect.mapError(
    decodeBaseline(text),
    () => refuse("is not a baseline; --update-baseline writes one")
  )
  const known = new Set(keys.map((key) => JSON.stringify(key)))
  return {
    isKnown: (key: Key) => isUpdate || known.has(JSON.stringify(key)),
    /** `isOther` selects the keys of the file that remain. */
    update: (own: ReadonlyArray<Key>, isOther: (key: Key) => boolean) => {
      const lines = [...keys.filter(isOther), ...own].map((key) => JSON.stringify(key)).toSorted()
      return !isUpdate ? Effect.void : Effect.mapError(
        fs.writeFileString(file, `[\n${lines.join(",\n")}\n]\n`),
        (error) => refuse(`cannot be written: ${ConfigFile.fault(error)}`)
      )
    }
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
    hasRead: (name: string) =>
      place.only === undefined ? name.startsWith(folder) : inspected.places.concat(inspected.code).includes(name)
  }
})

/** Number of findings, of all things that were checked, and of findings in the baseline, in words. */
const summaryOf = (
  findings: ReadonlyArray<Finding.Finding>,
  kinds: ReadonlyArray<readonly [noun: string, places: ReadonlyArray<string>]>,
  known: number
) =>
(counts: string) => {
  const places = new Set(findings.map(Finding.placeOf))
  const all = kinds.filter(([, own], at) => at === 0 || own.length > 0).map(([noun, own]) => {
    const some = own.filter((place) => places.has(place)).length
    return `${counts === "" ? "" : `${some} of `}${counted(own.length, noun)}`
  }).join(" and ")
  return `${counts === "" ? `${all}, nothing found` : `${counts} in ${all}`}${
    known === 0 ? "" : `; ${known} known in the baseline`
  }`
}

export const check = row({
  name: "check",
  description: "Find problems, outdated nodes, breaks of an upgrade and risks in workflow files",
  flags: {
    folder: flags.optionalArgument("folder", "Folder of workflow files, or one file; the working directory by default"),
    n8n: flags.toggle("n8n", "Check the workflows of the connected n8n instead"),
    to: flags.text("to", "VERSION", "Also report what breaks in this release of n8n: 3, 2.41.1"),
    ...baselineFlags,
    strict: flags.toggle("strict", "Fail for warnings and outdated nodes too")
  },
  form: "findings",
  services: () => Layer.empty,
  run: Effect.fnUntraced(function*({ baseline, folder, n8n, strict, updateBaseline, ...flags }, options) {
    if (n8n && folder !== undefined) return yield* Options.refuse("Pass a folder or --n8n, not both")
    const to = flags.to === undefined ? undefined : yield* Effect.fromResult(Breaks.parseTarget(flags.to))
    const known = yield* openBaseline(baseline, updateBaseline)
    const { code, findings, hasRead, places } = n8n
      ? { ...yield* Effect.provide(Inspection.onN8n(to), ToolContext.layer(options)), hasRead: () => true }
      : yield* inFolder(folder ?? ".", to, options)
    const keys = Finding.keysOf(findings)
    const hasRun = (rule: string) =>
      rule.startsWith(Finding.upgradeRule) ? to !== undefined : rule !== "policy" || options.policy !== undefined
    yield* known.update(keys, ([rule = "", place = ""]) => !hasRun(rule) || !hasRead(place))
    const news = findings.filter((_, index) => !known.isKnown(keys[index] ?? []))
    const count = findings.length - news.length
    const isFailing = (finding: Finding.Finding) => Finding.counts(finding, strict)
    const all = [...places, ...code]
    const withFindings = new Set(news.map(Finding.placeOf))
    return {
      json: {
        ok: !news.some(isFailing),
        [n8n ? "workflows" : "files"]: all.length,
        ...Writer.tally(news),
        known: count
      },
      findings: news,
      isFailing,
      subjects: Writer.subjectsOf(
        news,
        all.filter((place) => !withFindings.has(place)).map((name) => n8n ? { name } : { name, file: name })
      ),
      summary: summaryOf(news, [[n8n ? "workflow" : "workflow file", places], ["code file", code]], count)
    }
  })
})

const checks = (name: string, description: string) =>
  Flag.Literals(name, Audit.checks).pipe(
    Flag.withDescription(`${description}; may be repeated`),
    Flag.atLeast(1),
    Flag.withDefault(undefined)
  )

/** A finding for each workflow or credential of a risk, with its places there. */
const ofAudit = (spots: ReadonlyArray<Audit.Spot>) =>
  Findings.show(spots).flatMap(({ check, fix, places, severity, what }) =>
    (places.length === 0 ? [undefined] : places).map((place): Finding.Finding => ({
      rule: check,
      severity: Finding.severityOf[severity],
      ...(place === undefined ? {} : { workflow: place.id, name: place.name }),
      message: what,
      fix: Findings.byHand(check) || fix,
      ...defined({ details: place?.at?.map((each) => Visible.label(each, 200)) })
    }))
  )

export const audit = row({
  name: "audit",
  description: "Find risks on n8n: secrets, open webhooks, unused credentials …",
  flags: {
    workflow: flags.optionalArgument("workflow", "Id of one workflow; all by default"),
    only: checks("only", "Only this check"),
    except: checks("except", "Without this check"),
    severity: flags.choice("severity", Audit.severities, "Only findings of this severity or a higher one"),
    ...baselineFlags
  },
  form: "findings",
  services: (_, options) => ToolContext.layer(options),
  run: Effect.fnUntraced(function*({ baseline, updateBaseline, workflow, ...scope }) {
    const known = yield* openBaseline(baseline, updateBaseline)
    const { spots, withoutN8n: note, workflows } = yield* Audit.run(workflow, scope)
    const isIncomplete = note !== undefined
    const checked = yield* Audit.checksOf(scope)
    const hasRun = (check: string) =>
      Audit.checks.some((each) => each === check && checked.has(each) && !(isIncomplete && Audit.byN8n.includes(each)))
    yield* known.update(
      spots.map(Audit.keyOf),
      ([check = "", , id = ""]) => !hasRun(check) || workflow !== undefined && workflow !== id
    )
    const news = spots.filter((spot) => !known.isKnown(Audit.keyOf(spot)))
    const findings = ofAudit(news)
    const count = spots.length - news.length
    return {
      json: {
        ok: findings.length === 0 && !isIncomplete,
        workflows,
        ...Writer.tally(findings),
        known: count,
        ...(isIncomplete ? { incomplete: true, note } : {})
      },
      ...(isIncomplete ? { exit: 1, about: [`${note}.`] } : {}),
      isByRule: true,
      isFailing: () => true,
      findings,
      summary: (counts) =>
        `Checked ${counted(workflows, "workflow")}: ${counts || "nothing found"}${
          count === 0 ? "" : `; ${counted(count, "place")} known in the baseline`
        }`
    }
  })
})
