/** How a failed call is told: the older servers' JSON plus `hint`, what to do next. */
import * as Errors from "../base/Errors.ts"
import * as Hints from "./Hints.ts"

/** The failure as a client sees it. */
export interface Envelope extends Errors.Report {
  readonly hint: string
}

/** Turns an error into its envelope. */
export const fromError = (error: Errors.N8nError): Envelope => ({
  ...Errors.report(error),
  hint: Hints.text(error.hint)
})
