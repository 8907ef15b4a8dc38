/** Moves a chain of nodes to a sub-workflow, called by one node in its place. */
import * as Result from "effect/Result"
import { arr, canonical, equals, mapValues, type Obj, obj, str } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { nameFault } from "../../n8n/model/Limits.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import * as Expressions from "../check/Expressions.ts"
import * as WorkflowDiff from "../diff/WorkflowDiff.ts"
import * as Graph from "../Graph.ts"
import * as Group from "./group.ts"
import { remove, renameIn, unique } from "./rename.ts"
import * as Step from "./step.ts"

const call = "n8n-nodes-base.executeWorkflow"
const trigger = "n8n-nodes-base.executeWorkflowTrigger"
const set = "n8n-nodes-base.set"

export const types = [call, trigger, set]

const settingKeys = new Set([
  "executionOrder",
  "timezone",
  "binaryMode",
  "saveDataErrorExecution",
  "saveDataSuccessExecution",
  "saveManualExecutions",
  "saveExecutionProgress"
])

const settingsOf = (workflow: Obj): Obj =>
  Object.fromEntries(Object.entries(obj(workflow["settings"]) ?? {}).filter(([key]) => settingKeys.has(key)))

const place = ({ entry, members }: Group.Group, dx: number) => {
  const [x = 0, y = 0] = arr(members.get(entry)?.json["position"]).map(Number)
  return [x + dx, y]
}

const build = (
  workflow: Obj,
  name: string,
  group: Group.Group,
  lookups: Step.Lookups,
  names?: ReadonlyArray<string>
): Step.Attempt<{ readonly sub: Obj; readonly inputs: ReadonlyArray<Group.Input> }> =>
  Result.gen(function*() {
    const taken = new Set(group.members.keys())
    const start = unique("When called", taken)
    const restore = unique("Items", taken)
    const { inputs, parameters } = yield* Group.lift(group, start, lookups, names)
    const isWhole = inputs.length === 0
    const added = (type: string, name: string, dx: number, typeVersion: number, parameters: Obj): Obj => ({
      id: lookups.newId(),
      name,
      type,
      typeVersion,
      position: place(group, dx),
      parameters
    })
    const values = inputs.map(({ name }) => ({ name, type: name === Group.wholeItem ? "object" : "any" }))
    const head = [
      added(
        trigger,
        start,
        isWhole ? -220 : -440,
        lookups.newest(trigger) ?? 1.1,
        isWhole ? { inputSource: "passthrough" } : { inputSource: "workflowInputs", workflowInputs: { values } }
      ),
      // The nodes receive the same items as before: without the inputs, and with binary data.
      ...(isWhole ? [] : [added(set, restore, -220, 3.4, {
        mode: "raw",
        jsonOutput: `={{ $json.${Group.wholeItem} }}`,
        includeOtherFields: true,
        include: "except",
        excludeFields: inputs.map(({ name }) => name).join(", "),
        options: { dotNotation: false, stripBinary: false }
      })])
    ]
    const links = Connections.chain([...(isWhole ? [start] : [start, restore]), group.entry])
    const pinData = Object.entries(obj(workflow["pinData"]) ?? {}).filter(([key]) => group.members.has(key))
    return {
      inputs,
      sub: {
        name,
        nodes: [
          ...head,
          ...[...group.members.values()].map(({ json, name }) => ({ ...json, parameters: parameters.get(name) }))
        ],
        connections: Connections.fromLinks([...links, ...group.inner.links]),
        settings: settingsOf(workflow),
        ...(pinData.length === 0 ? {} : { pinData: Object.fromEntries(pinData) })
      }
    }
  })

/** Nodes from the trigger on, then the sub-nodes of each. */
const inTurn = (workflow: Obj, graph: Graph.Graph): ReadonlyArray<string> => {
  const first = Workflow.nodes(workflow).find((node) => Workflow.typeOf(node) === trigger)
  return [...Graph.running(graph, first === undefined ? [] : [Workflow.nameOf(first)])]
}

/** Parts of a sub-workflow that determine its behaviour, without the names that a person chose. */
const essence = (workflow: Obj, { parse }: Step.Lookups) => {
  const graph = Graph.make(workflow["connections"])
  const names = inTurn(workflow, graph)
  const label = (name: string) => `#${names.indexOf(name)}`
  const nodes = names.flatMap((name) => {
    const node = Workflow.nodes(workflow).find((each) => Workflow.nameOf(each) === name)
    if (node === undefined) return []
    const parameters = names.reduce(
      (result, each) => renameIn(result, each, label(each), parse),
      Workflow.parametersOf(node)
    )
    const { id: _, name: __, notes: ___, notesInFlow: ____, position: _____, webhookId: ______, ...rest } = node
    const credentials = mapValues(obj(node["credentials"]) ?? {}, (each) => obj(each)?.["id"] ?? each)
    return [{ name, json: { ...rest, credentials, parameters } }]
  })
  const links = graph.links.map(({ from, input, output, to }) =>
    `${label(from)} ${Connections.portLabel(output)} → ${label(to)} ${Connections.portLabel(input)}`
  )
  return { nodes, links: links.toSorted() }
}

