/** Checks a workflow by n8n's rules. */
import type { Obj } from "../../base/Json.ts"
import type { Problem } from "../../base/Problem.ts"
import * as Checked from "./CheckedWorkflow.ts"
import { connectionProblems } from "./connection.ts"
import { nodeProblems } from "./node.ts"
import { reachProblems } from "./reach.ts"
import { structureProblems } from "./structure.ts"
import { typeProblems } from "./TypeProblems.ts"

export type { Lookups } from "./CheckedWorkflow.ts"

/** Lists identical fixes once: 250 nodes with the same mistake need the same fix. */
const onceEach = (problems: ReadonlyArray<Problem>): ReadonlyArray<Problem> => {
  const fixes = new Set<string>()
  return problems.map((problem) => {
    const { fix, ...rest } = problem
    if (fix === undefined || !fixes.has(fix)) {
      fixes.add(fix ?? "")
      return problem
    }
    return rest
  })
}

/**
 * Everything that is wrong, errors first, each in the order of the checks: shape, types, connections, single nodes,
 * what never runs.
 *
 * **Details**
 *
 * Errors are what n8n refuses to store or to publish, what its editor marks red, and what fails whenever it runs.
 * Disabled nodes have only the problems that n8n itself reports of them. Identical fixes are listed once.
 */
export const problems = (workflow: Obj, lookups: Checked.Lookups): ReadonlyArray<Problem> => {
  const checked = Checked.make(workflow, lookups)
  const all = [
    ...structureProblems(workflow, lookups),
    ...typeProblems(checked, lookups),
    ...connectionProblems(checked),
    ...nodeProblems(checked, lookups),
    ...reachProblems(checked)
  ]
  return onceEach([
    ...all.filter(({ severity }) => severity === "error"),
    ...all.filter(({ severity }) => severity === "warning")
  ])
}
