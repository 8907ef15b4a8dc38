/** Brief description of a node type: its purpose, and the parameters that apply, required ones first. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { defined, type Obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as ParameterRules from "../parameters/ParameterRules.ts"
import * as NodeExample from "./example.ts"
import * as NodeType from "./NodeType.ts"
import * as ParameterView from "./ParameterView.ts"
import * as Ports from "./Ports.ts"
import * as SubNodes from "./SubNodes.ts"

export interface Ask {
  readonly version?: number | undefined
  readonly resource?: string | undefined
  readonly operation?: string | undefined
  readonly parameters?: ReadonlyArray<string> | undefined
}

/** Part of the question that the type lacks, with the valid values. */
export interface Lacking {
  readonly field: keyof Ask
  readonly value: string
  readonly candidates: ReadonlyArray<string>
  /** Requested resource, and similar operations of other resources, if an operation is missing from it. */
  readonly of?: { readonly resource: string; readonly elsewhere: ReadonlyArray<string> }
}

const optional = Schema.optionalKey

export const Details = Schema.Struct({
  type: Schema.String,
  name: Schema.String,
  description: optional(Schema.String),
  notes: optional(Schema.Array(Schema.String)),
  version: Schema.Finite,
  versions: Schema.Array(Schema.Finite),
  trigger: optional(Schema.Boolean),
  hidden: optional(Schema.Boolean),
  tool: optional(Schema.String),
  credentials: optional(Schema.Array(Schema.Struct({
    type: Schema.String,
    required: optional(Schema.Boolean),
    when: optional(Schema.String)
  }))),
  /** Ports, each with its condition. */
  inputs: optional(Schema.Array(Schema.String)),
  outputs: optional(Schema.Array(Schema.String)),
  /** Field names of its output items; `{}` marks objects, `[]` lists. */
  itemFields: optional(Schema.String),
  /** Resources and their operations, unless the question selects one. */
  operations: optional(Schema.Record(Schema.String, Schema.Array(Schema.String))),
  resources: optional(Schema.Array(Schema.String)),
  parameters: Schema.Record(Schema.String, ParameterView.Parameter),
  /** Names of further parameters that apply. */
  more: optional(Schema.Array(Schema.String)),
  /** Parameters that apply with other settings, each with its condition. */
  otherwise: optional(Schema.Record(Schema.String, Schema.String)),
  example: optional(Schema.Struct({ type: Schema.String, typeVersion: Schema.Finite, parameters: Schema.Json })),
  /** Usual types of the nodes that serve this one, with versions, by port. */
  subNodes: optional(Schema.Record(Schema.String, Schema.Array(Schema.String))),
  /** Example with one of each; replaces `example`. */
  wired: optional(SubNodes.Wired),
  docs: optional(Schema.String)
})
export type Details = typeof Details.Type

/** Values of `resource` or `operation` that fit the selected ones. */
const selectable = (description: NodeType.Description, version: number, name: string, selected: Obj) =>
  ParameterRules.applying(description, { typeVersion: version, parameters: selected })
    .filter((property) => property.name === name && property.type === "options")
    .flatMap(NodeType.choices)
    .map(({ value }) => String(value))

const operationsOf = (description: NodeType.Description, version: number) => {
  const resources = selectable(description, version, "resource", {})
  return Object.fromEntries(
    resources.map((resource) => [resource, selectable(description, version, "operation", { resource })])
  )
}

/** Similar operations of other resources: GitHub lists issues with `getIssues` of `repository`. */
const elsewhere = (
  byResource: { readonly [resource: string]: ReadonlyArray<string> },
  resource: string,
  operation: string
): ReadonlyArray<string> =>
  Object.entries(byResource).filter(([other]) => other !== resource).flatMap(([other, operations]) =>
    operations.filter((each) => each === operation || each.toLowerCase().includes(resource.toLowerCase()))
      .map((each) => `${other}: ${each}`)
  )

