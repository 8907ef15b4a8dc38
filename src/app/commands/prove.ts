/** `prove`: replays recorded runs on a changed workflow, and compares. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Tool from "../../answer/Tool.ts"
import * as Drill from "../../trials/drill/Drill.ts"
import * as Groups from "../../trials/proof/Groups.ts"
import * as Proof from "../../trials/proof/Proof.ts"
import * as Replays from "../../trials/Replays.ts"
import * as JUnit from "../report/JUnit.ts"
import * as ProofReport from "../report/ProofReport.ts"
import { withFolders } from "./picture.ts"
import { checkWrites, explained, isColoured, json, optional, print, root, toggle } from "./root.ts"
import { writeJUnit } from "./test.ts"

/** Milliseconds for one replay. */
export const timeout = 120_000

export const last = Flag.Int("last").pipe(
  Flag.withDescription(
    `Number of recorded runs of a workflow, the newest (1 to ${Replays.maxRuns}, default ${Replays.defaultLast})`
  ),
  Flag.withMetavar("N"),
  Flag.filter((value) => value >= 1 && value <= Replays.maxRuns, () => `between 1 and ${Replays.maxRuns}`),
  Flag.optional
)

export const prove = Command.make(
  "prove",
  {
    workflow: Argument.String("workflow").pipe(
      Argument.withDescription("Id, ID@VERSION, or a file: the changed workflow")
    ),
    last,
    execution: Flag.String("execution").pipe(
      Flag.withDescription("Only this run; may be repeated"),
      Flag.withMetavar("ID"),
      Flag.atMost(Replays.maxRuns)
    ),
    ignore: Flag.String("ignore").pipe(
      Flag.withDescription("Path not to compare: email, or 'Map contact'.email; may be repeated"),
      Flag.withMetavar("PATH"),
      Flag.atMost(50)
    ),
    drill: toggle("drill", "Instead, let each node that reaches outside fail once, on copies"),
    junit: optional("junit", "FILE", "Also write the report as JUnit XML"),
    json
  },
  Effect.fnUntraced(function*({ drill, execution, ignore, json, junit, last, workflow }) {
    const options = yield* root
    const startedAt = yield* Clock.currentTimeMillis
    const selected = {
      last: Option.getOrUndefined(last),
      executions: execution.length === 0 ? undefined : execution,
      timeout
    }
    const run = Effect.gen(function*() {
      yield* checkWrites("prove runs copies of workflows on n8n")
      if (drill) {
        const result = yield* Drill.drill(workflow, selected)
        return {
          code: Drill.exitCode(result),
          result,
          text: ProofReport.drill(result, isColoured),
          cases: ProofReport.drillCases(result)
        }
      }
      const { left: _, outcomes, ...result } = yield* Proof.prove(workflow, {
        ...selected,
        ignore,
        redacts: yield* Tool.RedactSecrets
      })
      return {
        code: Groups.exitCode(result),
        result,
        text: ProofReport.text(result, isColoured),
        cases: ProofReport.junit(result.workflow.name, outcomes, result.notReplayed)
      }
    })
    const { cases, code, result, text } = yield* run.pipe(explained, Effect.provide(yield* withFolders(options)))
    yield* print(json ? JSON.stringify(result) : text)
    if (Option.isSome(junit)) {
      const milliseconds = (yield* Clock.currentTimeMillis) - startedAt
      yield* writeJUnit(junit.value, JUnit.document(cases, { milliseconds, startedAt }))
    }
    process.exitCode = code
  })
).pipe(
  Command.withDescription(
    "Replay recorded runs on a changed workflow, send nothing, and compare"
  )
)
