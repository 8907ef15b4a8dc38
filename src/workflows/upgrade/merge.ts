/** Merge 1 to 3.2, and loops. */
import * as Result from "effect/Result"
import { arr, type Obj, obj, str } from "../../base/Json.ts"
import { placedLinks } from "../../n8n/model/Connections.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { carry, continues, left, type Mapping, type New, type Outcome } from "./mapping.ts"

const done = (parameters: Obj): Outcome => Result.succeed<New>({ parameters })

/** Options with the newer name of the clash handling that prefers the second input. */
const withOptions = (own: Obj): Obj => {
  const options = obj(own["options"]) ?? {}
  const clash = obj(options["clashHandling"])
  const values = obj(clash?.["values"])
  return values?.["resolveClash"] === "preferInput2"
    ? { options: { ...options, clashHandling: { ...clash, values: { ...values, resolveClash: "preferLast" } } } }
    : { options }
}

const byHand = "Choose the mode and its options for the new version by hand."

const first: Mapping = ({ parameters }) => {
  const mode = str(parameters["mode"])
  return mode === "append"
    ? done({})
    : left(
      mode === "mergeByIndex"
        ? "The new version pairs items by position only up to the shortest input, or up to the longest."
        : mode === "passThrough" || mode === "wait"
        ? "The new version waits until both inputs have items."
        : mode === "multiplex"
        ? "The new version passes files on too."
        : "The new version compares keys in another way, and keeps items without a key.",
      byHand
    )
}

const second: Mapping = ({ own, parameters }) => {
  const options = withOptions(own)
  switch (parameters["mode"]) {
    case "append":
      return done({})
    case "chooseBranch": {
      const output = parameters["output"]
      if (output === "empty") return done({ mode: "chooseBranch", output: "empty" })
      return output === "input1" || output === "input2"
        ? done({ mode: "chooseBranch", ...(output === "input1" ? {} : { useDataOfInput: 2 }) })
        : left("Its output depends on data.", byHand)
    }
    case "combine": {
      const by = parameters["combinationMode"]
      if (by === "multiplex") return done({ mode: "combine", combineBy: "combineAll", ...options })
      if (by === "mergeByFields") {
        const { combinationMode: _, ...rest } = own
        return done({ ...rest, mode: "combine", advanced: true, ...options })
      }
      const all = obj(parameters["options"]) ?? {}
      const clash = obj(obj(all["clashHandling"])?.["values"])?.["resolveClash"]
      return by === "mergeByPosition" && all["includeUnpaired"] === true && clash !== "addSuffix"
        ? done({ mode: "combine", combineBy: "combineByPosition", ...options })
        : left(
          "If an input has no items, the old version passes on those of the other; the new version nothing.",
          "Upgrade it by an update if both inputs always have items: mode combine, combineBy combineByPosition."
        )
    }
    default:
      return left("Its mode is not known.", byHand)
  }
}

const third: Mapping = (old) => {
  const { own, parameters, version } = old
  if (version < 2) return first(old)
  if (version < 3) return second(old)
  if (parameters["mode"] !== "combineBySql") return done(own)
  const query = str(parameters["query"]) ?? ""
  return version < 3.1 && (query.startsWith("=") || query.includes("{{") || query.toLowerCase().startsWith("select"))
    ? left(
      "The new version runs a SELECT with pairs of items, which some queries do not allow.",
      "Try the query in the new version."
    )
    : done({ ...own, options: { emptyQueryResult: "success", ...obj(own["options"]) } })
}

export const merge = [{ to: 3, change: third }, { to: 3.2, change: third }]

/** Whether something outside reads what the last node returns. */
const answersLast = (workflow: Obj) =>
  Workflow.nodes(workflow).some((node) => {
    const type = Workflow.typeOf(node)
    const mode = Workflow.parametersOf(node)["responseMode"]
    return /executeWorkflowTrigger|chatTrigger|formTrigger|evaluationTrigger|mcpTrigger|toolWorkflow/.test(type) ||
      type.endsWith(".webhook") && (mode === "lastNode")
  })

