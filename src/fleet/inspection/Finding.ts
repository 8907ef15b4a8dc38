/** Findings of every command that judges something: in files, on n8n, or about recorded runs. Pure. */
import { sha256 } from "../../base/Hash.ts"
import * as Rules from "../../workflow/check/Rules.ts"
import type * as Audit from "../Audit.ts"

export type Severity = "error" | "warning" | "note"

/** Severity of each check of the audit where the command line reports it; its tool has high, medium and low. */
export const severityOf: { readonly [Check in Audit.Check]: Severity } = {
  "literal-secret": "error",
  "open-webhook": "warning",
  policy: "error",
  "broken-reference": "error",
  n8n: "warning",
  "unused-credential": "warning",
  "idle-credential": "note",
  "no-error-workflow": "note",
  "outdated-node": "note"
}

/** Judgment of a rule, whatever its place. */
export interface Judged {
  readonly rule: string
  readonly severity: Severity
  readonly node?: string
  readonly message: string
  readonly fix?: string
  /** Lines below the message: both sides of a difference, places in a workflow. */
  readonly details?: ReadonlyArray<string>
}

/** Finding in a workflow. */
export interface Located extends Judged {
  /** From the workflow or, in a file with several, from the file: `nodes[3].parameters.url`. */
  readonly path: string
}

/** Line of a file, a workflow or another thing on n8n, or nothing that has a name. */
export type Place =
  | { readonly file: string; readonly line: number; readonly column: number }
  | { readonly workflow: string; readonly name: string }
  | {}

export type Finding = Judged & Partial<Pick<Located, "path">> & Place

/** File, or id on n8n; empty if neither. */
export const placeOf = (finding: Finding): string =>
  "file" in finding ? finding.file : "workflow" in finding ? finding.workflow : ""

const withoutPlaces = (message: string) => message.replace(/\bnodes\[\d+\]/g, "nodes[]").replace(/\bline \d+/g, "line")

/** Identity of each finding, which lines and the order of nodes do not change; equal ones are numbered. */
export const keysOf = (findings: ReadonlyArray<Finding>): ReadonlyArray<ReadonlyArray<string>> => {
  const counts = new Map<string, number>()
  return findings.map((finding) => {
    const key = [finding.rule, placeOf(finding), finding.node ?? "", withoutPlaces(finding.message)]
    const text = JSON.stringify(key)
    const count = (counts.get(text) ?? 0) + 1
    counts.set(text, count)
    return count === 1 ? key : [...key, String(count)]
  })
}

export const fingerprint = (key: ReadonlyArray<string>): string => sha256(JSON.stringify(key)).slice(0, 32)

/** Prefix of rules of breaks, which are only looked for with a target. */
export const upgradeRule = "upgrade-"

/** Name and help of any rule. */
export const ruleOf = (id: string): { readonly name: string; readonly help: string } =>
  Rules.describe(id) ?? (!id.startsWith(upgradeRule) ? { name: id, help: "The message says what it means." } : {
    name: `Upgrade: ${id.slice(upgradeRule.length).replaceAll("-", " ")}`,
    help: "n8n changes this on the way to the target: the message names the release, and the fix what to do instead."
  })

/** Whether a finding fails the check. */
export const counts = ({ rule, severity }: Finding, isStrict: boolean): boolean =>
  severity === "error" || isStrict && (severity === "warning" || /^(?:outdated|deprecated)-node$/.test(rule))
