/** Changes what a node holds, where it stands, and what the workflow is set to. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { arr, num, type Obj, obj, str } from "../Json.ts"
import * as NodeType from "../nodes/NodeType.ts"
import { equals } from "../parameters/ParameterDisplay.ts"
import type { Of } from "./EditOperation.ts"
import * as Given from "./EditParameters.ts"
import * as Step from "./EditStep.ts"

type Kind = readonly [is: (value: unknown) => boolean, words: string]
const text: Kind = [Predicate.isString, "a string"]
const number: Kind = [(value) => num(value) !== undefined, "a number"]
const boolean: Kind = [Predicate.isBoolean, "true or false"]
const onErrors: ReadonlyArray<unknown> = ["stopWorkflow", "continueRegularOutput", "continueErrorOutput"]

/** What an update may set besides parameters. */
const kinds: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ["typeVersion", number],
  ["credentials", [(value) => obj(value) !== undefined, "an object: {type: {id, name}}"]],
  ["disabled", boolean],
  ["notes", text],
  ["notesInFlow", boolean],
  ["onError", [(value) => onErrors.includes(value), onErrors.join(", ")]],
  ["retryOnFail", boolean],
  ["maxTries", number],
  ["waitBetweenTries", number],
  ["alwaysOutputData", boolean],
  ["executeOnce", boolean],
  ["continueOnFail", boolean],
  ["webhookId", text],
  ["customTelemetryTags", [() => true, ""]]
])

/** What has an operation of its own, or none. */
const elsewhere: ReadonlyMap<string, string> = new Map([
  ["name", "Use {op: 'rename', node, to}: connections and expressions follow."],
  ["type", "Use node_replace: it keeps what fits the new type."],
  ["position", "Use {op: 'move', node, position: {x, y}}."],
  ["id", "A node keeps its id."]
])

/** Refuses a property that a node does not have, or a value that it cannot have. */
const checked = (node: Obj, key: string, value: unknown, { suggest }: Step.Lookups): Step.Attempt<void> => {
  const hint = elsewhere.get(key)
  if (hint !== undefined) return Step.refuse(key, `An update does not change the ${key}.`, hint)
  const kind = kinds.get(key)
  if (kind === undefined) {
    return Object.hasOwn(node, key)
      ? Result.succeed(undefined)
      : Step.refuse(
        key,
        `A node has no property '${key.slice(0, 100)}'.`,
        `${suggest(key.slice(0, 100), kinds.keys())} What the node's type takes goes into 'parameters'.`
      )
  }
  return value === null && key !== "typeVersion" || kind[0](value)
    ? Result.succeed(undefined)
    : Step.refuse(key, `${key} cannot be ${Step.brief(value)}.`, `It is ${kind[1]}.`)
}

/** The description for the version, where the type is known; a version that the type lacks is refused. */
const described = (
  node: Obj,
  isNew: boolean,
  { find }: Step.Lookups
): Step.Attempt<NodeType.Description | undefined> => {
  const [type, version] = [str(node["type"]) ?? "", num(node["typeVersion"])]
  const nodeType = type === "" ? undefined : find(type)
  if (nodeType === undefined || version === undefined) return Result.succeed(undefined)
  const description = NodeType.at(nodeType, version)
  return description === undefined && isNew
    ? Step.refuse(
      "typeVersion",
      `${type} has no version ${version}.`,
      `There are ${NodeType.versions(nodeType).join(", ")}.`
    )
    : Result.succeed(description)
}

const most = 8

const lines = (all: ReadonlyArray<Given.Change>, of: string) =>
  all.slice(0, most).map(({ after, before, path }) => `${path}${of}: ${Step.brief(before)} → ${Step.brief(after)}`)
    .join("; ") + (all.length > most ? `; and ${all.length - most} more` : "")

const isEmpty = (value: unknown) => Object.keys(obj(value) ?? { value }).length === 0

