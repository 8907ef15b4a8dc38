/** How a failed call is told: the older servers' JSON plus `hint`, what to do next. */
import * as Errors from "../base/Errors.ts"
import { redactText } from "../base/Redact.ts"
import * as Hints from "./Hints.ts"

/** The failure as a client sees it. */
export interface Envelope extends Errors.Report {
  readonly hint: string
}

/** Names of nodes and workflows stand in hints: a screen of text, and no secret in it. */
const maxHint = 2_000

/** Turns an error into its envelope. */
export const fromError = (error: Errors.N8nError): Envelope => ({
  ...Errors.report(error),
  hint: redactText(Hints.text(error.hint)).slice(0, maxHint)
})
