/** Operations on many workflows: each becomes the operations of an edit on the nodes of one workflow. */
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { arr, type Obj, obj, str } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import { redact } from "../base/Redact.ts"
import * as NodeType from "../catalogue/types/NodeType.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { workflowMatcher } from "../n8n/N8nClient.ts"
import * as WorkflowEdit from "../workflow/edit/WorkflowEdit.ts"
import * as References from "../workflow/References.ts"
import * as Upgrade from "../workflow/upgrade/Upgrade.ts"
import * as Uses from "../workflow/Uses.ts"
import { isUnset } from "../workflows/store/FormerSettings.ts"
import { Only } from "./WorkflowSelection.ts"

const Reference = Schema.Struct({ id: Schema.String, name: Schema.String })
export type Reference = typeof Reference.Type

/** Replacement of the credential or workflow that nodes refer to. */
export const Swap = Schema.Struct({
  from: Schema.String,
  fromId: Schema.optionalKey(Schema.String),
  to: Reference,
  type: Schema.optionalKey(Schema.String)
})
export type Swap = typeof Swap.Type

/** Operations of an edit that make no sense, or do harm, on many workflows. */
const single = new Set(["name", "move"])

const optional = Schema.optionalKey
const Fields = Schema.Record(Schema.String, Schema.Unknown)
const Text = Schema.NonEmptyString

const Target = Schema.Struct({ type: optional(Schema.String), name: optional(Schema.String) })

/** Nodes of a workflow: one by its name or id, or every one of a type and name. */
const Nodes = Schema.Union([Schema.String, Target])

const isTarget = (node: unknown) =>
  Schema.is(Target)(node) && JSON.stringify(node) !== "{}" &&
  Object.keys(node).every((key) => Object.hasOwn(Target.fields, key))

const only = { only: optional(Only) }

const operation = <const Op extends string, const F extends Schema.Struct.Fields>(op: Op, fields: F) =>
  Schema.Struct({ op: Schema.Literal(op), ...fields, ...only })

const { add, connect, disable, disconnect, enable, extract, remove, rename, replaceNode, set, tidy, update } =
  WorkflowEdit.members
const ofMany = Struct.assign(only)
const ofNodes = Struct.assign({ node: Nodes, ...only })

const members = {
  replace: operation("replace", {
    find: Text,
    with: Schema.String,
    node: optional(Nodes),
    path: optional(Schema.String),
    word: optional(Schema.Boolean)
  }),
  credential: operation("credential", {
    from: Text,
    to: Schema.Union([Text, Schema.Struct({ id: Text, name: Text })]),
    type: optional(Schema.String)
  }),
  calls: operation("calls", { from: Text, to: Text }),
  settings: operation("settings", { settings: Fields, onlyWhereUnset: optional(Schema.Boolean) }),
  publish: operation("publish", {}),
  unpublish: operation("unpublish", {}),
  upgrade: operation("upgrade", {
    node: optional(Nodes),
    accept: optional(Schema.Record(Schema.String, Schema.String))
  }),
  add: add.mapFields(ofMany),
  update: update.mapFields(ofNodes),
  set: set.mapFields(ofNodes),
  replaceNode: replaceNode.mapFields(ofNodes),
  rename: rename.mapFields(ofNodes),
  remove: remove.mapFields(ofNodes),
  enable: enable.mapFields(ofNodes),
  disable: disable.mapFields(ofNodes),
  connect: connect.mapFields(ofMany),
  disconnect: disconnect.mapFields(ofMany),
  tidy: tidy.mapFields(ofMany),
  extract: extract.mapFields(ofMany)
}

const Member = Schema.Union(
  Object.values({
    ...members,
    add: Schema.StructWithRest(members.add, [Fields]),
    update: Schema.StructWithRest(members.update, [Fields])
  })
)

const faultOf = WorkflowEdit.faultAmong(members)

const fault = (wire: Obj): string | undefined => {
  const { node, only, op, path } = wire
  if (only !== undefined && Object.keys(obj(only) ?? { "": 0 }).some((key) => !Object.hasOwn(Only.fields, key))) {
    return `only takes ${Object.keys(Only.fields).join(", ")}: conditions of the operation, all met`
  }
  if (typeof op === "string" && single.has(op)) return `${op} is for one workflow: edit that one alone`
  if (node !== undefined && typeof node !== "string" && !isTarget(node)) {
    return "node is a name or id, or {type?, name?} for every node that matches"
  }
  return op === "replace" && path !== undefined && JsonPath.parse(String(path)) === undefined
    ? `'${String(path).slice(0, 100)}' is not a path: write url, rules.values[2] or ["order no"]`
    : faultOf(wire)
}

