/** `audit`: risks on an n8n, with an exit code for CI. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Visible from "../../base/Visible.ts"
import * as tools from "../../tools/index.ts"
import * as Audit from "../../workflows/Audit.ts"
import * as ToolContext from "../ToolContext.ts"
import { explained, json, print, root } from "./root.ts"

type Data = Pick<Effect.Success<ReturnType<typeof tools.audit.call>>, "findings" | "note" | "workflows">

const lines = ({ findings, note, workflows }: Data) => [
  ...findings.flatMap(({ check, count, fix, places, what }) => [
    `${check} (${count}): ${Visible.label(what, 400)}`,
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

export const audit = Command.make(
  "audit",
  {
    workflow: Argument.String("workflow").pipe(
      Argument.withDescription("Id of one workflow; all by default"),
      Argument.optional
    ),
    only: Flag.Literals("only", Audit.checks).pipe(
      Flag.withDescription("Only this check; may be repeated"),
      Flag.atLeast(1),
      Flag.optional
    ),
    json
  },
  Effect.fnUntraced(function*({ json, only, workflow }) {
    const options = yield* root
    const whole = yield* tools.audit.call(
      Option.match(workflow, { onNone: () => ({}), onSome: (workflowId) => ({ workflowId }) })
    ).pipe(
      explained,
      Effect.provide(ToolContext.layer(options))
    )
    const { incomplete: lacksN8n = false, note, ...rest } = whole
    const checks: ReadonlySet<string> = new Set(Option.getOrElse(only, () => Audit.checks))
    const findings = whole.findings.filter(({ check }) => checks.has(check))
    const isIncomplete = lacksN8n && [...Audit.byN8n].some((check) => checks.has(check))
    const report = {
      ...rest,
      ok: findings.length === 0 && !isIncomplete,
      ...(isIncomplete ? { incomplete: true } : {}),
      findings,
      ...defined({ note: isIncomplete ? note : undefined })
    }
    yield* json ? print(JSON.stringify(report)) : Effect.forEach(lines(report), print, { discard: true })
    if (!report.ok) process.exitCode = isIncomplete ? 1 : 2
  })
).pipe(
  Command.withDescription(
    "Find risks on n8n: secrets, open webhooks, unused credentials …; exits with 2 for findings, 1 if incomplete"
  )
)