const runSettings = (workflow: Obj) => {
  const { executionOrder = "v0", timezone = "DEFAULT" } = obj(workflow["settings"]) ?? {}
  return { executionOrder, timezone }
}

const differenceOf = (sub: Obj, other: Obj, lookups: Step.Lookups): string | undefined => {
  const [a, b] = [essence(sub, lookups), essence(other, lookups)]
  if (a.nodes.length !== b.nodes.length || !equals(a.links, b.links)) {
    return `its nodes are ${Rows.names(b.nodes.map(({ name }) => name))}, or are connected otherwise`
  }
  for (const [index, { json, name }] of a.nodes.entries()) {
    const [line] = WorkflowDiff.lines(json, b.nodes[index]?.json)
    if (line !== undefined) return `'${name}' differs: ${line.replace(/^parameters\./, "")}`
  }
  return WorkflowDiff.lines(runSettings(sub), runSettings(other), "settings")[0]
}

const inputsOf = (workflow: Obj): ReadonlyArray<string> => {
  const start = Workflow.nodes(workflow).find((node) => Workflow.typeOf(node) === trigger)
  const values = arr(obj(Workflow.parametersOf(start)["workflowInputs"])?.["values"])
  return values.flatMap((each) => str(obj(each)?.["name"]) ?? []).filter((name) => name !== Group.wholeItem)
}

const savesRuns = "saveDataSuccessExecution"

/** Refuses outer nodes that read data inside the group; succeeds with whether some match items from before it. */
const checkReaders = (group: Group.Group, settings: Obj, lookups: Step.Lookups): Step.Attempt<boolean> =>
  Result.gen(function*() {
    let isMatched = false
    for (const { json, name } of group.rest) {
      for (const text of Expressions.texts(json["parameters"])) {
        const references = group.after.has(name)
          ? yield* Group.referencesIn(text, name, lookups)
          : Expressions.inText(text, lookups.parse).references
        for (const { name: other, read } of references) {
          const isInside = group.members.has(other)
          const isData = read?.via !== undefined && ["item", "first", "last", "all", "node"].includes(read.via)
          if (isInside && (other !== group.exit || !isData)) {
            return yield* Step.refuse(
              "nodes",
              `'${name}' reads '${other}' (${text.path}), which the call does not return.`,
              other === group.exit
                ? "Only fields of its items can be read from the call."
                : `Include '${name}', end the group with '${other}', or take the value along in a field of the items.`
            )
          }
          const crosses = group.after.has(name) && read !== undefined && !group.after.has(other) && !isInside
          const isPaired = read?.via === "item" || read?.via === undefined || read.via === "node"
          if (!crosses || !isPaired) continue
          isMatched = true
          if (!group.isStraight || settings[savesRuns] === "none") {
            return yield* Step.refuse(
              "nodes",
              `'${name}' reads the matching item of '${other}' (${text.path}), from before the group, and n8n cannot ` +
                `match items through a sub-workflow that ${
                  group.isStraight ? "does not save its successful runs" : "branches or joins items"
                }.`,
              `Write $('${other}').first() if there is only one, or take the value along in a field of the items.`
            )
          }
        }
      }
    }
    return isMatched
  })

/**
 * Sub-workflow that an extraction would create, and the key that is equal for chains that do the same with the same
 * inputs.
 */
export const chain = (
  workflow: Obj,
  { name = "", nodes }: { readonly nodes: ReadonlyArray<string>; readonly name?: string | undefined },
  lookups: Step.Lookups
) =>
  Result.gen(function*() {
    const group = yield* Group.find(workflow, nodes, lookups)
    const isMatched = yield* checkReaders(group, settingsOf(workflow), lookups)
    const sub = yield* created(workflow, name, group, lookups)
    const key = canonical([essence(sub.sub, lookups), runSettings(sub.sub), sub.inputs.map(({ name }) => name)])
    return { workflow: saving(sub.sub, isMatched), key }
  })