/** Operation on many workflows. */
export const Operation = WorkflowEdit.onWire(Member, fault)
/** Operation on many workflows: one of an edit, whose nodes may be several, or one of `bulk_edit` alone. */
export type Operation = typeof Member.Type

/** Operations of a plan. */
export const Operations = Schema.Array(Operation).check(Schema.isMinLength(1), Schema.isMaxLength(50))

/** Whether a workflow meets the conditions of its operation. */
export const matcher = ({ only }: Operation): (workflow: Obj) => boolean => {
  if (only === undefined) return () => true
  const { uses, ...rest } = only
  const find = uses === undefined ? undefined : Uses.finder(uses, { secrets: false })
  const isMet = workflowMatcher({ ...rest, archived: true })
  return (workflow) =>
    isMet({ active: false, ...workflow } as unknown as Workflow.Listed) &&
    (find === undefined || find(workflow as unknown as Workflow.Listed).length > 0)
}

/** Operation of an edit, and its description, which is equal in all workflows. */
export interface Step {
  readonly operation: Obj
  readonly change: string
  /** Path of the only value that it changes, from a parameter of its node on. */
  readonly path?: string
  /** Values that it changes, instead of those of its path. */
  readonly values?: ReadonlyArray<{ readonly values: string; readonly insideWord?: boolean }>
}

const brief = (value: unknown, most = 80) => {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? "none"
  return text.length > most ? `${text.slice(0, most)}…` : text
}

const wordOf = (node: Obj) => str(node["id"]) ?? Workflow.nameOf(node)

const matching = (workflow: Obj, target: unknown): ReadonlyArray<Obj> => {
  const all = Workflow.namedNodes(workflow)
  if (typeof target === "string") {
    const named = all.filter((node) => node["name"] === target)
    return named.length > 0 ? named.slice(0, 1) : all.filter((node) => node["id"] === target)
  }
  const { name, type } = obj(target) ?? {}
  return all.filter((node) =>
    (name === undefined || node["name"] === name) &&
    (type === undefined || node["type"] === type || NodeType.shortName(Workflow.typeOf(node)) === type)
  )
}

/** Path from the node that a path of an operation names; `undefined` if it names another node. */
const fromNode = (steps: JsonPath.Path, node: Obj, index: number): JsonPath.Path | undefined => {
  const [top = "", second, ...rest] = steps
  if (top === "parameters") return steps
  if (Object.hasOwn(Workflow.parametersOf(node), top)) return ["parameters", ...steps]
  if (top === "nodes" && typeof second === "number") return second === index ? rest : undefined
  return top === "notes" ? steps : ["parameters", ...steps]
}

const inWord = /[\p{L}\p{N}_.-]/u

/** Words, or hosts, in which a value has a text, before and after: `notlegacy.example.com`. */
const words = (value: string, find: string, replacement: string, word: boolean): NonNullable<Step["values"]> =>
  [
    ...new Set(
      WorkflowEdit.occurrences(value, find, word).map((at) => {
        let [start, end] = [at, at + find.length]
        while (inWord.test(value[start - 1] ?? "")) start--
        while (inWord.test(value[end] ?? "")) end++
        return value.slice(start, end)
      })
    )
  ].map((before) => {
    const isWhole = before.replace(/^\.+|\.+$/g, "") === find || WorkflowEdit.occurrences(before, find, true).length > 0
    return {
      values: `${brief(before, 60)} → ${brief(before.replaceAll(find, () => replacement), 60)}`,
      ...isWhole ? {} : { insideWord: true }
    }
  })

