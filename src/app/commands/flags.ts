/** Flags and arguments of commands; without a default, a missing one is `undefined`. */
import * as Argument from "effect/cli/Argument"
import * as Flag from "effect/cli/Flag"

export const toggle = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

export const json = toggle("json", "Print the report as JSON")

export const dryRun = toggle("dry-run", "Only show what would change")

export const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar), Flag.withDefault(undefined))

/** Flag that may be repeated, up to `most` times. */
export const texts = (name: string, metavar: string, description: string, most?: number) =>
  Flag.String(name).pipe(
    Flag.withDescription(description),
    Flag.withMetavar(metavar),
    most === undefined ? Flag.atLeast(0) : Flag.atMost(most)
  )

export const choice = <const Choices extends ReadonlyArray<string>>(
  name: string,
  choices: Choices,
  description: string
) => Flag.Literals(name, choices).pipe(Flag.withDescription(description), Flag.withDefault(undefined))

export const integer = (name: string, [min, max]: readonly [number, number], description: string) =>
  Flag.Int(name).pipe(
    Flag.withDescription(description),
    Flag.withMetavar("N"),
    Flag.filter((value) => value >= min && value <= max, () => `between ${min} and ${max}`),
    Flag.withDefault(undefined)
  )

export const argument = (name: string, description: string) =>
  Argument.String(name).pipe(Argument.withDescription(description))

export const optionalArgument = (name: string, description: string) =>
  argument(name, description).pipe(Argument.withDefault(undefined))

/** Argument for a folder, by default the working directory. */
export const folder = (description: string) =>
  argument("folder", `${description}; the working directory by default`).pipe(Argument.withDefault("."))

/** Selection of workflows; `undefined` for all. */
export const only = (description: string) =>
  Flag.String("only").pipe(
    Flag.withDescription(`Only this workflow: ${description}; may be repeated`),
    Flag.withMetavar("WORKFLOW"),
    Flag.atLeast(1),
    Flag.withDefault(undefined)
  )
