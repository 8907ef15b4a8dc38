/** Changes one value inside a node. */
import * as Result from "effect/Result"
import { arr, num, type Obj, obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as Omission from "../../base/Omission.ts"
import { redact } from "../../base/Redact.ts"
import * as Rows from "../../base/Rows.ts"
import { nameOf, nodes, parametersOf } from "../../n8n/model/Workflow.ts"
import type { Of } from "./operation.ts"
import { withNode } from "./rewire.ts"
import * as Step from "./step.ts"
import { update } from "./update.ts"

/** Place of a value in a node. */
interface Place {
  readonly entry: Step.NodeEntry
  /** Its node, with parameters. */
  readonly node: Obj
  /** From the node: `["parameters", "url"]`. */
  readonly steps: JsonPath.Path
  /** Whether the path ends in `[+]`. */
  readonly isNew: boolean
}

/** Operations for what is outside of nodes. */
const elsewhere: ReadonlyMap<unknown, string> = new Map([
  ["nodes", "Name a node in node, and a value in it."],
  ["connections", "Use connect and disconnect."],
  ["settings", "Use {op: 'settings', settings}."]
])

/** Place that a path names: below the node's parameters, from the node, or from the workflow, as answers write it. */
const placeOf = (
  workflow: Obj,
  { node: word, op, path }: Of<"set" | "replace">,
  lookups: Step.Lookups
): Step.Attempt<Place> =>
  Result.gen(function*() {
    const entry = yield* Step.locate(workflow, word, "node", lookups)
    const { index, name } = entry
    const parameters = parametersOf(entry.node)
    const node: Obj = { ...entry.node, parameters }
    const bare = path.trim().replace(/\s*\[\s*\+\s*\]$/u, "")
    const steps = JsonPath.parse(bare) ?? []
    const [top = "", second] = steps
    const inNode = (steps: JsonPath.Path): Step.Attempt<Place> =>
      steps.length > (steps[0] === "parameters" ? 1 : 0)
        ? Result.succeed({ entry, node, steps, isNew: bare !== path.trim() })
        : Step.refuse(
          "path",
          steps.length === 0 && top === "nodes"
            ? `${JsonPath.print(["nodes", index])} is the whole node, not a value in it.`
            : `'${path.slice(0, 100)}' is not a path below parameters.`,
          `Examples: options.timeout, rules.values[2] or assignments.assignments[+]. ${
            contents("parameters", parameters)
          }`
        )
    if (top === "nodes" && typeof second === "number" && JsonPath.get(parameters, steps) === undefined) {
      if (second === index) return yield* inNode(steps.slice(2))
      const other = nodes(workflow)[second]
      return yield* Step.refuse(
        "path",
        `${JsonPath.print(steps.slice(0, 2))} is ${other ? `'${nameOf(other)}'` : "not a node"}, not '${name}'.`,
        `'${name}' is ${JsonPath.print(["nodes", index])}: name one node in both node and path.`
      )
    }
    const isThere = Object.hasOwn(parameters, top)
    if (top === "parameters" && (!isThere || JsonPath.get(node, steps) !== undefined)) return yield* inNode(steps)
    const description = Step.read(entry, lookups)?.description
    const isParameter = isThere || steps.length === 0 ||
      description?.properties.some(({ name }) => name === top) === true
    if (!isParameter && Object.hasOwn(node, top) && (op === "replace" || description !== undefined)) {
      return yield* inNode(steps)
    }
    const hint = isParameter ? undefined : elsewhere.get(top)
    return hint === undefined
      ? yield* inNode(steps.length === 0 ? [] : ["parameters", ...steps])
      : yield* Step.refuse("path", `'${path.slice(0, 100)}' is not in a node.`, hint)
  })

/** Path as messages show it: without `parameters`, unless that is all. */
const shownPath = ([top, ...rest]: JsonPath.Path) =>
  JsonPath.print(top === "parameters" && rest.length > 0 ? rest : [top ?? "", ...rest])

const contents = (path: string, value: unknown): string => {
  if (Array.isArray(value)) {
    return value.length === 0
      ? `${path} is an empty list: ${path}[+] appends.`
      : `${path} ends at [${value.length - 1}]: ${path}[+] appends.`
  }
  const object = obj(value)
  if (object === undefined) return value === undefined ? "" : `${path} is ${Step.brief(value)}.`
  const keys = Object.keys(object)
  return keys.length === 0 ? `${path} is empty.` : `${path} contains ${Rows.names(keys, 20)}.`
}

const isThere = (holder: unknown, step: JsonPath.Step) =>
  Array.isArray(holder)
    ? typeof step === "number" && step >= 0 && step < holder.length
    : obj(holder) !== undefined && Object.hasOwn(obj(holder) ?? {}, step)

const firstMissing = ({ node, steps }: Place) =>
  steps.findIndex((step, index) => !isThere(JsonPath.get(node, steps.slice(0, index)), step))

const shownAt = ({ node }: Place, steps: JsonPath.Path) => contents(shownPath(steps), JsonPath.get(redact(node), steps))

const nowhere = (place: Place, depth: number) =>
  Step.refuse(
    "path",
    `${shownPath(place.steps.slice(0, depth + 1))} does not exist.`,
    depth === 0 ? "" : shownAt(place, place.steps.slice(0, depth))
  )

/** Replaces the node; a new parameter must exist, and the catalogue must have no remark at new paths. */
const commit = (
  workflow: Obj,
  { entry, steps: [top = "", key = ""] }: Place,
  value: unknown,
  lookups: Step.Lookups,
  newPaths: ReadonlyArray<string> = []
): Step.Attempt<Step.Step> => {
  const node = obj(value) ?? {}
  const atPath = Result.mapError((refusal: Step.Refusal) => ({ ...refusal, field: "path" }))
  if (top !== "parameters") {
    const { id, name } = entry.node
    return atPath(update(workflow, { op: "update", node: String(name ?? id), [top]: node[top] ?? null }, lookups))
  }
  const parameters = parametersOf(node)
  const description = Step.read(entry, lookups)?.description
  const next = { description, typeVersion: num(node["typeVersion"]) ?? 1, parameters }
  const keys = Object.hasOwn(parameters, key) ? [String(key)] : []
  const newKeys = keys.filter((each) => !Object.hasOwn(parametersOf(entry.node), each))
  const checked = Result.andThen(
    Step.refuseUnknown(next, newKeys, lookups),
    () => Step.refuseRemarked(next, newPaths, lookups)
  )
  return atPath(Result.map(checked, () => {
    const repaired = Step.repaired(next, keys, entry.name, lookups)
    const step = withNode(workflow, entry, { ...node, parameters: repaired.parameters }, lookups)
    return { ...step, changes: [...step.changes, ...repaired.lines] }
  }))
}

export const set: Step.Edit<"set"> = (workflow, operation, lookups) =>
  Result.gen(function*() {
    const place = yield* placeOf(workflow, operation, lookups)
    const { isNew, node, steps } = place
    const list = isNew ? JsonPath.get(node, steps) ?? [] : []
    if (isNew && (!Array.isArray(list) || operation.value === null)) {
      return yield* Step.refuse(
        Array.isArray(list) ? "value" : "path",
        Array.isArray(list) ? "null cannot be appended." : `${shownPath(steps)} is not a list.`,
        shownAt(place, steps) || "Append a value instead."
      )
    }
    const whole = isNew ? [...arr(list), operation.value] : operation.value
    const missing = firstMissing(place)
    // Missing objects on the way are created, since n8n omits empty ones.
    const [above, below] = missing < 0 ? [steps, []] : [steps.slice(0, missing + 1), steps.slice(missing + 1)]
    const isFree = obj(JsonPath.get(node, above.slice(0, -1))) !== undefined &&
      steps.slice(missing).every((step) => typeof step === "string") && whole !== null
    if (missing >= 0 && !isFree) return yield* nowhere(place, missing)
    const value = below.reduceRight((inner, key) => ({ [key]: inner }), whole)
    const newPaths = missing < 0
      ? []
      : steps.slice(missing).map((_, index) => shownPath(steps.slice(0, missing + index + 1)))
    const next = JsonPath.modify(node, above, () => value ?? undefined)
    // A single new key is not checked: the parameter that shows it may be set next.
    return yield* commit(workflow, place, next, lookups, !isNew && newPaths.length === 1 ? [] : newPaths)
  })

const isWordEnd = (text: string, isHost: boolean) =>
  !/^[\p{L}\p{N}_-]/u.test(text) && !(isHost && /^\.[\p{L}\p{N}]/u.test(text))

const isWordStart = (text: string, isHost: boolean) =>
  !/[\p{L}\p{N}_-]$/u.test(text) && !(isHost && /[\p{L}\p{N}]\.$/u.test(text))

/** Indexes at which a value contains a text; with `word` only whole words, or whole hosts if the text has a dot. */
export const occurrences = (value: string, find: string, word: boolean): ReadonlyArray<number> => {
  const isHost = find.includes(".")
  const [isOpen, isEnd] = [/^[\p{L}\p{N}_]/u.test(find), /[\p{L}\p{N}_]$/u.test(find)]
  const all: Array<number> = []
  if (find === "") return all
  for (let at = value.indexOf(find); at !== -1; at = value.indexOf(find, at + find.length)) {
    const [before, after] = [value.slice(0, at), value.slice(at + find.length)]
    const isWhole = (!isOpen || isWordStart(before, isHost)) && (!isEnd || isWordEnd(after, isHost))
    if (!word || isWhole) all.push(at)
  }
  return all
}

const linesLike = (text: string, find: string, { nearest }: Step.Lookups) => {
  const [first = ""] = find.trim().split("\n")
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "" && line.length < 300)
  return lines.length === 1 ? [] : nearest(first, lines)
}