/** Replaces a text wherever it is in the parameters, or at a path; texts that redaction would change are left out. */
const replaced = (workflow: Obj, { find, node, path, with: replacement, word }: Obj): ReadonlyArray<Step> => {
  const [text, other] = [String(find), String(replacement)]
  const place = typeof path === "string" ? JsonPath.parse(path) ?? [] : undefined
  const all = Workflow.nodes(workflow)
  return matching(workflow, node).flatMap((each) => {
    const index = all.indexOf(each)
    const only = place && fromNode(place, each, index)
    if (place !== undefined && only === undefined) return []
    const { notes, parameters } = each
    const texts = JsonPath.strings({ notes: only && notes, parameters }).filter(([at, value]) =>
      WorkflowEdit.occurrences(value, text, word === true).length > 0 &&
      (only === undefined || only.length === at.length && JsonPath.covers([only], at))
    )
    const shown = texts.length === 0 ? each : redact(each)
    const type = NodeType.shortName(Workflow.typeOf(each))
    return texts.filter(([at, value]) => JsonPath.get(shown, at) === value).map(([at, value]) => {
      const below = JsonPath.general(JsonPath.print(at[0] === "parameters" ? at.slice(1) : at))
      const path = JsonPath.print(["nodes", index, ...at])
      return {
        operation: {
          op: "replace",
          node: wordOf(each),
          path,
          find: text,
          with: other,
          all: true,
          ...word === true ? { word } : {}
        },
        change: `${type} ${below}: '${brief(text, 40)}' → '${brief(other, 40)}'`,
        values: words(value, text, other, word === true)
      }
    })
  })
}

const swapped = (workflow: Obj, isSwapped: (reference: References.Reference) => boolean) =>
  Workflow.nodes(workflow).flatMap((node, index) => {
    const references = References.ofNode(node, index).filter(isSwapped)
    const [first] = references
    return first === undefined || Workflow.nameOf(node) === "" ? [] : [{ node, first, references }]
  })

const credentials = (workflow: Obj, { from, to, type }: Swap): ReadonlyArray<Step> =>
  swapped(
    workflow,
    ({ id, kind, name, type: own }) =>
      kind === "credential" && (type === undefined || type === own) && (id === from || name === from) && id !== to.id
  )
    .map(({ first, node, references }) => {
      const types = references.map(({ type = "" }) => type)
      return {
        operation: {
          op: "update",
          node: wordOf(node),
          ...Struct.pick(Workflow.mapNodeCredentials(node, ({ type }) => types.includes(type) ? to : undefined), [
            "credentials"
          ])
        },
        change: `${types.join(", ")} credential: '${brief(first.name ?? from, 40)}' → '${brief(to.name, 40)}'`
      }
    })

const calls = (workflow: Obj, { from, fromId = from, to }: Swap): ReadonlyArray<Step> => {
  const isFrom = ({ id, name }: References.Reference) =>
    id !== undefined && (id === from || id === fromId || name === from) && id !== to.id
  const nodes = swapped(workflow, (reference) => References.isCall(reference) && isFrom(reference))
    .map(({ first, node }): Step => ({
      operation: {
        op: "update",
        node: wordOf(node),
        parameters: { workflowId: References.retargeted(first, Workflow.parametersOf(node)["workflowId"], to) }
      },
      change: `${NodeType.shortName(Workflow.typeOf(node))} calls '${brief(first.name ?? first.id, 40)}' → '${
        brief(to.name, 40)
      }'`
    }))
  return References.of({ settings: workflow["settings"] }).some((each) => each.kind === "error" && isFrom(each))
    ? [...nodes, {
      operation: { op: "settings", settings: { errorWorkflow: to.id } },
      change: `error workflow → '${brief(to.name, 40)}'`
    }]
    : nodes
}

const settings = (workflow: Obj, { onlyWhereUnset, settings }: Obj, to: Reference | undefined): ReadonlyArray<Step> => {
  const before = obj(workflow["settings"]) ?? {}
  return Object.entries(obj(settings) ?? {}).flatMap(([key, value]) => {
    const named = key === "errorWorkflow" ? to : undefined
    // n8n drops a setting at its default.
    const isSame = isUnset(before[key]) && isUnset(value)
    return isSame || onlyWhereUnset === true && !isUnset(before[key], key) ? [] : [{
      operation: { op: "settings", settings: { [key]: named?.id ?? value } },
      change: `${JsonPath.member("settings", key)} = ${brief(named?.name ?? value)}`,
      path: JsonPath.member("settings", key)
    }]
  })
}

const onNodes = new Set(["update", "set", "replaceNode", "rename", "remove", "enable", "disable"])

const described = ({ node: _, op, ...rest }: Obj, type: string) =>
  op === "set"
    ? `${type} ${String(rest["path"])} = ${brief(rest["value"])}`
    : op === "replaceNode"
    ? `${type} → ${NodeType.shortName(String(rest["type"]))}${
      rest["parameters"] === undefined ? "" : ` ${brief(rest["parameters"], 120)}`
    }`
    : `${String(op)} ${type}${Object.keys(rest).length === 0 ? "" : ` ${brief(rest, 120)}`}`

