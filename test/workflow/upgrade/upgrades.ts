/** Upgrades of single nodes and of whole workflows, with the lookups of every type that can be upgraded. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Obj } from "../../../src/base/Json.ts"
import * as NodeType from "../../../src/catalogue/types/NodeType.ts"
import * as Workflow from "../../../src/n8n/model/Workflow.ts"
import * as ai from "../../../src/workflow/upgrade/ai.ts"
import * as core from "../../../src/workflow/upgrade/core.ts"
import * as serviceNodes from "../../../src/workflow/upgrade/serviceNodes.ts"
import * as triggers from "../../../src/workflow/upgrade/triggers.ts"
import * as Upgrade from "../../../src/workflow/upgrade/Upgrade.ts"
import * as NodeLookups from "../../../src/workflows/NodeLookups.ts"
import { catalogue } from "../../support/catalogue.ts"
import { node, workflow } from "../../support/workflows.ts"

const steps = { ...ai.steps, ...core.steps, ...triggers.steps, ...serviceNodes.steps }
const successors = { ...ai.successors, ...core.successors, ...triggers.successors }

/** Types that can be upgraded. */
export const types = [...Object.keys(steps), ...Object.keys(successors)]

export const lookups = await Effect.runPromise(Effect.provide(
  NodeLookups.make([
    ...types,
    ...Object.values(successors).flatMap(({ to }) => to),
    ...["set", "noOp", "code", "if", "googleSheetsTool", "twitter"].map((name) => `n8n-nodes-base.${name}`)
  ]),
  catalogue
))

export const short = (type: string) => type.replace(/^.*\./, "")

export const versionsOf = (type: string) => {
  const known = lookups.find(type)
  return known === undefined ? [] : NodeType.versions(known)
}

/** What the nodes become, or only the first of them; to upgrade the result changes nothing. */
export const upgrade = (nodes: ReadonlyArray<Obj>, connections: Obj = {}, isFirst = false) => {
  const chosen = isFirst ? [String(nodes[0]?.["name"])] : undefined
  const { left, removed, upgraded, workflow: after } = Upgrade.upgrade(
    workflow("w", nodes, { connections }),
    chosen,
    lookups
  )
  assert.strictEqual(Upgrade.upgrade(after, chosen, lookups).workflow, after)
  const made = Workflow.nodes(after).find(({ name }) => name === nodes[0]?.["name"]) ?? {}
  return { after, left, removed, upgraded, node: made, parameters: Workflow.parametersOf(made) }
}

/** Type, version, parameters; what it becomes and its parameters, or why it is left. */
export type Row = readonly [type: string, version: number, before: Obj, to: string, after: Obj | RegExp]

export const becomes = ([type, version, before, to, after]: Row) => {
  const { left, node: made } = upgrade([node("花", type, version, before, { id: "id" })], {}, true)
  assert.strictEqual(`${short(Workflow.typeOf(made))} ${String(made["typeVersion"])}`, to, JSON.stringify(left))
  if (after instanceof RegExp) assert.match(left[0]?.why ?? "", after)
  else assert.deepStrictEqual([made["parameters"], left], [after, []])
}

/** A row with a name for its test. */
export const titled = <A extends readonly [string, number, Obj, ...ReadonlyArray<unknown>]>(rows: ReadonlyArray<A>) =>
  rows.map((row) => ({ name: `${row[0]} ${row[1]} ${JSON.stringify(row[2]).slice(0, 90)}`, row }))
