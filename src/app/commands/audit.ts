/** `audit`: risks on an n8n, with an exit code for CI. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Visible from "../../base/Visible.ts"
import * as Findings from "../../tools/security/Findings.ts"
import * as Audit from "../../workflows/Audit.ts"
import * as ConfigFile from "../config/ConfigFile.ts"
import * as Options from "../config/Options.ts"
import * as ToolContext from "../ToolContext.ts"
import { explained, json, optional, printMarked as print, root, toggle } from "./root.ts"

interface Data {
  readonly findings: ReturnType<typeof Findings.show>
  readonly note?: string
  readonly workflows: number
}

const lines = ({ findings, note, workflows }: Data) => [
  ...findings.flatMap(({ check, count, fix, places, severity, what }) => [
    `${severity} ${check} (${count}): ${Visible.label(what, 400)}`,
    ...places.flatMap(({ at = [], id, name }) => [
      `  ${Visible.label(name)} (${Visible.label(id)})`,
      ...at.map((each) => `    ${Visible.label(each, 200)}`)
    ]),
    `  → ${Visible.label(fix, 400)}`,
    ""
  ]),
  ...(note === undefined ? [] : [`${note}.`]),
  `${counted(workflows, "workflow")}, ${findings.length === 0 ? "nothing found" : counted(findings.length, "finding")}`
]

/** Known findings in a file: one array for each, with check, title, id and place. */
const Baseline = Schema.fromJsonString(Schema.Array(Schema.Array(Schema.String)))

const readBaseline = Effect.fnUntraced(function*(file: string) {
  return yield* (yield* FileSystem.FileSystem).readFileString(file).pipe(
    Effect.mapError((error) =>
      Options.refuse(`--baseline: '${file}' cannot be read: ${ConfigFile.fault(error)}. --update-baseline writes it`)
    ),
    Effect.flatMap((text) =>
      Effect.mapError(
        Schema.decodeEffect(Baseline)(text),
        () => Options.refuse(`--baseline: '${file}' is not a baseline; --update-baseline writes one`)
      )
    )
  )
})

/** Writes the findings, one a line; those that this audit does not look for stay. */
const writeBaseline = Effect.fnUntraced(function*(
  file: string,
  spots: ReadonlyArray<Audit.Spot>,
  isOther: (check: string, id: string) => boolean
) {
  const fs = yield* FileSystem.FileSystem
  const others = (yield* fs.exists(file))
    ? (yield* readBaseline(file)).filter(([check = "", , id = ""]) => isOther(check, id))
    : []
  const lines = [...others, ...spots.map(Audit.keyOf)].map((key) => JSON.stringify(key)).toSorted()
  yield* fs.writeFileString(file, `[\n${lines.join(",\n")}\n]\n`)
}, (effect, file) =>
  Effect.catchTag(
    effect,
    "PlatformError",
    (error) => Effect.fail(Options.refuse(`--baseline: '${file}' cannot be written: ${ConfigFile.fault(error)}`))
  ))

const repeated = (name: string, description: string) =>
  Flag.Literals(name, Audit.checks).pipe(
    Flag.withDescription(`${description}; may be repeated`),
    Flag.atLeast(1),
    Flag.optional
  )

export const audit = Command.make(
  "audit",
  {
    workflow: Argument.String("workflow").pipe(
      Argument.withDescription("Id of one workflow; all by default"),
      Argument.optional
    ),
    only: repeated("only", "Only this check"),
    except: repeated("except", "Without this check"),
    severity: Flag.Literals("severity", Audit.severities).pipe(
      Flag.withDescription("Only findings of this severity or a higher one"),
      Flag.optional
    ),
    baseline: optional("baseline", "FILE", "Report only findings that are not in this file"),
    updateBaseline: toggle("update-baseline", "Write the findings into the baseline, and report none of them"),
    json
  },
  Effect.fnUntraced(function*({ json, updateBaseline, workflow, ...flags }) {
    const options = yield* root
    const file = Option.getOrUndefined(flags.baseline)
    if (updateBaseline && file === undefined) return yield* Options.refuse("--update-baseline needs --baseline FILE")
    const known = file === undefined || updateBaseline ? [] : yield* readBaseline(file)
    const scope = {
      only: Option.getOrUndefined(flags.only),
      except: Option.getOrUndefined(flags.except),
      severity: Option.getOrUndefined(flags.severity)
    }
    const whole = yield* Audit.run(Option.getOrUndefined(workflow), scope).pipe(
      explained,
      Effect.provide(ToolContext.layer(options))
    )
    const isIncomplete = whole.withoutN8n !== undefined
    const { spots } = whole
    if (file !== undefined && updateBaseline) {
      const checks = yield* explained(Audit.checksOf(scope))
      const hasRun = (check: string) =>
        Audit.checks.some((each) => each === check && checks.has(each) && !(isIncomplete && Audit.byN8n.includes(each)))
      yield* writeBaseline(
        file,
        spots,
        (check, id) => !hasRun(check) || Option.exists(workflow, (workflowId) => workflowId !== id)
      )
    }
    const isKnown = new Set(known.map((key) => JSON.stringify(key)))
    const findings = Findings.show(
      updateBaseline ? [] : spots.filter((spot) => !isKnown.has(JSON.stringify(Audit.keyOf(spot))))
    )
    const report = {
      workflows: whole.workflows,
      ok: findings.length === 0 && !isIncomplete,
      ...(isIncomplete ? { incomplete: true } : {}),
      findings,
      ...defined({ note: whole.withoutN8n })
    }
    yield* json ? print(JSON.stringify(report)) : Effect.forEach(lines(report), print, { discard: true })
    if (!report.ok) process.exitCode = isIncomplete ? 1 : 2
  })
).pipe(
  Command.withDescription(
    "Find risks on n8n: secrets, open webhooks, unused credentials …"
  )
)
