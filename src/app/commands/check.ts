/** `check` and `audit`: problems and risks in files or on n8n, with an exit code for CI and a baseline of known ones. */
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
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
import * as Reference from "../../workflows/Reference.ts"
import * as ConfigFile from "../config/ConfigFile.ts"
import * as Options from "../config/Options.ts"
import * as Writer from "../report/Writer.ts"
import * as ToolContext from "../ToolContext.ts"
import * as flags from "./flags.ts"
import { onN8n, placeOf, row } from "./row.ts"

type Key = ReadonlyArray<string>

const baselineFlags = {
  baseline: flags.text("baseline", "FILE", "Report only findings that are not in this file"),
  updateBaseline: flags.toggle("update-baseline", "Write the findings into the baseline, and report none of them")
}

const decodeBaseline = Schema.decodeEffect(Schema.fromJsonString(Schema.Array(Schema.Array(Schema.String))))

/** Opens the baseline; the result separates what is in it, and writes it, one key per line, if that was requested. */
const openBaseline = Effect.fnUntraced(function*({ baseline: file, updateBaseline: isUpdate }: {
  readonly baseline: string | undefined
  readonly updateBaseline: boolean
}) {
  const fs = yield* FileSystem.FileSystem
  if (file === undefined && isUpdate) return yield* Options.refuse("--update-baseline needs --baseline FILE")
  const refuse = (problem: string) => Options.refuse(`--baseline: '${file}' ${problem}`)
  const text = file === undefined ? "[]" : yield* fs.readFileString(file).pipe(
    Effect.catchIf(({ reason }) => isUpdate && reason._tag === "NotFound", () => Effect.succeed("[]")),
    Effect.mapError((error) => refuse(`cannot be read: ${ConfigFile.fault(error)}. --update-baseline writes it`))
  )
  const keys = yield* Effect.mapError(
    decodeBaseline(text),
    () => refuse("is not a baseline; --update-baseline writes one")
  )
  const known = new Set(keys.map((key) => JSON.stringify(key)))
  /** `hasLooked` selects the keys of the file that this look would find again. */
  return Effect.fnUntraced(
    function*<A>(all: ReadonlyArray<A>, own: ReadonlyArray<Key>, hasLooked: (key: Key) => boolean) {
      const lines = own.map((key) => JSON.stringify(key))
      if (file !== undefined && isUpdate) {
        const rest = keys.filter((key) => !hasLooked(key)).map((key) => JSON.stringify(key))
        yield* Effect.mapError(
          fs.writeFileString(file, `[\n${[...rest, ...lines].toSorted().join(",\n")}\n]\n`),
          (error) => refuse(`cannot be written: ${ConfigFile.fault(error)}`)
        )
      }
      const news = all.filter((_, at) => !isUpdate && !known.has(lines[at] ?? ""))
      return { news, known: all.length - news.length }
    }
  )
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

const inBaseline = (known: number, what = "") => known === 0 ? "" : `; ${known}${what} known in the baseline`

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
  run: Effect.fnUntraced(function*({ folder, n8n, strict, ...flags }, options) {
    if (n8n && folder !== undefined) return yield* Options.refuse("Pass a folder or --n8n, not both")
    const to = flags.to === undefined ? undefined : yield* Effect.fromResult(Breaks.parseTarget(flags.to))
    const separate = yield* openBaseline(flags)
    const { code, findings, hasRead, places } = n8n
      ? { ...yield* Effect.provide(Inspection.onN8n(to), ToolContext.layer(options)), hasRead: () => true }
      : yield* inFolder(folder ?? ".", to, options)
    const hasRun = (rule: string) =>
      rule.startsWith(Finding.upgradeRule) ? to !== undefined : rule !== "policy" || options.policy !== undefined
    const { known, news } = yield* separate(
      findings,
      Finding.keysOf(findings),
      ([rule = "", place = ""]) => hasRun(rule) && hasRead(place)
    )
    const all = [...places, ...code]
    const withFindings = new Set(news.map(Finding.placeOf))
    const some = (own: ReadonlyArray<string>, noun: string) =>
      `${news.length === 0 ? "" : `${own.filter((each) => withFindings.has(each)).length} of `}${
        counted(own.length, noun)
      }`
    const checked = [
      some(places, n8n ? "workflow" : "workflow file"),
      ...code.length === 0 ? [] : [some(code, "code file")]
    ]
      .join(" and ")
    return {
      json: { [n8n ? "workflows" : "files"]: all.length, ...Writer.tally(news), known },
      findings: news,
      isFailing: (finding: Finding.Finding) => Finding.counts(finding, strict),
      subjects: Writer.subjectsOf(
        news,
        all.filter((place) => !withFindings.has(place)).map((name) => n8n ? { name } : { name, file: name })
      ),
      summary: (counts: string) =>
        `${counts === "" ? `${checked}, nothing found` : `${counts} in ${checked}`}${inBaseline(known)}`
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
  Findings.show(spots).flatMap(({ check, fix, places, what }) =>
    (places.length === 0 ? [undefined] : places).map((place): Finding.Finding => ({
      rule: check,
      severity: Finding.severityOf[check],
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
    workflow: flags.optionalArgument("workflow", "Id, link or name of one workflow; all by default"),
    only: checks("only", "Only this check"),
    except: checks("except", "Without this check"),
    severity: flags.choice("severity", Audit.severities, "Only findings of this severity or a higher one"),
    ...baselineFlags
  },
  form: "findings",
  services: onN8n,
  run: Effect.fnUntraced(function*({ workflow: text, ...flags }) {
    const separate = yield* openBaseline(flags)
    const workflow = text === undefined ? undefined : yield* Reference.idOf(text)
    const scope = Struct.pick(flags, ["only", "except", "severity"])
    const { spots, withoutN8n: note, workflows } = yield* Audit.run(workflow, scope)
    const isIncomplete = note !== undefined
    const checked = yield* Audit.checksOf(scope)
    const hasRun = (check: string) =>
      Audit.checks.some((each) => each === check && checked.has(each) && !(isIncomplete && Audit.byN8n.includes(each)))
    const { known, news } = yield* separate(
      spots,
      spots.map(Audit.keyOf),
      ([check = "", , id = ""]) => hasRun(check) && (workflow === undefined || workflow === id)
    )
    const findings = ofAudit(news)
    return {
      json: { workflows, ...Writer.tally(findings), known, ...(isIncomplete ? { incomplete: true, note } : {}) },
      ...(isIncomplete ? { exit: 1, about: [`${note}.`] } : {}),
      isByRule: true,
      isFailing: () => true,
      findings,
      summary: (counts) =>
        `Checked ${counted(workflows, "workflow")}: ${counts || "nothing found"}${
          inBaseline(known, known === 1 ? " place" : " places")
        }`
    }
  })
})
