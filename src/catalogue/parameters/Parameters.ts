/** Parameters of a node by n8n's rules: existence, defaults, problems. */
import type { Description } from "../types/NodeType.ts"
import { issues, type Remark, type Suggest } from "./issues.ts"
import { type Node, scopeOf } from "./ParameterValues.ts"
import { remarks } from "./remarks.ts"

export { issues, type Remark, type Suggest } from "./issues.ts"
export { about, applying, complete, type Node, scopeOf } from "./ParameterValues.ts"
export { isExpression, isShown, type Scope } from "./ParameterValues.ts"
export { remarks } from "./remarks.ts"

/** Problems of a node's parameters, n8n's own and then remarks on others; paths start below `parameters`. */
export const problems = (description: Description, node: Node, suggest: Suggest): ReadonlyArray<Remark> => {
  const scope = scopeOf(description, node)
  const byKey = new Map<string, Remark>()
  for (const { name: _, ...issue } of issues(description, node, suggest, scope)) {
    byKey.set(`${issue.path} ${issue.message}`, issue)
  }
  const paths = new Set([...byKey.values()].map(({ path }) => path))
  return [...byKey.values(), ...remarks(description, node, suggest, scope).filter(({ path }) => !paths.has(path))]
}