/** Version 3 has the outputs in the order done, loop. */
export const loop: Mapping = (old) => {
  const { name, node, version, workflow } = old
  const main = arr(obj(obj(workflow["connections"])?.[name])?.["main"])
  if (str(node["onError"]) === "continueErrorOutput" || arr(main[version < 2 ? 1 : 2]).length > 0) {
    return left("It has an output for errors.", "Connect the outputs of the new version by hand: done, loop, error.")
  }
  return answersLast(workflow) && arr(main[1]).length === 0
    ? left(
      "When the loop ends, the new version returns all items, which are returned to the caller of this workflow.",
      "Connect what should be returned to its output 'done'."
    )
    : Result.map(
      carry(old),
      (made): New => ({ ...made, outputs: (index) => index === 0 ? 1 : index === 1 ? 0 : index })
    )
}

/** Whether each node runs at most once: not in a loop, and not once for each of several branches. */
const runsOnce = (workflow: Obj): boolean => {
  const links = placedLinks(workflow["connections"]).filter(({ output }) => output.type === "main")
  const inputs = links.map(({ input, to }) => JSON.stringify([to, input.index]))
  if (new Set(inputs).size < inputs.length) return false
  const sources = new Map<string, Array<string>>()
  for (const { from, to } of links) sources.set(to, [...sources.get(to) ?? [], from])
  const [visited, current] = [new Set<string>(), new Set<string>()]
  const isCyclic = (node: string): boolean => {
    if (current.has(node)) return true
    if (visited.has(node)) return false
    visited.add(node)
    current.add(node)
    const cyclic = (sources.get(node) ?? []).some((each) => isCyclic(each))
    current.delete(node)
    return cyclic
  }
  return ![...sources.keys()].some((each) => isCyclic(each))
}

export const calledFields: Mapping = ({ own, nextVersion, parameters, version, workflow }) => {
  const { returnOutput, ...rest } = own
  const taken: Obj = version < 1.1 ? { ...rest, inputSource: "passthrough" } : rest
  if (nextVersion < 1.2) return done(returnOutput === undefined ? taken : { ...taken, returnOutput })
  return parameters["returnOutput"] === "allRuns" || runsOnce(workflow)
    ? done(taken)
    : left(
      "If its last node runs several times, the new version returns the items of all runs; the old one those of the last.",
      "Check what callers of this workflow expect, then set typeVersion 1.2 by an update."
    )
}

const workflowInputs = {
  mappingMode: "defineBelow",
  value: {},
  matchingColumns: [],
  schema: [],
  attemptToConvertTypes: false,
  convertFieldsToString: true
}

export const called: Mapping = ({ node, own, nextVersion, parameters }) => {
  const { workflowId } = own
  if (nextVersion === 1.1) {
    return done(
      parameters["source"] === "database" && typeof workflowId === "string"
        ? { ...own, workflowId: { __rl: true, mode: "id", value: workflowId } }
        : own
    )
  }
  if (nextVersion === 1.2) {
    if (parameters["source"] === "localFile" || parameters["source"] === "url") {
      return left(
        "The new version calls only workflows on n8n, or one defined in it.",
        "Import the workflow, then choose it."
      )
    }
    return done({ ...own, ...(parameters["source"] === "database" ? { workflowInputs } : {}) })
  }
  if (nextVersion === 1.3) {
    return continues(node) && parameters["mode"] === "each"
      ? left(
        "It passes each failed item to an output of its own; the new version all to one.",
        "Connect the outputs by hand."
      )
      : done(own)
  }
  const inputs = obj(own["workflowInputs"])
  const isTyped = arr(inputs?.["schema"]).some((each) => obj(each)?.["type"] === "string")
  return isTyped && inputs?.["convertFieldsToString"] !== true
    ? left(
      "The new version converts inputs to text.",
      "Check the inputs' types, then set typeVersion 1.4 by an update."
    )
    : done(own)
}
