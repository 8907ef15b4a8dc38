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

type Steps = readonly [JsonPath.Step, ...ReadonlyArray<JsonPath.Step>]

const isFilled = (steps: ReadonlyArray<JsonPath.Step>): steps is Steps => steps.length > 0

/** Steps below `parameters`, and whether the path ends in `[+]`. */
const stepsOf = (path: string, parameters: Obj): Step.Attempt<{ readonly steps: Steps; readonly isNew: boolean }> => {
  const bare = path.trim().replace(/\s*\[\s*\+\s*\]$/u, "")
  const steps = JsonPath.parse(bare) ?? []
  const below = steps[0] === "parameters" && !Object.hasOwn(parameters, "parameters") ? steps.slice(1) : steps
  return isFilled(below)
    ? Result.succeed({ steps: below, isNew: bare !== path.trim() })
    : Step.refuse(
      "path",
      `'${path.slice(0, 100)}' is not a path below parameters.`,
      `Examples: options.timeout, rules.values[2] or assignments.assignments[+]. ${contents("parameters", parameters)}`
    )
}

const textOf = (steps: ReadonlyArray<JsonPath.Step>) =>
  steps.reduce<string>((path, step) => typeof step === "number" ? `${path}[${step}]` : JsonPath.member(path, step), "")

/** Sentence about the value at a path, for paths that do not exist. */
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

/** Index of the first step that does not exist; -1 if all exist. */
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

/** The value at the steps; refuses steps that do not exist. */
const existing = (parameters: Obj, steps: ReadonlyArray<JsonPath.Step>): Step.Attempt<unknown> => {
  const depth = firstMissing(parameters, steps)
  return depth < 0 ? Result.succeed(JsonPath.get(parameters, steps)) : nowhere(parameters, steps, depth)
}

/** Changes the value at the end of the steps, all of which exist. */
const changeAt = (
  value: unknown,
  steps: ReadonlyArray<JsonPath.Step>,
  change: (value: unknown) => unknown
): unknown => {
  const [step, ...rest] = steps
  if (step === undefined) return change(value)
  if (Array.isArray(value)) return value.with(Number(step), changeAt(value[Number(step)], rest, change))
  const object = obj(value) ?? {}
  return Object.fromEntries(
    Object.entries(object).map(([key, inner]) => [key, key === String(step) ? changeAt(inner, rest, change) : inner])
  )
}

/** Sets an item or key of a list or object; null removes it. */
const assigned = (holder: unknown, step: JsonPath.Step, value: unknown): unknown => {
  if (Array.isArray(holder)) {
    return value === null ? holder.toSpliced(Number(step), 1) : holder.with(Number(step), value)
  }
  const object = obj(holder) ?? {}
  return value === null
    ? Step.omit(object, String(step))
    : Object.fromEntries(new Map(Object.entries(object)).set(String(step), value))
}

/** Replaces the parameters of a node, completed as its type needs; `made` are paths that are new. */
const withParameters = (
  workflow: Obj,
  entry: Step.NodeEntry,
  parameters: unknown,
  top: JsonPath.Step,
  lookups: Step.Lookups,
  made: ReadonlyArray<string> = []
): Step.Attempt<Step.Step> => {
  const version = num(entry.node["typeVersion"])
  const nodeType = lookups.find(typeOf(entry.node))
  const description = nodeType && version !== undefined ? NodeType.at(nodeType, version) : undefined
  const next = { description, typeVersion: version ?? 1, parameters: obj(parameters) ?? {} }
  const keys = Object.hasOwn(next.parameters, top) ? [String(top)] : []
  const checked = Result.andThen(
    Patch.refuseUnknown(next, keys, lookups),
    () => Patch.refuseRemarked(next, made, lookups)
  )
  return Result.mapBoth(checked, {
    onFailure: (refusal) => ({ ...refusal, field: "path" }),
    onSuccess: () =>
      withNode(workflow, entry, { ...entry.node, parameters: Patch.withFilters(next, keys, lookups) }, lookups)
  })
}

/** Place of a value, and the value wrapped in the objects that do not exist yet. */
interface Place {
  readonly above: ReadonlyArray<JsonPath.Step>
  readonly step: JsonPath.Step
  readonly value: unknown
  /** Paths of those objects and of the value in them. */
  readonly made: ReadonlyArray<string>
}

/** Place of a value; missing objects on the way are created, since n8n omits empty ones. */
const placeOf = (parameters: Obj, steps: Steps, value: unknown): Step.Attempt<Place> => {
  const missing = firstMissing(parameters, steps)
  const depth = missing < 0 ? steps.length - 1 : missing
  const [above, below] = [steps.slice(0, depth), steps.slice(depth + 1)]
  const step = steps[depth] ?? steps[0]
  const isFree = obj(JsonPath.get(parameters, above)) !== undefined &&
    [step, ...below].every((each) => typeof each === "string") && value !== null
  if (missing >= 0 && !isFree) return nowhere(parameters, steps, depth)
  return Result.succeed({
    above,
    step,
    value: below.reduceRight((inner, key) => ({ [key]: inner }), value),
    made: missing < 0 ? [] : [step, ...below].map((_, index) => textOf(steps.slice(0, depth + index + 1)))
  })
}

/** Sets, appends or removes one value. */
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
    const { above, made, step, value } = yield* placeOf(parameters, steps, whole)
    // A single new key is not checked: the parameter that shows it may be set next.
    const isOneKey = !isNew && made.length === 1
    return yield* withParameters(
      workflow,
      entry,
      changeAt(parameters, above, (holder) => assigned(holder, step, value)),
      steps[0],
      lookups,
      isOneKey ? [] : made
    )
  })

const linesLike = (text: string, find: string, { nearest }: Step.Lookups) => {
  const [first = ""] = find.trim().split("\n")
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "" && line.length < 300)
  return lines.length === 1 ? [] : nearest(first, lines)
}

/** Replaces literal text inside one value. */
export const replace: Step.Edit<"replace"> = (workflow, operation, lookups) =>
  Result.gen(function*() {
    const { all = false, find, node: word, path, with: replacement } = operation
    const entry = yield* Step.locate(workflow, word, "node", lookups)
    const parameters = parametersOf(entry.node)
    const { isNew, steps } = yield* stepsOf(path, parameters)
    const value = yield* existing(parameters, steps)
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
    return yield* withParameters(
      workflow,
      entry,
      changeAt(parameters, steps, () => pieces.join(replacement)),
      steps[0],
      lookups
    )
  })