/** Selected resource and operation; the resource of an operation is found if it is not given. */
const selection = (
  description: NodeType.Description,
  version: number,
  { operation, resource }: Ask
): Result.Result<Obj, Lacking> => {
  const byResource = operationsOf(description, version)
  const resources = Object.keys(byResource)
  if (resource !== undefined && !resources.includes(resource)) {
    return Result.fail({ field: "resource", value: resource, candidates: resources })
  }
  if (operation === undefined) return Result.succeed(defined({ resource }))
  const having = resource ?? resources.find((each) => byResource[each]?.includes(operation))
  const selected = defined({ resource: having })
  const operations = selectable(description, version, "operation", selected)
  if (operations.includes(operation)) return Result.succeed({ ...selected, operation })
  const candidates = resource === undefined && resources.length > 0
    ? [...new Set(Object.values(byResource).flat())]
    : operations
  return Result.fail({
    field: "operation",
    value: operation,
    candidates,
    ...(resource === undefined ? {} : { of: { resource, elsewhere: elsewhere(byResource, resource, operation) } })
  })
}

interface Entry {
  readonly name: string
  readonly property: NodeType.Property
  readonly isNeeded?: boolean | undefined
}

/** Node type in steps of detail, the last of which is whole. */
export interface Described {
  readonly steps: number
  readonly at: (step: number) => Details
}

/** Number of operations from which only the last step lists them, and the others their resources. */
const manyOperations = 80

/**
 * Steps that show one more parameter each, then one after the other at the fuller levels, then one more condition of
 * `otherwise`. Parameters that a node needs are always shown; `more` names the others that are not shown yet.
 */
const inSteps = (
  head: Omit<Details, "parameters">,
  { about, conditions = {}, entries, levels }: {
    readonly entries: ReadonlyArray<Entry>
    readonly levels: ReadonlyArray<ParameterView.Level>
    readonly about: ParameterView.About
    readonly conditions?: { readonly [name: string]: string }
  }
): Described => {
  const shown = entries.length * levels.length
  const steps = shown + Object.keys(conditions).length
  return {
    steps,
    at: (step) => {
      const levelAt = (index: number, isNeeded = false) =>
        levels[Math.max(isNeeded ? 1 : 0, Math.min(levels.length, Math.ceil((step - index) / entries.length))) - 1]
      const views = entries.flatMap(({ isNeeded, name, property }, index) => {
        const level = levelAt(index, isNeeded)
        return level === undefined ? [] : [[name, ParameterView.view(property, level, about)] as const]
      })
      const more = entries.flatMap(({ isNeeded, name }, index) => levelAt(index, isNeeded) === undefined ? name : [])
      const otherwise = Object.fromEntries(Object.entries(conditions).slice(0, Math.max(0, step - shown)))
      const { operations = {}, ...rest } = head
      const isBrief = step < steps && Object.values(operations).flat().length > manyOperations
      return defined({
        ...isBrief ? { ...rest, resources: Object.keys(operations) } : head,
        parameters: Object.fromEntries(views),
        more: more.length === 0 ? undefined : more,
        otherwise: Object.keys(otherwise).length === 0 ? undefined : otherwise
      })
    }
  }
}

/** Parameters that depend on settings other than resource and operation, with their conditions. */
const otherwise = (
  properties: ReadonlyArray<NodeType.Property>,
  applying: ReadonlyArray<NodeType.Property>,
  scope: ParameterRules.Scope
) => {
  const names = new Set(applying.map(({ name }) => name))
  const conditions: Record<string, string> = {}
  for (const { displayOptions = {}, name } of properties) {
    if (names.has(name) || Object.hasOwn(conditions, name)) continue
    const { operation, resource, "@tool": _, "@version": __, ...settings } = displayOptions.show ?? {}
    if (!ParameterRules.isShown({ show: defined({ resource, operation }) }, scope)) continue
    const { "@version": ___, ...hide } = displayOptions.hide ?? {}
    const when = ParameterView.when({ show: settings, hide })
    if (when !== undefined) conditions[name] = when
  }
  return conditions
}

