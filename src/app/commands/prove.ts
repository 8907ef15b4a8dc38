/** `test` and `prove`: run workflows as temporary copies, by cases in files or by recorded runs, and compare. */
import * as Argument from "effect/cli/Argument"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import * as Struct from "effect/Struct"
import { relative, sep } from "node:path"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import { counted } from "../../base/Plural.ts"
import * as Links from "../../n8n/Links.ts"
import * as CaseRun from "../../trials/cases/CaseRun.ts"
import * as Drill from "../../trials/drill/Drill.ts"
import * as CallersProof from "../../trials/proof/CallersProof.ts"
import * as Proof from "../../trials/proof/Proof.ts"
import * as Replays from "../../trials/Replays.ts"
import * as Reference from "../../workflows/Reference.ts"
import * as Options from "../config/Options.ts"
import * as CaseReport from "../report/CaseReport.ts"
import * as ProofReport from "../report/ProofReport.ts"
import * as Terminal from "../Terminal.ts"
import * as ToolContext from "../ToolContext.ts"
import { fileOf, withFolders } from "./drawings.ts"
import * as flags from "./flags.ts"
import { checkWrites, exit, row } from "./row.ts"

const findCases = Effect.fnUntraced(function*(paths: ReadonlyArray<string>) {
  const roots = paths.length === 0 ? ["."] : paths
  const { files, folders } = yield* Effect.mapError(
    CaseRun.find(roots),
    ({ errorDetails, message }) => Options.refuse(errorDetails === undefined ? message : `${message}: ${errorDetails}`)
  )
  if (files.length === 0) {
    return yield* Options.refuse(
      `No cases found in ${roots.join(", ")}: a case is a file whose name ends in ${CaseRun.suffix}`
    )
  }
  return { files, folders }
})

export const test = row({
  name: "test",
  description: "Test workflows by cases in files",
  flags: {
    paths: flags.argument(
      "path",
      `Folders with cases (*${CaseRun.suffix}), and cases; the working directory by default`
    ).pipe(Argument.variadic()),
    concurrency: flags.integer("concurrency", [1, 64], "Maximum number of concurrent cases (default 4)"),
    update: flags.toggle("update", "Write the results into the cases instead of comparing")
  },
  form: "findings",
  services: () => Layer.empty,
  run: Effect.fnUntraced(function*({ concurrency = 4, paths, update }, options, { format, screen }) {
    const { files, folders } = yield* findCases(paths)
    const startedAt = yield* Clock.currentTimeMillis
    const print = (text: string) => format === "text" ? Terminal.print(text) : Effect.void
    let ran = 0

    const outcomes = yield* Effect.gen(function*() {
      yield* checkWrites("test runs copies of workflows on n8n")
      const redacts = yield* Tool.RedactSecrets
      const run = Effect.fnUntraced(function*(file: string) {
        const outcome = yield* CaseRun.run(file, { update, redacts })
        ran++
        return { ...outcome, name: relative("", file).split(sep).join("/") }
      })
      // In the order of the cases, each as soon as possible.
      const permits = yield* Semaphore.make(concurrency)
      const fibers = yield* Effect.forEach(files, (file) => Effect.forkScoped(permits.withPermit(run(file))))
      return yield* Effect.forEach(
        fibers,
        (fiber) => Effect.tap(Fiber.join(fiber), (outcome) => print(CaseReport.text(outcome, screen.isColoured)))
      )
    }).pipe(
      Effect.scoped,
      // Workflows are beside their cases, or in the folders of the options.
      Effect.provide(ToolContext.layer(options, (own) => [...own, ...folders])),
      Effect.onInterrupt(() =>
        Effect.andThen(exit(1), print(`\nInterrupted: ${ran} of ${counted(files.length, "case")} ran`))
      )
    )
    return CaseReport.judgment(outcomes, (yield* Clock.currentTimeMillis) - startedAt)
  })
})

/** Milliseconds for one replay. */
export const timeout = 120_000

export const last = flags.integer(
  "last",
  [1, Replays.maxRuns],
  `Number of recorded runs of a workflow, the newest (1 to ${Replays.maxRuns}, default ${Replays.defaultLast})`
)

export const prove = row({
  name: "prove",
  description: "Replay recorded runs on a changed workflow, send nothing, and compare",
  flags: {
    workflow: flags.argument("workflow", "Id, ID@VERSION, link, name or file: the changed workflow"),
    last,
    executions: flags.texts("execution", "ID", "Only this run; may be repeated", Replays.maxRuns),
    ignore: flags.texts("ignore", "PATH", "Path not to compare: email, or 'Map contact'.email; may be repeated", 50),
    allow: flags.choice("allow", ["fixed"], "Exit with 0 if all that differs are failed runs that no longer fail"),
    callers: flags.toggle("callers", "Instead, replay the runs of the workflows that call it, with it inside"),
    drill: flags.toggle("drill", "Instead, let each node that reaches outside fail once, on copies")
  },
  form: "findings",
  services: ({ workflow }, options) => Layer.unwrap(withFolders(options, fileOf(workflow))),
  run: ({ allow, callers, drill, executions, ignore, last, workflow }) =>
    Reference.resolve(
      workflow,
      Effect.fnUntraced(function*(workflow) {
        yield* checkWrites("prove runs copies of workflows on n8n")
        const runs = yield* Effect.mapError(
          Effect.forEach(executions, Links.executionOf),
          (fault) => Options.refuse(Hints.explain(fault, { as: "person" }))
        )
        const selected = { last, executions: runs.length === 0 ? undefined : runs, timeout }
        if (drill) return ProofReport.drill(yield* Drill.drill(workflow, selected))
        const compared = { ...selected, ignore, redacts: yield* Tool.RedactSecrets }
        return callers
          ? ProofReport.many(Struct.omit(yield* CallersProof.prove(workflow, compared), ["next"]))
          : ProofReport.one(yield* Proof.prove(workflow, compared), allow === "fixed")
      })
    )
})
