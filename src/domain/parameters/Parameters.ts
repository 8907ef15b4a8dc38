/** A node's parameters by the rules of n8n: which there are, what they are by default, what is wrong with them. */
import type { Description } from "../nodes/NodeType.ts"
import { type Node, scopeOf } from "./ParameterDefaults.ts"
import { type Found, issues, type Suggest } from "./ParameterIssues.ts"
import { remarks } from "./ParameterRemarks.ts"

export { about, applying, complete, type Node, scopeOf } from "./ParameterDefaults.ts"
export { isExpression, isShown, type Scope } from "./ParameterDisplay.ts"
export { type Found, type Issue, issues, type Suggest } from "./ParameterIssues.ts"
export { remarks } from "./ParameterRemarks.ts"

/**
 * What is wrong with a node's parameters: n8n's own issues, then remarks on what it lets pass.
 *
 * **Details**
 *
 * Paths begin under `parameters`: `url`, `rules.values[2].outputKey`. Of a parameter with an issue there are no
 * remarks. A parameter that is set and not shown is no problem.
 */
export const problems = (description: Description, node: Node, suggest: Suggest): ReadonlyArray<Found> => {
  const scope = scopeOf(description, node)
  const found = new Map<string, Found>()
  for (const { name: _, ...issue } of issues(description, node, suggest, scope)) {
    found.set(`${issue.path} ${issue.message}`, issue)
  }
  const paths = new Set([...found.values()].map(({ path }) => path))
  return [...found.values(), ...remarks(description, node, suggest, scope).filter(({ path }) => !paths.has(path))]
}
