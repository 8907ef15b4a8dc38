/** Root command, whose options all commands share, and helpers of commands. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Tool from "../../answer/Tool.ts"
import type * as Errors from "../../base/Errors.ts"
import * as Visible from "../../base/Visible.ts"
import * as Options from "../config/Options.ts"
import * as Upstreams from "../config/Upstreams.ts"
import { name } from "../Mcp.ts"
import * as Layout from "../report/Layout.ts"
import * as SyncReport from "../report/SyncReport.ts"

export { name } from "../Mcp.ts"

export const root = Command.make(name).pipe(
  Command.withSharedFlags(Options.flags),
  Command.withDescription(
    "Without a command it is an MCP server, over stdio or HTTP: it serves until stdin ends, or until it is stopped."
  )
)

const printOn = (stream: NodeJS.WriteStream) => (line: string) =>
  Effect.sync(() => void stream.write(`${Visible.terminal(line)}\n`))

/** Shows the progress on a terminal. */
export const showProgress = (done: number, total: number | undefined) =>
  Effect.sync(() => {
    if (process.stderr.isTTY === true) {
      process.stderr.write(done === total ? "\r\u001B[K" : `\r${done} of ${total} workflows`)
    }
  })

export const toggle = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

export const json = toggle("json", "Print the report as JSON")

export const optional = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar), Flag.optional)

export const only = (description: string) =>
  Flag.String("only").pipe(
    Flag.withDescription(`Only this workflow: ${description}; may be repeated`),
    Flag.withMetavar("WORKFLOW"),
    Flag.atLeast(1),
    Flag.optional
  )

/** Argument for a folder, by default the working directory. */
export const folder = (description: string) =>
  Argument.String("folder").pipe(
    Argument.withDescription(`${description}; the working directory by default`),
    Argument.withDefault(".")
  )

/** Real path of a folder and its name in reports, and the file if the path is that of one. */
export const placeOf = Effect.fnUntraced(function*(userPath: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { real, type } = yield* Effect.flatMap(
    fs.realPath(userPath),
    (real) => Effect.map(fs.stat(real), ({ type }) => ({ real, type }))
  ).pipe(Effect.mapError(() => Options.refuse(`'${userPath}' does not exist, or cannot be read`)))
  const isFile = type !== "Directory"
  const shown = path.relative("", path.resolve(userPath))
  return {
    root: isFile ? path.dirname(real) : real,
    shownAs: isFile ? path.dirname(shown) : shown,
    only: isFile ? real : undefined
  }
})

/** Refuses what a command does if its n8n is read-only; `otherwise` is another way out. */
export const checkWrites = (deed: string, otherwise = "") =>
  Effect.flatMap(Tool.ReadOnly, (isReadOnly) =>
    isReadOnly
      ? Options.refuse(
        `${deed}, but this n8n is read-only: remove --read-only, or choose another profile${otherwise}`
      )
      : Effect.void)

export const exit = (code: number) => Effect.sync(() => void (process.exitCode = code))

export const isColoured = process.stdout.isTTY && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb"

/** Converts errors into refusals, which are printed in one line. */
export const explained = Effect.mapError((error: Errors.N8nError | Options.InvalidOption) =>
  error._tag === "InvalidOption" ? error : Options.refuse(SyncReport.explain(error))
)

export const print = printOn(process.stdout)

export const warn = printOn(process.stderr)

/** States and severities at the beginning of a line, and before them a count. */
const marks = /^(\[\d+\/\d+\] )?((failed|invalid|both|conflict|high)|(gone|changed|medium)|created|updated|new)(?= )/

/** Prints a line with its first word in red, yellow or green. */
export const printMarked = (line: string) =>
  print(
    isColoured
      ? line.replace(
        marks,
        (_, count = "", word: string, bad?: string, doubtful?: string) =>
          count + Layout.paint(word, bad !== undefined ? 31 : doubtful !== undefined ? 33 : 32)
      )
      : line
  )

/** Served tools: over stdio those for files too if there is no folder for them, to say what to set. */
export const servedTools = Effect.fnUntraced(function*(options: Options.Options) {
  if (options.transport === "stdio") return yield* Options.servedTools(options, true)
  const { upstreams } = yield* Upstreams.load(options)
  const hasFiles = upstreams.some(({ filesRoots = options.filesRoot }) => filesRoots.length > 0)
  return yield* Options.servedTools(options, hasFiles)
})

export const offeredTools = (options: Options.Options) =>
  Effect.map(servedTools(options), (served) => Tool.offered(served, options.readOnly))
