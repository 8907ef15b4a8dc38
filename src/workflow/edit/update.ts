/** Changes the properties of nodes, and the name and settings of the workflow. */
import * as Result from "effect/Result"
import { equals, num, type Obj, obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as NodeType from "../../catalogue/types/NodeType.ts"
import { nameFault } from "../../n8n/model/Limits.ts"
import { holds, nodeKeys, words } from "../../n8n/model/NodeKeys.ts"
import { typeOf } from "../../n8n/model/Workflow.ts"
import * as WorkflowDiff from "../diff/WorkflowDiff.ts"
import * as Upgrade from "../upgrade/Upgrade.ts"
import type { Of } from "./operation.ts"
import * as Rewire from "./rewire.ts"
import * as Step from "./step.ts"

const elsewhere: ReadonlyMap<string, string> = new Map([
  ["name", "Use {op: 'rename', node, to}: connections and expressions follow."],
  ["type", "Use {op: 'replaceNode', node, type}: what fits the new type stays."],
  ["position", "Use {op: 'move', node, position: [x, y]}."],
  ["id", "A node keeps its id."]
])

const settable = new Map([...nodeKeys].filter(([key]) => key !== "parameters" && !elsewhere.has(key)))

const checkProperty = (node: Obj, key: string, value: unknown, { suggest }: Step.Lookups): Step.Attempt<void> => {
  const hint = elsewhere.get(key)
  if (hint !== undefined) return Step.refuse(key, `An update does not change the ${key}.`, hint)
  const nodeKey = settable.get(key)
  if (nodeKey === undefined) {
    return Object.hasOwn(node, key)
      ? Result.succeed(undefined)
      : Step.refuse(
        key,
        `Nodes have no property '${key.slice(0, 100)}'.`,
        `${suggest(key.slice(0, 100), settable.keys())} Parameters of the node's type go into 'parameters'.`
      )
  }
  return value === null && nodeKey.isEssential !== true || holds(nodeKey, value)
    ? Result.succeed(undefined)
    : Step.refuse(key, `${key} cannot be ${Step.brief(value)}.`, `It is ${words(nodeKey)}.`)
}

/** Description of the node's type in its version; refuses a version that is new and does not exist. */
export const descriptionOf = (
  node: Obj,
  isNew: boolean,
  { find }: Step.Lookups
): Step.Attempt<NodeType.Description | undefined> => {
  const [type, version] = [typeOf(node), num(node["typeVersion"])]
  const nodeType = type === "" ? undefined : find(type)
  if (nodeType === undefined || version === undefined) return Result.succeed(undefined)
  const description = NodeType.at(nodeType, version)
  return description === undefined && isNew
    ? Step.refuse(
      "typeVersion",
      `${type} has no version ${version}.`,
      `It has ${NodeType.versions(nodeType).join(", ")}.`
    )
    : Result.succeed(description)
}

export const update: Step.Edit<"update"> = (workflow, operation, lookups) =>
  Result.gen(function*() {
    const { node: word, op: _, parameters: patch, ...rest } = operation
    const entry = yield* Step.locate(workflow, word, "node", lookups)
    const node = new Map(Object.entries(entry.node))
    let repairs: ReadonlyArray<string> = []
    for (const [key, value] of Object.entries(rest)) {
      yield* checkProperty(entry.node, key, value, lookups)
      // n8n treats empty credentials as none.
      if (value === null || key === "credentials" && equals(value, {})) node.delete(key)
      else node.set(key, value)
    }
    if (patch !== undefined) {
      const description = yield* descriptionOf(Object.fromEntries(node), "typeVersion" in rest, lookups)
      const parameters = obj(Step.merge(node.get("parameters"), patch)) ?? {}
      const keys = Object.keys(patch).filter((key) => patch[key] !== null)
      const shape = { description, parameters, typeVersion: num(node.get("typeVersion")) ?? 1 }
      yield* Step.refuseUnknown(shape, keys, lookups)
      const repaired = Step.repaired(shape, keys, entry.name, lookups)
      repairs = repaired.lines
      node.set("parameters", repaired.parameters)
    } else if ("typeVersion" in rest) yield* descriptionOf(Object.fromEntries(node), true, lookups)
    const step = Rewire.withNode(workflow, entry, Object.fromEntries(node), lookups)
    return { ...step, changes: [...step.changes, ...repairs] }
  })

export const toggle = (
  workflow: Obj,
  { node: word, op }: Of<"enable" | "disable">,
  lookups: Step.Lookups
): Step.Attempt<Step.Step> =>
  Result.map(Step.locate(workflow, word, "node", lookups), ({ index, name, node }) => {
    const isDisabled = node["disabled"] === true
    if (isDisabled === (op === "disable")) return { workflow, changes: [`'${name}' is already ${op}d`] }
    const next = isDisabled ? Step.omit(node, "disabled") : { ...node, disabled: true }
    return { workflow: Step.withNode(workflow, index, next), changes: [`${op}d '${name}'`] }
  })

export const move: Step.Edit<"move"> = (workflow, { node: word, position: { x, y } }, lookups) =>
  Result.map(Step.locate(workflow, word, "node", lookups), ({ index, name, node }) => {
    const position = [Math.round(x), Math.round(y)]
    return equals(node["position"], position)
      ? { workflow, changes: [`'${name}' is already there`] }
      : {
        workflow: Step.withNode(workflow, index, { ...node, position }),
        changes: [`moved '${name}' from ${Step.brief(node["position"])} to ${Step.brief(position)}`]
      }
  })

export const settings: Step.Edit<"settings"> = (workflow, operation) => {
  const before = obj(workflow["settings"]) ?? {}
  const after = Step.merge(before, operation.settings)
  const changes = WorkflowDiff.lines(before, after, "settings")
  return Result.succeed(
    changes.length === 0
      ? { workflow, changes: ["the settings already have these values"] }
      : { workflow: { ...workflow, settings: after }, changes, isOfSettings: true }
  )
}

export const name: Step.Edit<"name"> = (workflow, { name }) => {
  if (name.trim() === "") return Step.refuse("name", "A workflow's name cannot be empty.", "Provide a new name.")
  const fault = nameFault(name)
  if (fault !== undefined) return Step.refuse("name", fault, "Shorten it.")
  return Result.succeed(
    name === workflow["name"]
      ? { workflow, changes: [`the workflow is already named '${name}'`] }
      : {
        workflow: { ...workflow, name },
        changes: [`renamed the workflow from ${Step.brief(workflow["name"])} to '${name}'`]
      }
  )
}

const upgradeLine = ({ changes, choice, differs = [], from, node, to }: Upgrade.Change) => {
  const shown = changes.slice(0, 2).map(({ after, before, path }) =>
    `${path.replace(/^parameters\./, "")}: ${WorkflowDiff.around(before, after, 80)}`
  )
  const more = changes.length > shown.length ? [`${changes.length - shown.length} more`] : []
  const by = choice === undefined ? "" : `, as accepted ('${choice}'): ${differs.join(" ")}`
  return `upgraded '${node}' from ${from} to ${to}${
    shown.length === 0 ? "" : ` (${[...shown, ...more].join(", ")})`
  }${by}`
}

export const upgrade: Step.LongEdit<"upgrade"> = function*(workflow, { accept = {}, node }, lookups) {
  const located = Result.all({
    node: node === undefined ? Result.succeed(undefined) : Step.locate(workflow, node, "node", lookups),
    accept: Result.all(
      Object.entries(accept).map(([word, key]) =>
        Result.map(Step.locate(workflow, word, "accept", lookups), ({ name }) => [name, key] as const)
      )
    )
  })
  if (Result.isFailure(located)) return Result.fail(located.failure)
  const name = located.success.node?.name
  const names = name === undefined ? undefined : [name]
  const keys = Object.fromEntries(located.success.accept)
  const { left, removed, unknown: [unknown], upgraded, workflow: next } = yield* Upgrade.steps(
    workflow,
    names,
    lookups,
    keys
  )
  if (unknown !== undefined) {
    return Step.refuse(
      JsonPath.member("accept", unknown.node),
      `'${unknown.node}' has no choice '${unknown.key.slice(0, 100)}'.`,
      unknown.keys.length === 0 ? "Its upgrade has none: leave it out." : `There are: ${unknown.keys.join(", ")}.`
    )
  }
  const changes = [
    ...upgraded.map(upgradeLine),
    ...removed.map(({ into, node, why }) => `removed '${node}': ${why} is in '${into}'`)
  ]
  const nothing = left.length === 0
    ? name === undefined ? "every node is at its newest version" : `'${name}' is at its newest version`
    : "nothing could be upgraded; see left"
  return Result.succeed({ workflow: next, changes: changes.length === 0 ? [nothing] : changes, left })
}
