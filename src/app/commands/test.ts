/** `test`: runs cases of workflows, which are files. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Tool from "../../answer/Tool.ts"
import { counted } from "../../base/Plural.ts"
import * as CaseFiles from "../../trials/cases/CaseFiles.ts"
import * as CaseRun from "../../trials/cases/CaseRun.ts"
import * as Options from "../Options.ts"
import * as CaseReport from "../report/CaseReport.ts"
import * as JUnit from "../report/JUnit.ts"
import * as ToolContext from "../ToolContext.ts"
import { print, root } from "./root.ts"

const refuse = (message: string) => new Options.InvalidOption({ message })

const found = Effect.fnUntraced(function*(paths: ReadonlyArray<string>) {
  const asked = paths.length === 0 ? ["."] : paths
  const { files, folders } = yield* Effect.mapError(
    CaseFiles.find(asked),
    ({ errorDetails, message }) => refuse(errorDetails === undefined ? message : `${message}: ${errorDetails}`)
  )
  if (files.length === 0) {
    return yield* refuse(
      `No cases found in ${asked.join(", ")}: a case is a file whose name ends in ${CaseFiles.suffix}`
    )
  }
  return { files, folders }
})

const writeJUnit = Effect.fnUntraced(function*(file: string, document: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fs.makeDirectory(path.dirname(path.resolve(file)), { recursive: true }).pipe(
    Effect.andThen(fs.writeFileString(file, document)),
    Effect.mapError(({ reason }) => refuse(`--junit: '${file}' cannot be written: ${reason.message}`))
  )
})

/** Prints each as soon as all before it have been. */
const inOrder = (total: number, show: (outcome: CaseReport.Named) => Effect.Effect<void>) => {
  const outcomes = Array.from<CaseReport.Named | undefined>({ length: total })
  let shown = 0
  return {
    add: (outcome: CaseReport.Named, index: number) =>
      Effect.gen(function*() {
        outcomes[index] = outcome
        for (let next = outcomes[shown]; next !== undefined; next = outcomes[shown]) {
          shown++
          yield* show(next)
        }
      }),
    count: () => outcomes.filter((outcome) => outcome !== undefined).length
  }
}

export const test = Command.make(
  "test",
  {
    paths: Argument.String("path").pipe(
      Argument.withDescription(`Folders with cases (*${CaseFiles.suffix}), and cases; the working directory if none`),
      Argument.variadic()
    ),
    concurrency: Flag.Int("concurrency").pipe(
      Flag.withDescription("How many cases run at once (default 4)"),
      Flag.withMetavar("N"),
      Flag.filter((value) => value >= 1 && value <= 64, () => "between 1 and 64"),
      Flag.withDefault(4)
    ),
    junit: Flag.String("junit").pipe(
      Flag.withDescription("Write the report as JUnit's XML too"),
      Flag.withMetavar("FILE"),
      Flag.optional
    ),
    update: Flag.Boolean("update").pipe(
      Flag.withDescription("Write what comes into the cases instead of comparing"),
      Flag.withDefault(false)
    ),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print the report as JSON"), Flag.withDefault(false))
  },
  Effect.fnUntraced(function*({ concurrency, json, junit, paths, update }) {
    const options = yield* root
    const { files, folders } = yield* found(paths)
    const path = yield* Path.Path
    const isColoured = process.stdout.isTTY && process.env["NO_COLOR"] === undefined
    const startedAt = yield* Clock.currentTimeMillis
    const show = json ? () => Effect.void : (outcome: CaseReport.Named) => print(CaseReport.text(outcome, isColoured))
    const report = inOrder(files.length, show)

    const outcomes = yield* Effect.gen(function*() {
      if (yield* Tool.ReadOnly) {
        return yield* refuse("test runs copies of workflows on n8n, and this is read-only: leave out --read-only")
      }
      const redacts = yield* Tool.RedactSecrets
      return yield* Effect.forEach(files, (file, index) =>
        Effect.gen(function*() {
          const outcome = yield* CaseRun.run(file, { update, redacts })
          const name = path.relative("", file).split(path.sep).join("/")
          const named: CaseReport.Named = { ...outcome, name }
          yield* report.add(named, index)
          return named
        }), { concurrency })
    }).pipe(
      // Workflows of cases are where the cases are, or where the options say.
      Effect.provide(ToolContext.layer(
        {
          ...options,
          transport: "stdio",
          filesRoot: Options.filesRoots({ ...options, transport: "stdio" }, process.env)
        },
        (own) => [...own, ...folders]
      )),
      Effect.onInterrupt(() => {
        // Stopped halfway, it is no success.
        process.exitCode = 1
        return json ? Effect.void : print(`\nInterrupted: ${report.count()} of ${counted(files.length, "case")} ran`)
      })
    )

    const milliseconds = (yield* Clock.currentTimeMillis) - startedAt
    yield* print(
      json
        ? JSON.stringify(CaseReport.json(outcomes, milliseconds))
        : `\n${CaseReport.summary(outcomes, milliseconds)}`
    )
    if (Option.isSome(junit)) yield* writeJUnit(junit.value, JUnit.document(outcomes, { milliseconds, startedAt }))
    if (!outcomes.every(CaseReport.isFine)) process.exitCode = 1
  })
).pipe(Command.withDescription("Test workflows by cases in files; 0 when all are as expected"))
