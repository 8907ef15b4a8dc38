/** Mappings of nodes that shape and route data. */
import * as Result from "effect/Result"
import type { Parse } from "../../base/JavaScript.ts"
import { arr, type Obj, obj, str } from "../../base/Json.ts"
import * as Graph from "../Graph.ts"
import * as Webhooks from "../Webhooks.ts"
import data from "./core.json" with { type: "json" }
import { moves } from "./files.ts"
import { operand } from "./filters.ts"
import {
  asN8n,
  carry,
  done,
  entriesOf,
  left,
  type Mapping,
  type New,
  type StepData,
  type Steps,
  steps as ofData,
  type Successors,
  way
} from "./mapping.ts"
import { filterNodes, ifs, switches } from "./routes.ts"
import { set } from "./set.ts"

const base = "n8n-nodes-base."

/** Options with the newer name of the clash handling that prefers the second input. */
const withOptions = (own: Obj): Obj => {
  const options = obj(own["options"]) ?? {}
  const clash = obj(options["clashHandling"])
  const values = obj(clash?.["values"])
  return values?.["resolveClash"] === "preferInput2"
    ? { options: { ...options, clashHandling: { ...clash, values: { ...values, resolveClash: "preferLast" } } } }
    : { options }
}

/** Modes that come near to those of the first version. */
const first: Mapping = ({ parameters: p }) => {
  const mode = str(p["mode"])
  const combine = (by: string, more: Obj = {}) => ({ mode: "combine", combineBy: by, options: {}, ...more })
  const byKey = (joinMode: string) => ({
    mode: "combine",
    advanced: true,
    mergeByFields: { values: [{ field1: p["propertyName1"], field2: p["propertyName2"] }] },
    joinMode,
    ...(joinMode === "enrichInput1" ? {} : { outputDataFrom: "input1" }),
    options: {}
  })
  const decision = "Choose the mode that comes near enough."
  switch (mode) {
    case "append":
      return done({})
    case "mergeByIndex":
      return left(
        "The new version pairs items by position only up to the shortest input, or up to the longest.",
        decision,
        [
          way("shortest", "Pairs up to the shortest input.", combine("combineByPosition")),
          way(
            "longest",
            "Pairs up to the longest input.",
            combine("combineByPosition", { options: { includeUnpaired: true } })
          )
        ]
      )
    case "passThrough":
    case "wait":
      return left("The new version waits until both inputs have items.", decision, [
        way("chooseBranch", "Waits for both inputs, then goes on as before.", {
          mode: "chooseBranch",
          ...(mode === "wait" ? { output: "empty" } : p["output"] === "input2" ? { useDataOfInput: 2 } : {})
        })
      ])
    case "multiplex":
      return left("The new version passes files on too.", decision, [
        way("combineAll", "Combines each item with each, files included.", combine("combineAll"))
      ])
    case "mergeByKey":
    case "keepKeyMatches":
    case "removeKeyMatches": {
      const join = mode === "mergeByKey" ? "enrichInput1" : mode === "keepKeyMatches" ? "keepMatches" : "keepNonMatches"
      return left("The new version compares keys in another way, and keeps items without a key.", decision, [
        way(join, "Compares the same fields; all matches count, not the last one.", byKey(join))
      ])
    }
    default:
      return left(`Its mode '${String(mode)}' is not known.`, "Choose a mode, then upgrade again.")
  }
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
        : left("Its output depends on data.", "Choose input1 or input2, then upgrade again.")
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
          "Decide whether both inputs always have items.",
          [way("byPosition", "Pairs by position; nothing comes out where an input has no items.", {
            mode: "combine",
            combineBy: "combineByPosition",
            ...options
          })]
        )
    }
    default:
      return left("Its mode is not known.", "Choose a mode, then upgrade again.")
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

const merge = [{ to: 3, change: third }, { to: 3.2, change: third }]

