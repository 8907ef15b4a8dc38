/** Changes one value inside the parameters of a node. */
import * as Result from "effect/Result"
import { arr, num, type Obj, obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import { redact } from "../../base/Redact.ts"
import * as NodeType from "../../catalogue/types/NodeType.ts"
import { parametersOf, typeOf } from "../../n8n/model/Workflow.ts"
import { quoted } from "../check/CheckedWorkflow.ts"
import * as Patch from "./patch.ts"
import { withNode } from "./rewire.ts"
import * as Step from "./step.ts"

const stepsOf = (
  path: string,
  parameters: Obj
): Step.Attempt<{ readonly steps: ReadonlyArray<JsonPath.Step>; readonly isNew: boolean }> => {
  const bare = path.trim().replace(/\s*\[\s*\+\s*\]$/u, "")
  const steps = JsonPath.parse(bare) ?? []
  const below = steps[0] === "parameters" && !Object.hasOwn(parameters, "parameters") ? steps.slice(1) : steps
  return below.length > 0
    ? Result.succeed({ steps: below, isNew: bare !== path.trim() })
    : Step.refuse(
      "path",
      `'${path.slice(0, 100)}' is not a path below parameters.`,
      `Examples: options.timeout, rules.values[2] or assignments.assignments[+]. ${contents("parameters", parameters)}`
    )
}

const textOf = (steps: ReadonlyArray<JsonPath.Step>) => steps.reduce<string>(JsonPath.member, "")

const contents = (path: string, value: unknown): string => {
  if (Array.isArray(value)) {
    return value.length === 0
      ? `${path} is an empty list: ${path}[+] appends.`
      : `${path} ends at [${value.length - 1}]: ${path}[+] appends.`
  }
  const object = obj(value)
  if (object === undefined) return value === undefined ? "" : `${path} is ${Step.brief(value)}.`
  const keys = Object.keys(object)
  return keys.length === 0 ? `${path} is empty.` : `${path} contains ${quoted(keys, 20)}.`
}

const isThere = (holder: unknown, step: JsonPath.Step) =>
  Array.isArray(holder)
    ? typeof step === "number" && step < holder.length
    : obj(holder) !== undefined && Object.hasOwn(obj(holder) ?? {}, step)

const firstMissing = (parameters: Obj, steps: ReadonlyArray<JsonPath.Step>) =>
  steps.findIndex((step, index) => !isThere(JsonPath.get(parameters, steps.slice(0, index)), step))

const nowhere = (parameters: Obj, steps: ReadonlyArray<JsonPath.Step>, depth: number) => {
  const holder = steps.slice(0, depth)
  return Step.refuse(
    "path",
    `${textOf(steps.slice(0, depth + 1))} does not exist.`,
    contents(depth === 0 ? "parameters" : textOf(holder), JsonPath.get(redact(parameters), holder))
  )
}

const withParameters = (
  workflow: Obj,
  entry: Step.NodeEntry,
  parameters: unknown,
  [top = ""]: ReadonlyArray<JsonPath.Step>,
  lookups: Step.Lookups,
  newPaths: ReadonlyArray<string> = []
): Step.Attempt<Step.Step> => {
  const version = num(entry.node["typeVersion"])
  const nodeType = lookups.find(typeOf(entry.node))
  const description = nodeType && version !== undefined ? NodeType.at(nodeType, version) : undefined
  const next = { description, typeVersion: version ?? 1, parameters: obj(parameters) ?? {} }
  const keys = Object.hasOwn(next.parameters, top) ? [String(top)] : []
  const checked = Result.andThen(
    Patch.refuseUnknown(next, keys, lookups),
    () => Patch.refuseRemarked(next, newPaths, lookups)
  )
  return Result.mapBoth(checked, {
    onFailure: (refusal) => ({ ...refusal, field: "path" }),
    onSuccess: () => {
      const repaired = Patch.repaired(next, keys, entry.name, lookups)
      const step = withNode(workflow, entry, { ...entry.node, parameters: repaired.parameters }, lookups)
      return { ...step, changes: [...step.changes, ...repaired.lines] }
    }
  })
}

export const set: Step.Edit<"set"> = (workflow, operation, lookups) =>
  Result.gen(function*() {
    const entry = yield* Step.locate(workflow, operation.node, "node", lookups)
    const parameters = parametersOf(entry.node)
    const { isNew, steps } = yield* stepsOf(operation.path, parameters)
    const list = isNew ? JsonPath.get(parameters, steps) ?? [] : []
    if (isNew && (!Array.isArray(list) || operation.value === null)) {
      return yield* Step.refuse(
        Array.isArray(list) ? "value" : "path",
        Array.isArray(list) ? "null cannot be appended." : `${textOf(steps)} is not a list.`,
        contents(textOf(steps), JsonPath.get(redact(parameters), steps))
      )
    }
    const whole = isNew ? [...arr(list), operation.value] : operation.value
    const missing = firstMissing(parameters, steps)
    // Missing objects on the way are created, since n8n omits empty ones.
    const [above, below] = missing < 0 ? [steps, []] : [steps.slice(0, missing + 1), steps.slice(missing + 1)]
    const isFree = obj(JsonPath.get(parameters, above.slice(0, -1))) !== undefined &&
      steps.slice(missing).every((step) => typeof step === "string") && whole !== null
    if (missing >= 0 && !isFree) return yield* nowhere(parameters, steps, missing)
    const value = below.reduceRight((inner, key) => ({ [key]: inner }), whole)
    const newPaths = missing < 0
      ? []
      : steps.slice(missing).map((_, index) => textOf(steps.slice(0, missing + index + 1)))
    const next = JsonPath.modify(parameters, above, () => value ?? undefined)
    // A single new key is not checked: the parameter that shows it may be set next.
    return yield* withParameters(workflow, entry, next, steps, lookups, !isNew && newPaths.length === 1 ? [] : newPaths)
  })

const linesLike = (text: string, find: string, { nearest }: Step.Lookups) => {
  const [first = ""] = find.trim().split("\n")
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "" && line.length < 300)
  return lines.length === 1 ? [] : nearest(first, lines)
}

