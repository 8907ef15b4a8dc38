/** Upgrades one node, or all that are outdated. */
import * as Result from "effect/Result"
import * as Upgrade from "../upgrade/Upgrade.ts"
import * as Step from "./step.ts"

export const upgrade: Step.Edit<"upgrade"> = (workflow, { node }, lookups) =>
  Result.map(
    node === undefined ? Result.succeed(undefined) : Step.locate(workflow, node, "node", lookups),
    (entry): Step.Step => {
      const { left, upgraded, workflow: next } = Upgrade.upgrade(
        workflow,
        entry === undefined ? undefined : [entry.name],
        lookups
      )
      const changes = upgraded.map(({ from, node, to }) => `upgraded '${node}' from ${from} to ${to}`)
      const nothing = left.length === 0
        ? entry === undefined ? "every node is at its newest version" : `'${entry.name}' is at its newest version`
        : "nothing could be upgraded; see left"
      return { workflow: next, changes: changes.length === 0 ? [nothing] : changes, left }
    }
  )
