/** Rules behind problems and findings: stable ids, with a name and help for each. */
import * as Context from "effect/Context"
import type { Obj } from "../../base/Json.ts"
import type { Problem } from "../../base/Problem.ts"
import rules from "./rules.json" with { type: "json" }

/** Rule of an application: `check` finds what is wrong with a workflow, which may have any shape. */
export interface Rule {
  /** Stable id, such as `acme/no-plain-http`; reports show it. */
  readonly id: string
  readonly check: (workflow: Obj) => ReadonlyArray<Problem>
}

/** Rules of the application. Default: none. */
export const OwnRules = Context.Reference<ReadonlyArray<Rule>>("effect-n8n-mcp/WorkflowValidation/Rules", {
  defaultValue: () => []
})

export { rules }

export type RuleId = keyof typeof rules

/** A problem with its rule. */
export interface Ruled extends Problem {
  /** Id of a rule here, or of an application's own. */
  readonly rule: string
  /** Line in the code at the path, from 1. */
  readonly line?: number
}

/** Name and help of a rule. */
export const describe = (rule: string): { readonly name: string; readonly help: string } | undefined => {
  const [name, help] = Object.hasOwn(rules, rule) ? rules[rule as RuleId] : []
  return name === undefined || help === undefined ? undefined : { name, help }
}