export const replace: Step.Edit<"replace"> = (workflow, operation, lookups) =>
  Result.gen(function*() {
    const { all = false, find, node: word, path, with: replacement } = operation
    const entry = yield* Step.locate(workflow, word, "node", lookups)
    const parameters = parametersOf(entry.node)
    const { isNew, steps } = yield* stepsOf(path, parameters)
    const missing = firstMissing(parameters, steps)
    if (missing >= 0) return yield* nowhere(parameters, steps, missing)
    const value = JsonPath.get(parameters, steps)
    const shown = JsonPath.get(redact(parameters), steps)
    const at = textOf(steps)
    if (isNew || typeof value !== "string" || typeof shown !== "string") {
      return yield* Step.refuse("path", `${at} is not text.`, contents(at, shown))
    }
    if (find === "") {
      return yield* Step.refuse("find", "The text to find is empty.", "Use set to replace the whole value.")
    }
    const pieces = value.split(find)
    const count = pieces.length - 1
    if (count === 0) {
      const [like] = linesLike(shown, find, lookups)
      return yield* Step.refuse(
        "find",
        `The text is not in ${at} of '${entry.name}' (found 0 times).`,
        like === undefined ? `It is ${Step.brief(shown, 300)}.` : `Did you mean ${Step.brief(like, 300)}?`
      )
    }
    if (count > 1 && !all) {
      return yield* Step.refuse(
        "find",
        `The text is ${count} times in ${at} of '${entry.name}'.`,
        "Include more surrounding text in find, or set all: true."
      )
    }
    const next = JsonPath.modify(parameters, steps, () => pieces.join(replacement))
    return yield* withParameters(workflow, entry, next, steps, lookups)
  })
