/** Root command, whose options all commands share, and parts of commands. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { dirname, relative, resolve } from "node:path"
import * as Tool from "../../answer/Tool.ts"
import * as Errors from "../../base/Errors.ts"
import { flags } from "../config/Declarations.ts"
import * as Options from "../config/Options.ts"
import { name } from "../Environment.ts"
import * as Mcp from "../Mcp.ts"
import * as Layout from "../report/Layout.ts"
import * as SyncReport from "../report/SyncReport.ts"
import { isColoured, print, progress, say } from "../Terminal.ts"

export { name } from "../Environment.ts"
export { isColoured, isInteractive, print, warn } from "../Terminal.ts"

export const root = Command.make(name).pipe(
  Command.withSharedFlags(flags),
  Command.withDescription(
    "Without a command it is an MCP server, over stdio or HTTP, until stdin ends or it is stopped."
  )
)

/** Command whose handler gets its flags, and the options that all commands share. */
export const command = <const Name extends string, const Config extends Command.Command.Config, E, R>(
  name: Name,
  description: string,
  config: Config,
  run: (
    flags: Command.Command.Config.Infer<Config>,
    options: Options.Options
  ) => Effect.Effect<void, E | Errors.N8nError, R>
) =>
  Command.make(name, config, (flags) =>
    Effect.flatMap(root, (options) => run(flags, options)).pipe(
      // Refusals are printed in one line.
      Effect.mapError((error) => Errors.isN8nError(error) ? Options.refuse(SyncReport.explain(error)) : error as E)
    )).pipe(Command.withDescription(description))

/** Prints a report as JSON or as lines. */
export const report = (json: boolean, value: object, lines: () => ReadonlyArray<string>, show = say) =>
  json ? print(JSON.stringify(value)) : Effect.forEach(lines(), show, { discard: true })

export const showProgress = (done: number, total: number | undefined) =>
  progress(done === total ? "" : `${done} of ${total} workflows`)

/** Real path of a folder and its name in reports, and the file if the path leads to one. */
export const placeOf = Effect.fnUntraced(function*(userPath: string) {
  const fs = yield* FileSystem.FileSystem
  const { real, type } = yield* Effect.flatMap(
    fs.realPath(userPath),
    (real) => Effect.map(fs.stat(real), ({ type }) => ({ real, type }))
  ).pipe(Effect.mapError(() => Options.refuse(`'${userPath}' does not exist, or cannot be read`)))
  const isFile = type !== "Directory"
  const shown = relative("", resolve(userPath))
  return {
    root: isFile ? dirname(real) : real,
    shownAs: isFile ? dirname(shown) : shown,
    only: isFile ? real : undefined
  }
})

/** Fails if the n8n is read-only; `deed` says what the command does, `otherwise` names an alternative. */
export const checkWrites = (deed: string, otherwise = "") =>
  Effect.flatMap(Tool.ReadOnly, (isReadOnly) =>
    isReadOnly
      ? Options.refuse(
        `${deed}, but this n8n is read-only: remove --read-only, or choose another profile${otherwise}`
      )
      : Effect.void)

/** Program with the options that choose the same n8n again, for commands that a report suggests. */
export const programFor = ({ demo, profile }: Options.Options) =>
  `${name}${demo ? " --demo" : profile === undefined ? "" : ` --profile ${Layout.shellWord(profile)}`}`

export const exit = (code: number) => Effect.sync(() => void (process.exitCode = code))

/** Prints a line with its first word in red, yellow or green. */
export const printMarked = (line: string) => say(Layout.marked(line, isColoured))

export const offeredTools = (options: Options.Options) =>
  Effect.map(Mcp.servedTools(options), (served) => Tool.offered(served, options.readOnly))
