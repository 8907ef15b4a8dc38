/** Parameters of a node by n8n's rules: existence, defaults, problems. */
import type { Description } from "../types/NodeType.ts"
import { issues, type Remark, type Suggest } from "./issues.ts"
import { type Node, scopeOf } from "./ParameterValues.ts"
import { outside, remarks } from "./remarks.ts"

export { issues, type Remark, type Suggest } from "./issues.ts"
export { about, applying, complete, type Node, scopeOf } from "./ParameterValues.ts"
export { isExpression, isShown, type Scope } from "./ParameterValues.ts"
export { remarks } from "./remarks.ts"
export { faults } from "./shapeFaults.ts"

/**
 * Problems of a node's parameters: n8n's own, then remarks on others; paths start below `parameters`. A misshapen value
 * is one problem.
 */
export const problems = (description: Description, node: Node, suggest: Suggest): ReadonlyArray<Remark> => {
  const scope = scopeOf(description, node)
  const all = remarks(description, node, suggest, scope)
  const misshapen = all.filter(({ shape }) => shape !== undefined)
  const byKey = new Map<string, Remark>()
  for (const { name: _, ...issue } of outside(misshapen, issues(description, node, suggest, scope))) {
    byKey.set(`${issue.path} ${issue.message}`, issue)
  }
  const paths = new Set([...byKey.values()].map(({ path }) => path))
  return [...byKey.values(), ...all.filter(({ path }) => !paths.has(path))]
}
