import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Environment from "./Environment.ts"
import * as Terminal from "./Terminal.ts"

/** Failures of a configuration, which have no stack. */
const ofConfiguration = new Set(["InvalidOption", "InvalidProfile", "UnreadablePackage"])

/** Prints the reason of exit status 1 on stderr; usage errors are already printed. */
export const explain = (cause: Cause.Cause<{ readonly _tag: string; readonly message: string }>) => {
  const failure = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (failure?._tag === "ShowHelp") return Effect.void
  if (failure !== undefined && ofConfiguration.has(failure._tag)) {
    return Terminal.warn(`${Environment.name}: ${failure.message}`)
  }
  return Effect.forEach(
    Cause.prettyErrors(cause),
    (error) => Terminal.warn(`${Environment.name}: ${error.stack ?? error.message}`),
    { discard: true }
  )
}
