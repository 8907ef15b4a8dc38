/** Root command, whose options all commands share, and parts of commands. */
import * as Command from "effect/cli/Command"
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { dirname, relative, resolve } from "node:path"
import * as Tool from "../../answer/Tool.ts"
import { flags } from "../config/Declarations.ts"
import * as Options from "../config/Options.ts"
import { name } from "../Environment.ts"
import * as Mcp from "../Mcp.ts"
import * as Layout from "../report/Layout.ts"

export { name } from "../Environment.ts"

export const root = Command.make(name).pipe(
  Command.withSharedFlags(flags),
  Command.withDescription(
    "Without a command it is an MCP server, over stdio or HTTP, until stdin ends or it is stopped."
  )
)

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

/** Whether a person agrees; one who leaves the question does not. */
export const isConfirmed = (message: string) =>
  Effect.orElseSucceed(Prompt.run(Prompt.Confirm({ message, initial: false })), () => false)

/** Program with the options that choose the same n8n again, for commands that a report suggests. */
export const programFor = ({ demo, profile }: Options.Options) =>
  `${name}${demo ? " --demo" : profile === undefined ? "" : ` --profile ${Layout.shellWord(profile)}`}`

export const exit = (code: number) => Effect.sync(() => void (process.exitCode = code))

export const offeredTools = (options: Options.Options) =>
  Effect.map(Mcp.servedTools(options), (served) => Tool.offered(served, options.readOnly))
