/** Rules of an application, checked beside n8n's. */
import * as Context from "effect/Context"
import type { Obj } from "../../base/Json.ts"
import type { Problem } from "../../base/Problem.ts"

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
