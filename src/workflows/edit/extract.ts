/** Moves a chain of nodes to a sub-workflow, called by one node in its place. */
import * as Result from "effect/Result"
import { arr, type Obj, obj } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import type * as Connections from "../../n8n/model/Connections.ts"
import { nameFault } from "../../n8n/model/Limits.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { quoted } from "../check/CheckedWorkflow.ts"
import * as Expressions from "../check/Expressions.ts"
import * as Group from "./group.ts"
import { type Input, lift, referencesIn, wholeItem } from "./lift.ts"
import * as Links from "./links.ts"
import { remove, renameIn, unique } from "./rename.ts"
import * as Step from "./step.ts"

const call = "n8n-nodes-base.executeWorkflow"
const trigger = "n8n-nodes-base.executeWorkflowTrigger"
const set = "n8n-nodes-base.set"

export const types = [call, trigger, set]

/** Settings that decide what a run does and stores. */
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

const linked = (links: ReadonlyArray<Connections.Link>, connections: Obj = {}) =>
  links.reduce<Obj>((all, link) => Links.add(all, link) ?? all, connections)

const build = (
  workflow: Obj,
  name: string,
  group: Group.Group,
  lookups: Step.Lookups
): Step.Attempt<{ readonly sub: Obj; readonly inputs: ReadonlyArray<Input> }> =>
  Result.gen(function*() {
    const taken = new Set(group.members.keys())
    const start = unique("When called", taken)
    const restore = unique("Items", taken)
    const { inputs, parameters } = yield* lift(group, start, lookups)
    const isWhole = inputs.length === 0
    const added = (type: string, name: string, dx: number, typeVersion: number, parameters: Obj): Obj => ({
      id: lookups.newId(),
      name,
      type,
      typeVersion,
      position: place(group, dx),
      parameters
    })
    const values = inputs.map(({ name }) => ({ name, type: name === wholeItem ? "object" : "any" }))
    const head = [
      added(
        trigger,
        start,
        isWhole ? -220 : -440,
        lookups.newest(trigger) ?? 1.1,
        isWhole ? { inputSource: "passthrough" } : { inputSource: "workflowInputs", workflowInputs: { values } }
      ),
      // The nodes see the items that they saw before: without the inputs, and with binary data.
      ...(isWhole ? [] : [added(set, restore, -220, 3.4, {
        mode: "raw",
        jsonOutput: `={{ $json.${wholeItem} }}`,
        includeOtherFields: true,
        include: "except",
        excludeFields: inputs.map(({ name }) => name).join(", "),
        options: { dotNotation: false, stripBinary: false }
      })])
    ]
    const port = { type: "main", index: 0 }
    const row = [...(isWhole ? [start] : [start, restore]), group.entry]
    const links = row.slice(1).map((to, index) => ({ from: row[index] ?? "", output: port, to, input: port }))
    const pinData = Object.entries(obj(workflow["pinData"]) ?? {}).filter(([key]) => group.members.has(key))
    return {
      inputs,
      sub: {
        name,
        nodes: [
          ...head,
          ...[...group.members.values()].map(({ json, name }) => ({ ...json, parameters: parameters.get(name) }))
        ],
        connections: linked([...links, ...group.inner]),
        settings: settingsOf(workflow),
        ...(pinData.length === 0 ? {} : { pinData: Object.fromEntries(pinData) })
      }
    }
  })

const savesRuns = "saveDataSuccessExecution"

/**
 * Refuses nodes outside that read what the call does not return; returns whether some match their items with those from
 * before the group, for which n8n follows the stored run of the sub-workflow.
 */
const checkReaders = (group: Group.Group, settings: Obj, lookups: Step.Lookups): Step.Attempt<boolean> =>
  Result.gen(function*() {
    let isMatched = false
    for (const { json, name } of group.rest) {
      for (const text of Expressions.texts(json["parameters"])) {
        const references = group.after.has(name)
          ? yield* referencesIn(text, name, lookups)
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

const callOf = (id: string, name: string, inputs: ReadonlyArray<Input>): Obj => ({
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
        ...(name === wholeItem ? { type: "object" } : {})
      })),
      attemptToConvertTypes: false,
      convertFieldsToString: false
    }
  }),
  options: {}
})

export const extract: Step.Edit<"extract"> = (workflow, operation, lookups) =>
  Result.gen(function*() {
    const { name, nodes } = operation
    const fault = name.trim() === "" ? "The sub-workflow needs a name." : nameFault(name)
    if (fault !== undefined) return yield* Step.refuse("name", fault, "Choose another name.")
    const group = yield* Group.find(workflow, nodes, lookups)
    const isMatched = yield* checkReaders(group, settingsOf(workflow), lookups)
    const { inputs, sub } = yield* build(workflow, name, group, lookups)
    const id = lookups.newId()
    let rest = workflow
    for (const name of group.members.keys()) {
      rest = (yield* remove(rest, { op: "remove", node: name }, lookups)).workflow
    }
    const node = {
      id: lookups.newId(),
      name: unique(name, new Set([...Step.names(rest), ...Object.keys(obj(rest["pinData"]) ?? {})])),
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
    const links = [
      ...group.into.map((link) => ({ ...link, to: node.name })),
      ...group.out.map((link) => ({ ...link, from: node.name }))
    ]
    return {
      workflow: { ...rest, nodes: [...others, node], connections: linked(links, obj(rest["connections"])) },
      changes: [
        `moved ${quoted([...group.members.keys()])} to the new workflow '${name}', called by '${node.name}' ` +
        (inputs.length === 0
          ? "with whole items"
          : `with ${counted(inputs.length, "input")}: ${inputs.map(({ name }) => name).join(", ")}`)
      ],
      created: {
        id,
        workflow: isMatched ? { ...sub, settings: { ...obj(sub["settings"]), [savesRuns]: "all" } } : sub
      }
    }
  })
