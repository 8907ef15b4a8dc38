/** `test`: runs the cases of workflows in files. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Semaphore from "effect/Semaphore"
import * as Tool from "../../answer/Tool.ts"
import { counted } from "../../base/Plural.ts"
import * as CaseRun from "../../trials/cases/CaseRun.ts"
import * as Options from "../config/Options.ts"
import * as CaseReport from "../report/CaseReport.ts"
import * as JUnit from "../report/JUnit.ts"
import * as ToolContext from "../ToolContext.ts"
import { checkWrites, isColoured, json, optional, print, root, toggle } from "./root.ts"

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

/** Writes a JUnit document, with its folder. */
export const writeJUnit = Effect.fnUntraced(function*(file: string, document: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fs.makeDirectory(path.dirname(path.resolve(file)), { recursive: true }).pipe(
    Effect.andThen(fs.writeFileString(file, document)),
    Effect.mapError(({ reason }) => Options.refuse(`--junit: '${file}' cannot be written: ${reason.message}`))
  )
})

export const test = Command.make(
  "test",
  {
    paths: Argument.String("path").pipe(
      Argument.withDescription(
        `Folders with cases (*${CaseRun.suffix}), and cases; the working directory by default`
      ),
      Argument.variadic()
    ),
    concurrency: Flag.Int("concurrency").pipe(
      Flag.withDescription("Maximum number of concurrent cases (default 4)"),
      Flag.withMetavar("N"),
      Flag.filter((value) => value >= 1 && value <= 64, () => "between 1 and 64"),
      Flag.withDefault(4)
    ),
    junit: optional("junit", "FILE", "Also write the report as JUnit XML"),
    update: toggle("update", "Write the results into the cases instead of comparing"),
    json
  },
  Effect.fnUntraced(function*({ concurrency, json, junit, paths, update }) {
    const options = yield* root
    const { files, folders } = yield* findCases(paths)
    const path = yield* Path.Path
    const startedAt = yield* Clock.currentTimeMillis
    const show = json ? () => Effect.void : (outcome: CaseReport.Named) => print(CaseReport.text(outcome, isColoured))
    let ran = 0

    const outcomes = yield* Effect.gen(function*() {
      yield* checkWrites("test runs copies of workflows on n8n")
      const redacts = yield* Tool.RedactSecrets
      const run = Effect.fnUntraced(function*(file: string) {
        const outcome = yield* CaseRun.run(file, { update, redacts })
        ran++
        return { ...outcome, name: path.relative("", file).split(path.sep).join("/") }
      })
      // In the order of the cases, each as soon as possible.
      const permits = yield* Semaphore.make(concurrency)
      const fibers = yield* Effect.forEach(files, (file) => Effect.forkScoped(permits.withPermit(run(file))))
      return yield* Effect.forEach(fibers, (fiber) => Effect.tap(Fiber.join(fiber), show))
    }).pipe(
      Effect.scoped,
      // Workflows are beside their cases, or in the folders of the options.
      Effect.provide(ToolContext.layer(
        {
          ...options,
          transport: "stdio",
          filesRoot: Options.filesRoots({ ...options, transport: "stdio" }, process.env)
        },
        (own) => [...own, ...folders]
      )),
      Effect.onInterrupt(() => {
        process.exitCode = 1
        return json ? Effect.void : print(`\nInterrupted: ${ran} of ${counted(files.length, "case")} ran`)
      })
    )

    const milliseconds = (yield* Clock.currentTimeMillis) - startedAt
    yield* print(
      json
        ? JSON.stringify(CaseReport.json(outcomes, milliseconds))
        : `\n${CaseReport.summary(outcomes, milliseconds)}`
    )
    if (Option.isSome(junit)) {
      yield* writeJUnit(junit.value, JUnit.document(outcomes.map(CaseReport.junit), { milliseconds, startedAt }))
    }
    if (!outcomes.every(CaseReport.isFine)) process.exitCode = 1
  })
).pipe(Command.withDescription("Test workflows by cases in files"))
