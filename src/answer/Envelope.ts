/** Format of a failed call: the JSON of the earlier servers, plus `hint`. */
import * as Errors from "../base/Errors.ts"
import { defined } from "../base/Json.ts"
import { redactText } from "../base/Redact.ts"
import * as Hints from "./Hints.ts"

/** Failed call as a client sees it; `hint` says what to do next, if there is anything to say. */
export interface Envelope extends Errors.Report {
  readonly hint?: string
}

const maxHint = 2_000

/** Converts an error to an envelope; `offered` has the names of the tools that advice may name, by default all. */
export const fromError = (error: Errors.Failure, offered?: ReadonlySet<string>): Envelope => {
  const hint = redactText(Hints.text(error.hint, defined({ offered }))).slice(0, maxHint)
  return { ...Errors.report(error), ...(hint === "" ? {} : { hint }) }
}
