/**
 * `pnpm bench page`: runs the benchmarks that need only this machine, one after another, and writes their figures to
 * `.github/docs/benchmarks.md`.
 *
 * **Details**
 *
 * Each has what it is compared with in the same run. The first use installs npm's `n8n-mcp`; all take about 20 minutes,
 * on a machine that does nothing else. `--only starts,load` writes only these parts again, `--quick` runs the short
 * forms and prints the page instead. The exit code is that of the last benchmark that missed a criterion or failed.
 */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Stream from "effect/Stream"
import { version } from "../../src/base/Version.ts"
import { say } from "../support/processes.ts"
import { BenchError } from "./BenchError.ts"
import { file, main, quick } from "./main.ts"
import { pageOf, type Part, partsOf, sections, summaryOf } from "./sections.ts"

const target = file("../../.github/docs/benchmarks.md")

/** Runs a benchmark with its progress on stderr; its output is Markdown that begins with the machine. */
const outputOf = Effect.fnUntraced(function*(name: string, args: ReadonlyArray<string>) {
  const child = yield* ChildProcess.make(process.execPath, [file("run.ts"), name, ...args], {
    stdin: "ignore",
    stderr: "inherit",
    extendEnv: true
  })
  const text = yield* Stream.mkString(Stream.decodeText(child.stdout))
  const code = yield* child.exitCode
  if (text.trim() === "") return yield* new BenchError({ step: name, detail: `ended with ${code}` })
  if (code !== 0) process.exitCode = code
  return text
}, Effect.scoped)

const page = Command.make(
  "page",
  {
    quick: quick("The short forms; prints the page"),
    only: Flag.String("only").pipe(Flag.withDescription("Parts to measure again, separated by commas"), Flag.optional)
  },
  Effect.fnUntraced(function*({ only, quick }) {
    const fs = yield* FileSystem.FileSystem
    const chosen = Option.match(only, {
      onNone: () => sections.map(({ name }) => name),
      onSome: (text) => text.split(",")
    })
    const unknown = chosen.filter((name) => !sections.some((section) => section.name === name))
    if (unknown.length > 0) {
      const all = sections.map(({ name }) => name).join(", ")
      return yield* new BenchError({ step: "--only", detail: `no part is called '${unknown.join(", ")}', but: ${all}` })
    }
    const parts = new Map(Option.isSome(only) ? partsOf(yield* fs.readFileString(target)) : [])
    for (const { args = [], name } of sections.filter(({ name }) => chosen.includes(name))) {
      yield* say(`bench ${name}`)
      const output = yield* outputOf(name, quick ? ["--quick", ...args] : args)
      const date = DateTime.formatIsoDateUtc(yield* DateTime.now)
      const part: Part = { summary: summaryOf(output), measured: `${date}, version ${version}` }
      parts.set(name, part)
    }
    const text = pageOf(parts)
    yield* quick ? Console.log(text) : fs.writeFileString(target, text)
  })
).pipe(Command.withDescription("Write the page of the benchmarks"))

main(page)