/** Version 3 orders its outputs as done, loop. */
const loop: Mapping = (old) => {
  const { graph, name, node, version, workflow } = old
  const hasNext = (output: number) => Graph.next(graph, name, output).length > 0
  if (str(node["onError"]) === "continueErrorOutput" || hasNext(version < 2 ? 1 : 2)) {
    return left(
      "It has an output for errors.",
      "Remove the links of its error output and onError, upgrade again, and connect the third output, error."
    )
  }
  return Webhooks.returnsItems(workflow) && !hasNext(1)
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
const runsOnce = (graph: Graph.Graph): boolean =>
  Graph.looping(graph).size === 0 &&
  ![...new Set(graph.links.map(({ to }) => to))].some((name) => Graph.isFedTwice(graph, name))

const calledFields: Mapping = ({ graph, own, nextVersion, parameters, version }) => {
  const { returnOutput, ...rest } = own
  const taken: Obj = version < 1.1 ? { ...rest, inputSource: "passthrough" } : rest
  if (nextVersion < 1.2) return done(returnOutput === undefined ? taken : { ...taken, returnOutput })
  return parameters["returnOutput"] === "allRuns" || runsOnce(graph)
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

const called: Mapping = ({ own, nextVersion, parameters }) => {
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
    return done(
      own,
      parameters["mode"] === "each"
        ? { fails: "It passes each failed item to an output of its own; the new version all to one." }
        : {}
    )
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

const acceptsMissing = "It fails where a field is missing; the new version does not."

const summarize: Mapping = (old) => {
  const { continueIfFieldNotFound, ...options } = obj(old.own["options"]) ?? {}
  return (str(old.parameters["fieldsToSplitBy"]) ?? "x").trim() === ""
    ? done({ ...old.own, options }, continueIfFieldNotFound === true ? {} : { fails: acceptsMissing })
    : left(
      "Version 1 groups by the text of the fields, and returns them as text; version 1.1 keeps their types.",
      "Check that no later node needs text there, then set typeVersion 1.1 by an update."
    )
}

/** Value that may also be stored as `0`, which the new version treats as missing. */
const stored = (value: unknown, parse: Parse): unknown => {
  const { code, isLiteral, kind } = operand(value, parse)
  return value === 0
    ? "0"
    : isLiteral || kind === "string" || kind === "boolean"
    ? value
    : code && `={{ ${code} === 0 ? "0" : ${code} }}`
}

const executionData: Mapping = ({ lookups, own, parameters }) => {
  const values = entriesOf(parameters["dataToSave"], "values")
  const next = values.map((each) => ({ ...each, value: stored(each["value"], lookups.parse) }))
  return next.some(({ value }, index) => value === undefined && values[index]?.["value"] !== undefined)
    ? left("A value has code that cannot be read.", "Correct its code, then upgrade again.")
    : done(values.length === 0 ? own : { ...own, dataToSave: { ...obj(own["dataToSave"]), values: next } })
}

const newer: { readonly [operation: string]: string } = {
  splitOutItems: "splitOut",
  concatenateItems: "aggregate",
  aggregateItems: "aggregate",
  limit: "limit",
  removeDuplicates: "removeDuplicates",
  sort: "sort",
  summarize: "summarize"
}

const names = (fields: unknown): string | undefined => {
  const all = entriesOf(fields, "fields").map(({ fieldName }) => str(fieldName) ?? "")
  return all.some((name) => name.includes(",") || name.startsWith("=")) ? undefined : all.join(", ")
}

const itemLists: Mapping = ({ own, parameters, version }) => {
  const operation = str(parameters["operation"]) ?? "splitOutItems"
  const type = Object.hasOwn(newer, operation) ? newer[operation] : undefined
  const { operation: _, resource: __, ...rest } = own
  const unknown = (why: string) =>
    left(why, `Add the node for '${operation}', connect it in place of this one, and remove this one.`)
  if (type === undefined) return unknown(`Its operation '${operation}' is not known.`)
  if (
    type === "summarize" && (str(parameters["fieldsToSplitBy"]) ?? "").trim() !== "" ||
    type === "aggregate" && version < 3
  ) {
    return unknown(
      type === "summarize" ? "It groups by the text of fields." : "The first versions aggregate fields in another way."
    )
  }
  const next: Record<string, unknown> = { ...rest }
  if (version < 3) {
    for (const key of ["fieldsToInclude", "fieldsToExclude", "fieldsToCompare"]) {
      if (next[key] === undefined) continue
      const joined = typeof next[key] === "string" ? next[key] : names(next[key])
      if (joined === undefined) return unknown(`Names in '${key}' are expressions or contain commas.`)
      next[key] = joined
    }
  }
  const { continueIfFieldNotFound, ...options } = obj(next["options"]) ?? {}
  const isStricter = version < 3 || type === "summarize" && continueIfFieldNotFound !== true
  return done(type === "summarize" ? { ...next, options } : next, {
    type: `${base}${type}`,
    ...(isStricter ? { fails: acceptsMissing } : {})
  })
}
const itemListTypes = [...new Set(Object.values(newer))].map((name) => `${base}${name}`)

/** Code that the old nodes accept and a Code node does not. */
const lacking: ReadonlyArray<readonly [pattern: RegExp, what: string]> = [
  [/\bgetNodeParameter\b/, "reads its own parameters"],
  [/\b[gs]etBinaryData(?:Async)?\b/, "reads or writes files"],
  [/\bthis\b(?!\.getWorkflowStaticData\b)/, "uses `this`"],
  [/\bhelpers\b/, "calls n8n's helpers"],
  [
    /\bjson["']?\s*(?::|=(?!=))\s*(?:\[|Object\.(?:keys|values|entries)\b|[\w.$]+\.(?:split|map|filter|concat)\()|\breturn\s*\[\s*\[|\breturn\s+[\w.$]+\.map\([^{}]*=>\s*\[/,
    "returns a list as data of an item"
  ],
  [
    /\b(?:get|set)PrototypeOf\b|\bdefinePropert|\.prototype\b|\bcaptureStackTrace\b|\bglobalThis\b|\bprocess\b|\bBuffer\s*\(/,
    "uses JavaScript that a Code node restricts"
  ]
]

/** Reads of the unchanged input: in the old nodes, `item` and `items` were copies of it. */
const reading = /\$json\b|\$input\b|\$items\s*\(\s*\)/

/** Code with the parts of the old node that it uses; `isEach` wraps it to return one item's data and keep the file. */
const script = (old: string, isEach: boolean): string => {
  const code = old.replace(/\bthis\.(?=getWorkflowStaticData\b)/g, "")
  const before = [
    ...(/(?<!\$)\bgetWorkflowStaticData\b/.test(code) ? ["const getWorkflowStaticData = $getWorkflowStaticData;"] : []),
    ...(!isEach && /\.index\b|\["index"\]|\['index'\]/.test(code)
      ? ["items.forEach((item, index) => { item.index = index; });"]
      : [])
  ]
  const inner = isEach
    ? [
      reading.test(code)
        ? "let item = JSON.parse(JSON.stringify($input.item.json));"
        : "let item = $input.item.json;",
      "const json = await (async () => {",
      code,
      "})();",
      "return { json, binary: $input.item.binary };"
    ]
    : [code]
  return [...before, ...inner].join("\n")
}

const readsCopies = "changes copies of the items and also reads the items themselves"

const toCode = (isEach: boolean): Mapping => ({ parameters: { functionCode } }) => {
  const code = str(functionCode)
  const why = code === undefined || code.startsWith("=")
    ? "takes its code from data"
    : isEach && /\$input\s*\.\s*(?:first|last|all|itemMatching)\b/.test(code)
    ? "reads all items where a Code node reads one"
    : !isEach && reading.test(code) && /(?<![.$\w])items?\b/.test(code)
    ? readsCopies
    : lacking.find(([pattern]) => pattern.test(code))?.[1]
  const parameters = { ...(isEach ? { mode: "runOnceForEachItem" } : {}), jsCode: script(code ?? "", isEach) }
  return why !== undefined || code === undefined
    ? left(
      `Its code ${why}.`,
      "Change the code so that a Code node can run it, then upgrade again.",
      why === readsCopies ? [way(asN8n, "A change of one is then one of the other.", parameters)] : []
    )
    : done(parameters)
}
const wordsOtherwise = "A Code node words its errors differently."

const transform: Mapping = ({ own: { jsCode } }) =>
  typeof jsCode !== "string" || jsCode === "" || jsCode.startsWith("=")
    ? left("It has no code yet.", "Write the code of a Code node.")
    : done({ jsCode })

export const steps: Steps = {
  ...ofData(data as { readonly [type: string]: ReadonlyArray<StepData> }),
  [`${base}set`]: set,
  [`${base}if`]: ifs,
  [`${base}filter`]: filterNodes,
  [`${base}switch`]: switches,
  [`${base}merge`]: merge,
  [`${base}splitInBatches`]: [{ to: 3, change: loop }],
  [`${base}executeWorkflow`]: [1.1, 1.2, 1.3, 1.4].map((to) => ({ to, change: called })),
  [`${base}executeWorkflowTrigger`]: [1.1, 1.2].map((to) => ({ to, change: calledFields })),
  [`${base}code`]: [{ to: 2 }],
  [`${base}wait`]: [{ to: 1.1 }],
  [`${base}summarize`]: [{ to: 1.1, change: summarize }],
  [`${base}executionData`]: [{ to: 1.1, change: executionData }],
  [`${base}removeDuplicates`]: [{ to: 1.1 }, { to: 2 }]
}

export const successors: Successors = {
  [`${base}function`]: { to: [`${base}code`], change: toCode(false), fails: wordsOtherwise },
  [`${base}functionItem`]: { to: [`${base}code`], change: toCode(true), fails: wordsOtherwise },
  [`${base}moveBinaryData`]: moves,
  [`${base}aiTransform`]: { to: [`${base}code`], change: transform },
  [`${base}itemLists`]: { to: itemListTypes, change: itemLists },
  [`${base}start`]: { to: [`${base}manualTrigger`], change: () => done({}) }
}
