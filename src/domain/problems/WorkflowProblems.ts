/** What is wrong with a workflow, judged as n8n does. */
import type { Obj } from "../Json.ts"
import * as Checked from "./CheckedWorkflow.ts"
import { connectionProblems } from "./ConnectionProblems.ts"
import { nodeProblems } from "./NodeProblems.ts"
import type { Problem } from "./Problem.ts"
import { reachProblems } from "./ReachProblems.ts"
import { structureProblems } from "./StructureProblems.ts"
import { typeProblems } from "./TypeProblems.ts"

export type { Lookups } from "./CheckedWorkflow.ts"

/** Each fix once: what is wrong with 250 nodes in the same way is put right in the same way. */
const onceEach = (problems: ReadonlyArray<Problem>): ReadonlyArray<Problem> => {
  const said = new Set<string>()
  return problems.map((problem) => {
    const { fix, ...rest } = problem
    if (fix === undefined || !said.has(fix)) {
      said.add(fix ?? "")
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
 * What is said of nodes that are disabled is only what n8n says of them too. Equal fixes are given once.
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