/** All parameters with that name; inner ones by `outer.inner`. */
const find = (
  properties: ReadonlyArray<NodeType.Property>,
  [outer = "", ...rest]: ReadonlyArray<string>
): ReadonlyArray<NodeType.Property> =>
  properties.filter(({ name }) => name === outer).flatMap((property) => {
    if (rest.length === 0) return [property]
    const groups = NodeType.groups(property)
    const inner = [...NodeType.members(property), ...groups.flatMap(({ values }) => values)]
    const group = groups.find(({ name }) => name === rest[0])
    return [...find(inner, rest), ...(group === undefined ? [] : find(group.values, rest.slice(1)))]
  })

/** Names of the parameters that lead to a value, by its path in a node or a workflow. */
const namesIn = (path: string): ReadonlyArray<string> => {
  const names = (JsonPath.parse(path) ?? [path]).filter((step) => typeof step === "string")
  const start = names.indexOf("parameters")
  return start === 0 && names.length > 1 || start === 1 && names[0] === "nodes" ? names.slice(start + 1) : names
}

const named = (
  { properties: all }: NodeType.Description,
  about: ParameterView.About,
  names: ReadonlyArray<string>,
  selected: Obj
): Result.Result<ReadonlyArray<Entry>, Lacking> => {
  const properties = ParameterView.ofVersion(all, about)
  const scope = { ...about, values: selected, root: selected }
  const isSelected = ({ displayOptions = {} }: NodeType.Property) => {
    const { operation, resource } = displayOptions.show ?? {}
    return ParameterRules.isShown({
      show: defined({
        resource: "resource" in selected ? resource : undefined,
        operation: "operation" in selected ? operation : undefined
      })
    }, scope)
  }
  const entries: Array<Entry> = []
  for (const name of names) {
    const all = find(properties, namesIn(name))
    if (all.length === 0) {
      const candidates = [...new Set(properties.map((property) => property.name))]
      return Result.fail({ field: "parameters", value: name, candidates })
    }
    const matches = all.some(isSelected) ? all.filter(isSelected) : all
    matches.forEach((property, index) => entries.push({ name: ParameterView.numbered(name, index), property }))
  }
  return Result.succeed(entries)
}

const label = ({ index, name, required, type }: Ports.Port, count: number) =>
  `${type}${type === "main" && count > 1 ? `[${index}]` : ""}${name ? ` ${name}` : ""}${required ? " (required)" : ""}`

const conditionalLabels = (ports: ReadonlyArray<SubNodes.ConditionalPort>, present: ReadonlyArray<Ports.Port>) =>
  ports.map(({ condition, isInstead, port }) => {
    const count = isInstead ? 1 : present.filter(({ type }) => type === port.type).length + 1
    return `${label(port, count)}${isInstead ? " instead" : ""} when ${condition}`
  })

const labels = (ports: ReadonlyArray<Ports.Port>, conditional: ReadonlyArray<SubNodes.ConditionalPort>) => [
  ...ports.map((port) => label(port, ports.filter(({ type }) => type === port.type).length)),
  ...conditionalLabels(conditional, ports)
]

/** Output that `onError` adds to every node except triggers. */
const errorOutput = (outputs: ReadonlyArray<Ports.Port>) => {
  const count = outputs.filter(({ type }) => type === "main").length
  return count === 0 ? [] : [`main[${count}] error when the node has onError: "continueErrorOutput": {…input, error}`]
}

const credentialsOf = ({ credentials = [] }: NodeType.Description) =>
  credentials.length === 0 ? undefined : credentials.map(({ displayOptions, name, required }) =>
    defined({
      type: name,
      required: required || undefined,
      when: displayOptions === undefined ? undefined : ParameterView.when(displayOptions)
    })
  )

/** Parameters that simplify the output: n8n's schemas describe the whole items. */
const simplifies = /^simpl(?:e|ify)/

