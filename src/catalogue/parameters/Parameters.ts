/** A node's parameters by the rules of n8n: which there are, what they are by default, what is wrong with them. */
import type { Description } from "../types/NodeType.ts"
import { issues, type Remark, type Suggest } from "./issues.ts"
import { type Node, scopeOf } from "./ParameterDefaults.ts"
import { remarks } from "./remarks.ts"

export { issues, type Remark, type Suggest } from "./issues.ts"
export { about, applying, complete, type Node, scopeOf } from "./ParameterDefaults.ts"
export { isExpression, isShown, type Scope } from "./ParameterDisplay.ts"
export { remarks } from "./remarks.ts"

/**
 * What is wrong with a node's parameters: n8n's own issues, then remarks on what it lets pass.
 *
 * **Details**
 *
 * Paths begin under `parameters`: `url`, `rules.values[2].outputKey`. Of a parameter with an issue there are no
 * remarks. A parameter that is set and not shown is no problem.
 */
export const problems = (description: Description, node: Node, suggest: Suggest): ReadonlyArray<Remark> => {
  const scope = scopeOf(description, node)
  const byKey = new Map<string, Remark>()
  for (const { name: _, ...issue } of issues(description, node, suggest, scope)) {
    byKey.set(`${issue.path} ${issue.message}`, issue)
  }
  const paths = new Set([...byKey.values()].map(({ path }) => path))
  return [...byKey.values(), ...remarks(description, node, suggest, scope).filter(({ path }) => !paths.has(path))]
}