const short = (typed: string) => {
  const [type = "", version = ""] = typed.split(" ")
  return { type: NodeType.shortName(type), version }
}

/** Choices by the name of the node; those of a type are those of all its nodes that have one. */
const choicesOf = (workflow: Obj, accept: Obj) =>
  Object.entries(accept).flatMap(([word, choice]) => {
    const named = matching(workflow, word)
    return (named.length > 0 ? named : matching(workflow, { type: word })).map((node) => ({
      name: Workflow.nameOf(node),
      key: String(choice)
    }))
  })

/** Upgrades the nodes that match, or all; `fault` is an accepted key that a node does not have. */
export const upgraded = function*(
  workflow: Obj,
  { accept = {}, node: target }: Extract<Operation, { readonly op: "upgrade" }>,
  lookups: Upgrade.Lookups
) {
  const names = target === undefined ? undefined : matching(workflow, target).map(Workflow.nameOf)
  const choices = choicesOf(workflow, accept)
    .filter(({ name }) => names === undefined || names.includes(name))
  const keys = Object.fromEntries(choices.map(({ key, name }) => [name, key]))
  const outcome = yield* Upgrade.steps(workflow, names, lookups, keys)
  // A node that has no choice is at its newest version in this workflow.
  const unknown = outcome.unknown.find(({ keys }) => keys.length > 0)
  const typeOf = new Map(Workflow.nodes(workflow).map((node) => [Workflow.nameOf(node), Workflow.typeOf(node)]))
  const shortOf = (name: string) => NodeType.shortName(typeOf.get(name) ?? "")
  return {
    workflow: outcome.workflow,
    fault: unknown && `'${unknown.node}' has no choice '${brief(unknown.key)}': there are ${unknown.keys.join(", ")}`,
    steps: [
      ...outcome.upgraded.map(({ choice, differs = [], from, node, to }): Step => {
        const [before, after] = [short(from), short(to)]
        const by = choice === undefined ? "" : ` as accepted (${choice}): ${differs.join(" ")}`
        return {
          operation: { op: "upgrade", node },
          change: `${before.type} ${before.version} → ${
            after.type === before.type ? "" : `${after.type} `
          }${after.version}${by}`
        }
      }),
      ...outcome.removed.map(({ into, node, why }): Step => ({
        operation: { op: "upgrade", node },
        change: `${shortOf(node)} removed: ${why} is in its ${shortOf(into)}`
      }))
    ],
    left: outcome.left.map((each): Upgrade.Left => ({ ...each, type: shortOf(each.node) }))
  }
}

/** Whether the nodes that an operation between nodes names exist; without them it is not for this workflow. */
const hasEnds = (workflow: Obj, { after, from, to }: Obj) =>
  [after, from, to].every((end) => end === undefined || matching(workflow, end).length > 0)

/** Operations of an edit for one workflow, none if nothing matches; `swap` is what an operation names. */
export const stepsFor = (
  workflow: Obj,
  { only: _, ...wire }: Operation,
  swap: Swap | undefined
): ReadonlyArray<Step> => {
  const { op } = wire
  const operation: Obj = wire
  if (op === "replace") return replaced(workflow, operation)
  if (op === "settings") return settings(workflow, operation, swap?.to)
  if (swap !== undefined) return op === "credential" ? credentials(workflow, swap) : calls(workflow, swap)
  if (onNodes.has(op)) {
    return matching(workflow, operation["node"]).map((node) => ({
      operation: { ...operation, node: wordOf(node) },
      change: op === "rename"
        ? `rename '${Workflow.nameOf(node)}' → '${String(operation["to"])}'`
        : described(operation, NodeType.shortName(Workflow.typeOf(node)))
    }))
  }
  if (op === "extract") {
    const words = arr(operation["nodes"])
    const nodes = words.flatMap((each) => matching(workflow, each).slice(0, 1).map(Workflow.nameOf))
    // Of some of the nodes, the edit says which one is missing.
    return nodes.length === 0
      ? []
      : [{ operation: { ...operation, nodes: nodes.length < words.length ? words : nodes }, change: "" }]
  }
  return hasEnds(workflow, operation) ? [{ operation, change: described(operation, "") }] : []
}
