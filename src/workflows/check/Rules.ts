/** Rules behind problems and findings: stable ids, with a name and help for each. */
import type { Problem } from "../../base/Problem.ts"
import { rules } from "./ruleTexts.ts"

export { rules } from "./ruleTexts.ts"

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
