/** Values of the options on the command line and in the environment. Imports no command line: starts are lean. */
import type * as Command from "effect/cli/Command"
import * as Data from "effect/Data"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { homedir } from "node:os"
import { isAbsolute, relative, resolve } from "node:path"
import * as Locale from "../../answer/Locale.ts"
import * as Minimize from "../../answer/Minimize.ts"
import * as Tool from "../../answer/Tool.ts"
import type { flags } from "./Declarations.ts"
import type * as PlainOptions from "./PlainOptions.ts"

export type Options = Command.Command.Config.Infer<typeof flags>

export class InvalidOption extends Data.TaggedError("InvalidOption")<{ readonly message: string }> {}

export const refuse = (message: string) => new InvalidOption({ message })

/** Environment without empty variables: `${N8N_URL:-}` in an `.mcp.json` means "not set". */
export const variables = (env: NodeJS.ProcessEnv): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1])))

const textOf = (value: unknown) => Redacted.isRedacted(value) ? Redacted.value(value) : value

/** Whether a value comes from the command line, rather than from this variable. */
export const isNamed = (value: unknown, variable: string, env: NodeJS.ProcessEnv = process.env): boolean =>
  value !== undefined && textOf(value) !== env[variable]

/** Language, size and secrets of answers. */
export const layerAnswers = ({ locale, maxResultChars, showSecrets }: Options) =>
  Layer.mergeAll(
    Layer.succeed(Locale.CurrentLocale, locale),
    Layer.succeed(Minimize.MaxResultChars, maxResultChars),
    Layer.succeed(Tool.RedactSecrets, !showSecrets)
  )

/** Whether the folder is the root or contains the home folder, as when desktop apps start servers. */
const isTooWide = (folder: string) => {
  const path = relative(folder, homedir())
  return folder === resolve(folder, "/") || !path.startsWith("..") && !isAbsolute(path)
}

/** Folders of `--files-root`, else the client's project or the working directory; none over HTTP by default. */
export const filesRoots = (
  { filesRoot, transport }: Pick<Options, "filesRoot" | "transport">,
  env: NodeJS.ProcessEnv
): ReadonlyArray<string> => {
  if (filesRoot.length > 0 || transport === "http") return filesRoot
  const folder = resolve(env["CLAUDE_PROJECT_DIR"] || ".")
  return isTooWide(folder) ? [] : [folder]
}

const valueOf = (
  { fallback, format, isList, isSecret }: PlainOptions.Option,
  texts: ReadonlyArray<string> | undefined
) => {
  if (texts === undefined) return fallback
  const values = texts.filter((text) => text !== "").map((text) => {
    if (isSecret) return Redacted.make(text)
    if (format === "filepath" && isList) return resolve(text)
    return format === "boolean" ? true : format === "number" ? Number(text) : text
  })
  return isList ? values : values[0]
}

/** The options of a start in plain forms: the same as the command line would read. */
export const fromPlain = (values: PlainOptions.Values, declarations: ReadonlyArray<PlainOptions.Option>): Options =>
  Object.fromEntries(declarations.map((option) => [
    option.name.replace(/-([a-z\d])/g, (_, letter: string) => letter.toUpperCase()),
    valueOf(option, values.get(option.name))
  ])) as unknown as Options