/** Changes parameters by a merge patch, and sets other properties; null takes them away. */
export const update = (workflow: Obj, operation: Of<"update">, lookups: Step.Lookups): Step.Attempt<Step.Step> =>
  Result.gen(function*() {
    const { node: word, op: _, parameters: patch, ...rest } = operation
    const found = yield* Step.locate(workflow, word, "node", lookups)
    const node = new Map(Object.entries(found.node))
    for (const [key, value] of Object.entries(rest)) {
      yield* checked(found.node, key, value, lookups)
      // n8n takes a node without credentials for one with none.
      if (value === null || key === "credentials" && isEmpty(value)) node.delete(key)
      else if (!(equals(value, node.get(key)) && equals(node.get(key), value))) node.set(key, value)
    }
    if (patch !== undefined) {
      const description = yield* described(Object.fromEntries(node), "typeVersion" in rest, lookups)
      const parameters = obj(Given.merge(node.get("parameters"), patch)) ?? {}
      const keys = Object.keys(patch).filter((key) => patch[key] !== null)
      const made = { description, parameters, typeVersion: num(node.get("typeVersion")) ?? 1 }
      yield* Given.known(made, keys, lookups)
      node.set("parameters", Given.withFilters(made, keys, lookups))
    } else if ("typeVersion" in rest) yield* described(Object.fromEntries(node), true, lookups)
    const next = Object.fromEntries(node)
    const all = Given.changes(found.node, next, "")
    return all.length === 0
      ? { workflow, change: `'${found.name}' is like that already` }
      : { workflow: Step.withNode(workflow, found.index, next), change: lines(all, ` of '${found.name}'`) }
  })

/** Enables or disables a node. */
export const toggle = (
  workflow: Obj,
  { node: word, op }: Of<"enable" | "disable">,
  lookups: Step.Lookups
): Step.Attempt<Step.Step> =>
  Result.map(Step.locate(workflow, word, "node", lookups), ({ index, name, node }) => {
    const isDisabled = node["disabled"] === true
    if (isDisabled === (op === "disable")) return { workflow, change: `'${name}' is ${op}d already` }
    const next = isDisabled ? Step.omit(node, "disabled") : { ...node, disabled: true }
    return { workflow: Step.withNode(workflow, index, next), change: `${op}d '${name}'` }
  })

/** Puts a node in another place. */
export const move = (
  workflow: Obj,
  { node: word, position: { x, y } }: Of<"move">,
  lookups: Step.Lookups
): Step.Attempt<Step.Step> =>
  Result.map(Step.locate(workflow, word, "node", lookups), ({ index, name, node }) => {
    const position = [Math.round(x), Math.round(y)]
    return equals(node["position"], position)
      ? { workflow, change: `'${name}' is there already` }
      : {
        workflow: Step.withNode(workflow, index, { ...node, position }),
        change: `moved '${name}' from ${Step.brief(node["position"])} to ${Step.brief(position)}`
      }
  })

/** Changes settings by a merge patch. */
export const settings = (workflow: Obj, operation: Of<"settings">): Step.Step => {
  const before = obj(workflow["settings"]) ?? {}
  const after = Given.merge(before, operation.settings)
  return after === before
    ? { workflow, change: "the settings are like that already" }
    : { workflow: { ...workflow, settings: after }, change: lines(Given.changes(before, after, "settings"), "") }
}

const longestName = 128

/** Gives the workflow another name. */
export const name = (workflow: Obj, { name }: Of<"name">): Step.Attempt<Step.Step> => {
  if (name.trim() === "") return Step.refuse("name", "A workflow's name cannot be empty.", "Say the new name.")
  const length = arr([...name]).length
  if (length > longestName) {
    return Step.refuse("name", `The name has ${length} characters; n8n takes ${longestName}.`, "Shorten it.")
  }
  return Result.succeed(
    name === workflow["name"]
      ? { workflow, change: `the workflow is named '${name}' already` }
      : {
        workflow: { ...workflow, name },
        change: `named the workflow '${name}', before ${Step.brief(workflow["name"])}`
      }
  )
}
