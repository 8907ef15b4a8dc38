/** The command without a name; its options are every command's. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Tool from "../../answer/Tool.ts"
import * as Visible from "../../base/Visible.ts"
import { name } from "../Mcp.ts"
import * as Options from "../Options.ts"
import * as Places from "../Places.ts"

export { name } from "../Mcp.ts"

export const root = Command.make(name).pipe(
  Command.withSharedFlags(Options.flags),
  Command.withDescription(
    "MCP server for n8n, over stdio or HTTP. Without a command it serves until stdin ends, or until it is stopped."
  )
)

const printOn = (stream: NodeJS.WriteStream) => (line: string) =>
  Effect.sync(() => void stream.write(`${Visible.terminal(line)}\n`))

/** Prints lines on stdout. */
export const print = printOn(process.stdout)

/** Prints lines on stderr. */
export const warn = printOn(process.stderr)

/** The tools that are served. */
export const servedTools = (options: Options.Options) =>
  Effect.flatMap(Places.offersFiles(options), (hasFiles) => Options.servedTools(options, hasFiles))

/** The tools that a client is offered. */
export const offeredTools = (options: Options.Options) =>
  Effect.map(servedTools(options), (served) => Tool.offered(served, options.readOnly))