export const replace: Step.Edit<"replace"> = (workflow, operation, lookups) =>
  Result.gen(function*() {
    const { all = false, find, with: replacement, word = false } = operation
    const place = yield* placeOf(workflow, operation, lookups)
    const { entry: { name }, isNew, node, steps } = place
    const missing = firstMissing(place)
    if (missing >= 0) return yield* nowhere(place, missing)
    const value = JsonPath.get(node, steps)
    const shown = JsonPath.get(redact(node), steps)
    const at = shownPath(steps)
    if (isNew || typeof value !== "string" || typeof shown !== "string") {
      return yield* Step.refuse("path", `${at} is not text.`, contents(at, shown))
    }
    if (find === "") {
      return yield* Step.refuse("find", "The text to find is empty.", "Use set to replace the whole value.")
    }
    const starts = occurrences(value, find, word)
    const count = starts.length
    if (count === 0) {
      const readable = Omission.files(shown)
      const [like] = linesLike(readable, find, lookups)
      return yield* Step.refuse(
        "find",
        `The text is not in ${at} of '${name}' (found 0 times).`,
        Omission.isShortened(find)
          ? "find has a note for what an answer left out: use text beside it."
          : like === undefined
          ? `It is ${Step.brief(readable, 300)}.`
          : `Did you mean ${Step.brief(like, 300)}?`
      )
    }
    if (count > 1 && !all) {
      return yield* Step.refuse(
        "find",
        `The text is ${count} times in ${at} of '${name}'.`,
        "Include more surrounding text in find, or set all: true."
      )
    }
    const ends = [0, ...starts.map((start) => start + find.length)]
    const pieces = ends.map((end, index) => value.slice(end, starts[index]))
    return yield* commit(workflow, place, JsonPath.modify(node, steps, () => pieces.join(replacement)), lookups)
  })