const itemFieldsOf = (
  { itemFields = {} }: NodeType.NodeType,
  applying: ReadonlyArray<NodeType.Property>,
  { operation, resource }: Obj
): string | undefined => {
  if (applying.some(({ default: initial, name }) => simplifies.test(name) && initial === true)) return undefined
  const key = [resource, operation].filter((each) => typeof each === "string" && each !== "").join("/")
  return Object.hasOwn(itemFields, key) ? itemFields[key] : undefined
}

export const details = (
  nodeType: NodeType.NodeType,
  ask: Ask,
  evaluate: Ports.Evaluate,
  background: SubNodes.Background
): Result.Result<Described, Lacking> => {
  const versions = SubNodes.versionsFor(nodeType, background)
  const byDefault = NodeType.defaultVersion(nodeType)
  const version = ask.version ?? versions.findLast((each) => each <= byDefault) ?? byDefault
  const description = NodeType.at(nodeType, version)
  if (description === undefined) {
    return Result.fail({ field: "version", value: String(version), candidates: versions.map(String) })
  }
  return Result.flatMap(selection(description, version, ask), (selected) => {
    const { type } = nodeType
    const head = { type, name: description.displayName, version, versions }
    if (ask.parameters !== undefined && ask.parameters.length > 0) {
      const about = ParameterRules.about(description, { typeVersion: version, parameters: {} })
      return Result.map(
        named(description, about, ask.parameters, selected),
        (entries) => inSteps(head, { entries, levels: ["line", "lines", "whole"], about })
      )
    }
    const isTool = NodeExample.isAgentTool(description)
    const filled = NodeExample.parameters(description, selected, { version, isTool, evaluate })
    const node = { typeVersion: version, parameters: filled }
    const scope = ParameterRules.scopeOf(description, node)
    const properties = ParameterView.ofVersion(description.properties, scope)
    const applying = ParameterRules.applying(description, node).filter((property) => properties.includes(property))
    const operations = ask.resource === undefined && ask.operation === undefined
      ? operationsOf(description, version)
      : {}
    const isOverview = Object.keys(operations).length > 0
    const shape = { parameters: filled, version }
    const complete = ParameterRules.complete(description, node)
    const portsBy = (read: typeof Ports.inputs) => {
      const present = read(description, { ...shape, parameters: complete }, evaluate)
      const conditional = SubNodes.conditionalPorts(description, shape, read, evaluate)
      return { present: present ?? [], conditional, labels: present && labels(present, conditional) }
    }
    const [inputs, outputs] = [portsBy(Ports.inputs), portsBy(Ports.outputs)]
    const isTrigger = description.group.includes("trigger")
    const { subNodes, wired } = SubNodes.of(
      {
        type,
        version,
        name: description.displayName,
        parameters: filled,
        inputs: inputs.present,
        conditional: inputs.conditional
      },
      evaluate,
      background
    ) ?? {}
    const rest = defined({
      ...head,
      description: description.description,
      notes: SubNodes.notesOf(description, version, { type: nodeType.base ?? type, isTool, background }),
      trigger: isTrigger || undefined,
      hidden: description.hidden || undefined,
      tool: description.usableAsTool ? `${type}Tool` : undefined,
      credentials: credentialsOf(description),
      inputs: inputs.labels,
      outputs: outputs.labels && [...outputs.labels, ...isTrigger ? [] : errorOutput(outputs.present)],
      itemFields: version === versions.at(-1) ? itemFieldsOf(nodeType, applying, complete) : undefined,
      operations: isOverview ? operations : undefined,
      subNodes,
      wired,
      example: wired === undefined ? { type, typeVersion: version, parameters: filled as Schema.Json } : undefined,
      docs: description.codex?.resources?.primaryDocumentation?.[0]?.url
    })
    const entries = applying.filter(({ name }) => !isOverview || name !== "resource" && name !== "operation")
      .toSorted((a, b) => Number(b.required ?? false) - Number(a.required ?? false))
      .map((property) => ({ name: property.name, property, isNeeded: property.required }))
    return Result.succeed(
      inSteps(rest, {
        entries,
        levels: ["line", "lines"],
        about: scope,
        conditions: otherwise(properties, applying, scope)
      })
    )
  })
}
