/** Format of a failed call: the JSON of the earlier servers, plus `hint`. */
import * as Errors from "../base/Errors.ts"
import { redactText } from "../base/Redact.ts"
import * as Hints from "./Hints.ts"

/** Failed call as a client sees it; `hint` says what to do next. */
export interface Envelope extends Errors.Report {
  readonly hint: string
}

const maxHint = 2_000

/** Converts an error to an envelope. */
export const fromError = (error: Errors.Failure): Envelope => ({
  ...Errors.report(error),
  hint: redactText(Hints.text(error.hint ?? "")).slice(0, maxHint)
})
