/** `audit`: risks on an n8n, with an exit code for CI. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Visible from "../../base/Visible.ts"
import * as Findings from "../../tools/security/Findings.ts"
import * as Audit from "../../workflows/Audit.ts"
import * as ToolContext from "../ToolContext.ts"
import * as baseline from "./baseline.ts"
import { explained, json, name as program, printMarked as print, root } from "./root.ts"

interface Data {
  readonly findings: ReturnType<typeof Findings.show>
  readonly note?: string
  readonly workflows: number
}

/** Fixes that a person makes in another way than a model. */
const byHand: { readonly [check: string]: string } = {
  "literal-secret":
    "Use a credential in the node and remove the value; then rotate the secret, because the workflow's history still has it.",
  "outdated-node": `${program} upgrade --n8n moves them on in drafts, and proves them on recorded runs.`
}

const lines = ({ findings, note, workflows }: Data) => [
  ...findings.flatMap(({ check, count, fix, places, severity, what }) => [
    `${severity} ${check} (${count}): ${Visible.label(what, 400)}`,
    ...places.flatMap(({ at = [], id, name }) => [
      `  ${Visible.label(name)} (${Visible.label(id)})`,
      ...at.map((each) => `    ${Visible.label(each, 200)}`)
    ]),
    `  → ${Visible.label(byHand[check] ?? fix, 400)}`,
    ""
  ]),
  ...(note === undefined ? [] : [`${note}.`]),
  `${counted(workflows, "workflow")}, ${findings.length === 0 ? "nothing found" : counted(findings.length, "finding")}`
]

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
    ...baseline.flags,
    json
  },
  Effect.fnUntraced(function*({ json, updateBaseline, workflow, ...flags }) {
    const options = yield* root
    const known = yield* baseline.open(Option.getOrUndefined(flags.baseline), updateBaseline)
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
    const checks = yield* explained(Audit.checksOf(scope))
    const hasRun = (check: string) =>
      Audit.checks.some((each) => each === check && checks.has(each) && !(isIncomplete && Audit.byN8n.includes(each)))
    yield* known.update(
      spots.map(Audit.keyOf),
      ([check = "", , id = ""]) => !hasRun(check) || Option.exists(workflow, (workflowId) => workflowId !== id)
    )
    const findings = Findings.show(spots.filter((spot) => !known.isKnown(Audit.keyOf(spot))))
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