const callOf = (id: string, name: string, inputs: ReadonlyArray<Group.Input>): Obj => ({
  workflowId: { __rl: true, mode: "list", value: id, cachedResultName: name },
  ...(inputs.length === 0 ? {} : {
    workflowInputs: {
      mappingMode: "defineBelow",
      value: Object.fromEntries(inputs.map(({ name, value }) => [name, value])),
      matchingColumns: [],
      schema: inputs.map(({ name }) => ({
        id: name,
        displayName: name,
        required: false,
        defaultMatch: false,
        display: true,
        canBeUsedToMatch: true,
        ...(name === Group.wholeItem ? { type: "object" } : {})
      })),
      attemptToConvertTypes: false,
      convertFieldsToString: false
    }
  }),
  options: {}
})

/** Sub-workflow whose successful runs are saved, if items are matched through it. */
const saving = (sub: Obj, isMatched: boolean): Obj =>
  isMatched ? { ...sub, settings: { ...obj(sub["settings"]), [savesRuns]: "all" } } : sub

const created = (workflow: Obj, name: string | undefined, group: Group.Group, lookups: Step.Lookups) =>
  name === undefined || name.trim() === "" || nameFault(name) !== undefined
    ? Step.refuse(
      "name",
      (name === undefined ? undefined : nameFault(name)) ?? "The sub-workflow needs a name.",
      "Set name, or workflowId to call an existing one."
    )
    : build(workflow, name, group, lookups)

const callee = (
  workflow: Obj,
  operation: { readonly name?: string; readonly workflowId?: string },
  group: Group.Group,
  lookups: Step.Lookups
) =>
  Result.gen(function*() {
    const { name, workflowId } = operation
    if (lookups.callee === undefined) {
      return yield* Step.refuse("op", "Chains are extracted in one workflow at a time.", "Edit that workflow alone.")
    }
    if (workflowId === undefined) {
      const built = yield* created(workflow, name, group, lookups)
      return { ...built, name: name ?? "", id: lookups.newId() }
    }
    const other = lookups.callee(workflowId)
    if (other === undefined) {
      return yield* Step.refuse("workflowId", `There is no workflow '${workflowId.slice(0, 100)}'.`, {
        _tag: "ListWorkflows"
      })
    }
    const built = yield* build(workflow, Workflow.nameOf(other), group, lookups, inputsOf(other))
    const difference = differenceOf(built.sub, other, lookups)
    return difference === undefined
      ? { inputs: built.inputs, name: Workflow.nameOf(other), id: workflowId }
      : yield* Step.refuse(
        "workflowId",
        `'${Workflow.nameOf(other)}' does not do the same as these nodes: ${difference}.`,
        "Make them equal first, or set name for a sub-workflow of their own."
      )
  })

export const extract: Step.Edit<"extract"> = (workflow, operation, lookups) =>
  Result.gen(function*() {
    const group = yield* Group.find(workflow, operation.nodes, lookups)
    const { workflowId } = operation
    const owner = workflowId === undefined ? workflow : lookups.callee?.(workflowId) ?? {}
    const isMatched = yield* checkReaders(group, settingsOf(owner), lookups)
    const { id, inputs, name, sub } = { sub: undefined, ...yield* callee(workflow, operation, group, lookups) }
    let rest = workflow
    for (const name of group.members.keys()) {
      rest = (yield* remove(rest, { op: "remove", node: name }, lookups)).workflow
    }
    const node = {
      id: lookups.newId(),
      // The name of a removed node would make comparisons take the call for that node.
      name: unique(name, new Set([...Step.names(workflow), ...Object.keys(obj(rest["pinData"]) ?? {})])),
      type: call,
      typeVersion: lookups.newest(call) ?? 1.2,
      position: place(group, 0),
      parameters: callOf(id, name, inputs)
    }
    const { exit } = group
    const others = arr(rest["nodes"]).map((each) => {
      const other = obj(each)
      return exit === undefined || obj(other?.["parameters"]) === undefined ? each : {
        ...other,
        parameters: renameIn(Workflow.parametersOf(other), exit, node.name, lookups.parse)
      }
    })
    const connections = [
      ...group.into.map((link) => ({ ...link, to: node.name })),
      ...group.out.map((link) => ({ ...link, from: node.name }))
    ].reduce<Obj>((all, link) => Connections.add(all, link) ?? all, obj(rest["connections"]) ?? {})
    return {
      workflow: { ...rest, nodes: [...others, node], connections },
      changes: [
        `moved ${Rows.names([...group.members.keys()])} to ${sub === undefined ? "" : "the new "}workflow '${name}', ` +
        `called by '${node.name}' ` +
        (inputs.length === 0
          ? "with whole items"
          : `with ${counted(inputs.length, "input")}: ${inputs.map(({ name }) => name).join(", ")}`)
      ],
      ...(sub === undefined ? {} : {
        created: {
          id,
          workflow: saving(sub, isMatched)
        }
      })
    }
  })
