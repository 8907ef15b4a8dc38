/** Problems with nodes that never run because nothing starts the workflow or leads to them. */
import { type Checked, isSubNode, type Node, problemOf } from "./CheckedWorkflow.ts"
import type { Ruled } from "./Rules.ts"

const byHand: ReadonlySet<string> = new Set([
  "n8n-nodes-base.manualTrigger",
  "@n8n/n8n-nodes-langchain.manualChatTrigger",
  "n8n-nodes-base.start"
])

/** Whether an execution starts at the node; a node of an unknown type may be a trigger if nothing leads to it. */
const starts = (node: Node, isTarget: (name: string) => boolean): boolean =>
  !node.isDisabled &&
  (byHand.has(node.type) ||
    (node.nodeType === undefined
      ? /trigger$/i.test(node.type) || !isTarget(node.name)
      : node.nodeType.descriptions.some(({ group }) => group.includes("trigger"))))

const reached = ({ byName, links }: Checked, from: ReadonlyArray<Node>): ReadonlySet<string> => {
  const next = Map.groupBy(
    links.flatMap(({ from, output, to }) => {
      const source = byName.get(from)
      const serves = output.type !== "main" || source !== undefined && isSubNode(source)
      return [serves ? [to, from] as const : [from, to] as const]
    }),
    ([name]) => name
  )
  const names = new Set(from.map(({ name }) => name))
  for (const name of names) for (const [, to] of next.get(name) ?? []) names.add(to)
  return names
}

export const reachProblems = (checked: Checked): ReadonlyArray<Ruled> => {
  const nodes = checked.nodes.filter(({ isNote }) => !isNote)
  const targets = new Set(checked.links.flatMap(({ output, to }) => output.type === "main" ? [to] : []))
  const triggers = nodes.filter((node) => starts(node, (name) => targets.has(name)))
  if (triggers.length === 0) {
    const disabled = nodes.find((node) => starts({ ...node, isDisabled: false }, () => true))
    return [{
      rule: "no-trigger",
      severity: "warning",
      ...(disabled === undefined ? {} : { node: disabled.name }),
      path: disabled?.at ?? "nodes",
      message: disabled === undefined
        ? "The workflow has no trigger: nothing starts it, and n8n does not publish it."
        : `The trigger '${disabled.name}' is disabled: nothing starts the workflow, and n8n does not publish it.`,
      fix: disabled === undefined
        ? "Add one, such as n8n-nodes-base.scheduleTrigger or n8n-nodes-base.webhook."
        : "Enable it."
    }]
  }
  const reachable = reached(checked, triggers)
  return [
    ...(triggers.every(({ type }) => byHand.has(type))
      ? [{
        rule: "manual-only" as const,
        severity: "warning" as const,
        path: "nodes",
        message: "The workflow can only be started manually: n8n does not publish it.",
        fix: "To publish it, add another trigger."
      }]
      : []),
    ...nodes.flatMap((node) =>
      node.isDisabled || reachable.has(node.name)
        ? []
        : [problemOf(
          node,
          "unreachable-node",
          "warning",
          isSubNode(node)
            ? `'${node.name}' serves no node that runs.`
            : `No trigger leads to '${node.name}': it never runs.`,
          "Connect it, or remove it."
        )]
    )
  ]
}
