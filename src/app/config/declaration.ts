/** Declaration of an option: its flag, its environment variable, and its text in help, documentation and manifests. */
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import { identity } from "effect/Function"
import * as Redacted from "effect/Redacted"
import { delimiter, resolve } from "node:path"
import { splitList } from "./forms.ts"

export interface Declaration<A> {
  /** Value: from the command line, else the variable, else the default. */
  readonly flag: Flag.Flag<A>
  readonly name: string
  /** Placeholder of the value in help; empty for a toggle. */
  readonly metavar: string
  readonly variable: string
  readonly description: string
  /** Default in help and documentation; empty without one. */
  readonly defaultText: string
  readonly format: "string" | "number" | "boolean" | "filepath"
  readonly isSecret: boolean
  readonly choices: ReadonlyArray<string>
  /** Least and greatest number. */
  readonly range: readonly [min: number, max: number] | undefined
  /** Whether the flag may be repeated. */
  readonly isList: boolean
}

/** Properties that cannot be derived: a variable other than `N8N_MCP_` and the name, or a dynamic default. */
type Exceptions = Partial<Pick<Declaration<unknown>, "variable" | "defaultText">>

interface Kind<A> extends Partial<Pick<Declaration<A>, "isSecret" | "choices" | "range" | "isList">> {
  readonly flag: (name: string) => Flag.Flag<A>
  readonly config: (variable: string) => Config.Config<A>
  readonly check?: (flag: Flag.Flag<A>) => Flag.Flag<A>
  readonly format: Declaration<A>["format"]
}

const declare = <A, B>(
  { check = identity, choices = [], config, flag, format, isList = false, isSecret = false, range }: Kind<A>,
  usage: string,
  description: string,
  { defaultText = "", variable }: Exceptions,
  withDefault: (flag: Flag.Flag<A>) => Flag.Flag<B>
): Declaration<B> => {
  const [name = "", metavar = choices.join("|")] = usage.split(" ")
  const twin = variable ?? `N8N_MCP_${name.replaceAll("-", "_").toUpperCase()}`
  const shownDefault = defaultText === "" || format === "boolean" ? "" : ` (default ${defaultText})`
  return {
    flag: flag(name).pipe(
      Flag.withDescription(`${description}${shownDefault} [${twin}]`),
      choices.length > 0 || metavar === "" ? identity : Flag.withMetavar(metavar),
      Flag.withFallbackConfig(config(twin)),
      check,
      withDefault
    ),
    name,
    metavar,
    variable: twin,
    description,
    defaultText,
    format,
    isSecret,
    choices,
    range,
    isList
  }
}

/** Option without a default; `usage` is its name and placeholder. */
export const optional = <A>(kind: Kind<A>, usage: string, description: string, exceptions: Exceptions = {}) =>
  declare<A, A | undefined>(kind, usage, description, exceptions, Flag.withDefault(undefined))

export const withDefault = <A>(
  kind: Kind<A>,
  value: NoInfer<A>,
  usage: string,
  description: string,
  exceptions: Exceptions = {}
) => declare<A, A>(kind, usage, description, { defaultText: String(value), ...exceptions }, Flag.withDefault(value))

export const several = <A>(
  kind: Kind<ReadonlyArray<A>>,
  usage: string,
  description: string,
  exceptions: Exceptions = {}
) => withDefault(kind, [], usage, description, { defaultText: "", ...exceptions })

export const toggle = (usage: string, description: string) =>
  withDefault({ flag: Flag.Boolean, config: Config.Boolean, format: "boolean" }, false, usage, description, {
    defaultText: "off"
  })

export const text: Kind<string> = { flag: Flag.String, config: Config.String, format: "string" }

export const file: Kind<string> = { ...text, format: "filepath" }

export const secret: Kind<Redacted.Redacted<string>> = {
  flag: Flag.Redacted,
  config: Config.Redacted,
  format: "string",
  isSecret: true
}

export const integer = (min: number, max = Number.MAX_SAFE_INTEGER): Kind<number> => ({
  flag: Flag.Int,
  config: Config.Int,
  format: "number",
  range: [min, max],
  check: Flag.filter(
    (value) => value >= min && value <= max,
    () => max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `between ${min} and ${max}`
  )
})

export const choice = <const Choices extends ReadonlyArray<string>>(choices: Choices): Kind<Choices[number]> => ({
  flag: (name) => Flag.Literals(name, choices),
  config: (variable) => Config.Literals(choices, variable),
  format: "string",
  choices
})

/** Several texts: the flag may be repeated, and commas separate values in flag and variable. */
export const list: Kind<ReadonlyArray<string>> = {
  flag: (name) => Flag.String(name).pipe(Flag.atLeast(1), Flag.map((texts) => texts.flatMap(splitList))),
  config: (variable) => Config.map(Config.String(variable), splitList),
  format: "string",
  isList: true
}

const absolute = (paths: ReadonlyArray<string>) => paths.filter((path) => path !== "").map((path) => resolve(path))

/** Several absolute paths: the flag may be repeated; the variable separates them as `PATH` does. */
export const paths: Kind<ReadonlyArray<string>> = {
  flag: (name) => Flag.String(name).pipe(Flag.atLeast(1), Flag.map(absolute)),
  config: (variable) => Config.map(Config.String(variable), (text) => absolute(text.split(delimiter))),
  format: "filepath",
  isList: true
}

const splitSecrets = (text: string) => {
  const values = splitList(text)
  // An empty variable must not silently open the server: it counts as one token, which is refused.
  return (values.length === 0 ? [""] : values).map((value) => Redacted.make(value))
}

/** Several secrets: the flag may be repeated; commas separate them in the variable. */
export const secrets: Kind<ReadonlyArray<Redacted.Redacted<string>>> = {
  flag: (name) => Flag.atLeast(Flag.Redacted(name), 1),
  config: (variable) => Config.map(Config.String(variable), splitSecrets),
  format: "string",
  isList: true,
  isSecret: true
}
