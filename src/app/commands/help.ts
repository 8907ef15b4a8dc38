/** Help in at most 40 lines of 100 characters: usage, own options, examples, exit status; `help.json` beside has data. */
import type * as CliError from "effect/cli/CliError"
import type * as HelpDoc from "effect/cli/HelpDoc"
import * as Option from "effect/Option"
import { nearest } from "../../base/Nearest.ts"
import * as Rows from "../../base/Rows.ts"
import * as tools from "../../tools/index.ts"
import { general } from "../config/Declarations.ts"
import { name } from "../Environment.ts"
import * as Layout from "../report/Layout.ts"
import json from "./help.json" with { type: "json" }

interface About {
  readonly exits?: { readonly [status: string]: string }
  readonly examples: ReadonlyArray<ReadonlyArray<string>>
}

export const about: { readonly [command: string]: About } = json

export const maxWidth = 100

const choicesIn = / \(choices: (.*)\)$/

/** Placeholder of a value in a narrow column: its choices, if they are few. */
const maxChoices = 30

const flagPair = ({ aliases, description, name, type }: HelpDoc.FlagDoc): Layout.Pair => {
  const text = Option.getOrElse(description, () => "")
  const choices = choicesIn.exec(text)?.[1]?.replaceAll(", ", "|")
  const isShort = choices !== undefined && choices.length <= maxChoices
  const value = type === "boolean" ? "" : ` ${isShort ? choices : choices === undefined ? type : "NAME"}`
  return [
    `${[`--${name}`, ...aliases].join(", ")}${value}`,
    choices === undefined ? text : text.replace(choicesIn, isShort ? "" : `: ${choices.replaceAll("|", ", ")}`)
  ]
}

const section = (title: string, lines: ReadonlyArray<string>) => lines.length === 0 ? [] : [title, ...lines, ""]

const examples = (key: string, width: number) =>
  section(
    "Examples",
    (about[key]?.examples ?? []).flatMap(([args = "", text = ""]) => {
      const line = `  ${name} ${args}`.trimEnd()
      return line.length + text.length + 5 > width
        ? [`  # ${text}`, line]
        : [`${line}   # ${text}`]
    })
  )

const exits = (key: string, width: number) =>
  Layout.wrap(
    `Exit status: ${
      Object.entries({ 0: "done", 1: "error", ...about[key]?.exits }).map(([code, text]) => `${code} ${text}`).join(
        ", "
      )
    }`,
    width
  )

const listing = (doc: HelpDoc.HelpDoc) =>
  (doc.subcommands ?? []).flatMap(({ commands, group }) =>
    section(
      group ?? "Commands",
      commands.flatMap(({ description, name }) => [`  ${Layout.pad(name, 11)} ${description}`])
    )
  )

const shared = `Options of all commands (--profile, --demo, --read-only …): ${name} help options`

const rootHelp = (doc: HelpDoc.HelpDoc, width: number) => [
  `Usage: ${name} [COMMAND] [OPTIONS]`,
  "",
  ...listing(doc).filter((line) => line !== ""),
  "",
  ...Layout.wrap(doc.description, width),
  "",
  ...examples("", width),
  `A command's options and examples: ${name} COMMAND --help`,
  shared
]

/** Text of `--help`. */
export const page = (doc: HelpDoc.HelpDoc, width = maxWidth): string => {
  const path = doc.commandPath ?? []
  const key = path.slice(1).join(" ")
  if (key === "") return rootHelp(doc, width).join("\n")
  return [
    ...Layout.wrap(doc.description, width),
    "",
    `Usage: ${doc.usage.replace("[flags]", "[OPTIONS]")}`,
    "",
    ...listing(doc),
    ...section(
      "Arguments",
      Layout.pairs(
        (doc.args ?? []).map(({ description, name, variadic }) =>
          [`${name}${variadic ? "..." : ""}`, Option.getOrElse(description, () => "")] as const
        ),
        width
      )
    ),
    ...section("Options", Layout.pairs(doc.flags.map(flagPair), width)),
    ...examples(key, width),
    ...exits(key, width),
    shared
  ].join("\n")
}

/** Text of `help options`, from the help of the root. */
export const options = (doc: HelpDoc.HelpDoc, width = maxWidth): string => {
  const names: ReadonlySet<string> = new Set(Object.values(general).map(({ name }) => name))
  const of = (flags: ReadonlyArray<HelpDoc.FlagDoc> = []) => Layout.pairs(flags.map(flagPair), width)
  return [
    "Options that all commands share, with their environment variables; the command line wins.",
    "",
    ...section("General", of(doc.flags.filter(({ name }) => names.has(name)))),
    ...section("Server over HTTP", of(doc.flags.filter(({ name }) => !names.has(name)))),
    ...section("Program", of(doc.globalFlags))
  ].join("\n").trimEnd()
}

/** Suggestion of names; empty without one. */
export const didYouMean = (names: ReadonlyArray<string>) =>
  names.length === 0 ? "" : ` Did you mean ${Rows.alternatives(names)}?`

export const namesIn = (
  groups: ReadonlyArray<{ readonly commands: ReadonlyArray<{ readonly name: string }> }> = []
): ReadonlyArray<string> => groups.flatMap(({ commands }) => commands.map(({ name }) => name))

/** Message about a name that is not a command. */
export const unknownCommand = (command: string, names: ReadonlyArray<string>): string => {
  const isTool = tools.all.some(({ name }) => name === command)
  return `There is no command '${command}'.${
    isTool ? ` It is a tool: ${name} call ${command}` : didYouMean(nearest(command, names, 2))
  }`
}

const flagNames = ({ flags, globalFlags = [], inheritedFlags = [] }: HelpDoc.HelpDoc, prefix: string) =>
  [...flags, ...inheritedFlags, ...globalFlags].map(({ name }) => `${prefix}${name}`)

const messageOf = (error: CliError.CliError, doc: HelpDoc.HelpDoc): string => {
  switch (error._tag) {
    case "UnrecognizedOption":
      return `There is no option ${error.option}.${
        didYouMean(nearest(error.option, flagNames(doc, error.option.startsWith("--no-") ? "--no-" : "--"), 2))
      }`
    case "UnknownSubcommand":
      return unknownCommand(error.subcommand, namesIn(doc.subcommands))
  }
  return error.message
}

/** Text about wrong arguments. */
export const refusal = (errors: ReadonlyArray<CliError.CliError>, doc: HelpDoc.HelpDoc): string =>
  [
    ...errors.map((error) => `${name}: ${messageOf(error, doc)}`),
    `See ${[...(doc.commandPath ?? [name]), "--help"].join(" ")}`
  ].join("\n")
