/** Output of the command line besides its answers. */
import * as Cause from "effect/Cause"
import type * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { UnreadablePackage } from "../../catalogue/data/Packages.ts"
import type * as Options from "../config/Options.ts"
import type * as Profiles from "../config/Profiles.ts"
import { name, print, warn } from "./root.ts"

/** Prints help and version on stdout, and errors of an invocation on stderr. */
export const presenter: CliOutput.Presenter = {
  present: (event) => {
    const formatter = CliOutput.defaultFormatter()
    switch (event._tag) {
      case "Help":
        return print(formatter.formatHelpDoc(event.helpDoc))
      case "Version":
        return print(event.version)
      case "InvalidInvocation":
        return warn(`${formatter.formatErrors(event.errors).trim()}\n\nSee ${name} --help`)
    }
  }
}

type Failure = CliError.CliError | Options.InvalidOption | Profiles.InvalidProfile | UnreadablePackage

/** Prints the reason of exit status 1 on stderr; configuration errors have no stack, usage errors are already printed. */
export const explain = (cause: Cause.Cause<Failure>) => {
  const failure = Option.getOrUndefined(Cause.findErrorOption(cause))
  switch (failure?._tag) {
    case "ShowHelp":
      return Effect.void
    case "InvalidOption":
    case "InvalidProfile":
    case "UnreadablePackage":
      return warn(`${name}: ${failure.message}`)
  }
  return Effect.forEach(Cause.prettyErrors(cause), (error) => warn(`${name}: ${error.stack ?? error.message}`))
}
