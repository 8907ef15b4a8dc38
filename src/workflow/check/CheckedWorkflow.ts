/** Readable parts of a workflow, however broken: the input of the checks of `WorkflowProblems`. */
import type { Parse } from "../../base/JavaScript.ts"
import { defined, num, type Obj, str } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import type { Problem } from "../../base/Problem.ts"
import * as Turn from "../../base/Turn.ts"
import * as ParameterRules from "../../catalogue/parameters/ParameterRules.ts"
import * as NodeType from "../../catalogue/types/NodeType.ts"
import * as Ports from "../../catalogue/types/Ports.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import * as Graph from "../Graph.ts"
import type { Rule, Ruled, RuleId } from "./Rules.ts"

/** Data that the checks look up. */
export interface Lookups {
  /** Returns a type, including tool variants; `undefined` for an unknown name. */
  readonly find: (type: string) => NodeType.NodeType | undefined
  /** Names of all types, for "did you mean". */
  readonly types: ReadonlyArray<string>
  /** Release of n8n that the types belong to. */
  readonly release: string
  /** Release of the n8n that the workflow is for, if known. */
  readonly connected?: string | undefined
  /** Whether that n8n is certainly a 1.x release. */
  readonly isV1?: boolean
  /** Whether that n8n certainly lacks this version of the type. */
  readonly isLacked?: (type: string, version: number) => boolean
  /** Last release that had a removed type. */
  readonly removed?: (type: string) => string | undefined
  /** Types to use instead of a deprecated one; `undefined` if it is not deprecated. */
  readonly successors?: (type: string) => ReadonlyArray<string> | undefined
  /** Candidates most similar to a name, best first. */
  readonly nearest: (name: string, candidates: Iterable<string>) => ReadonlyArray<string>
  readonly suggest: ParameterRules.Suggest
  readonly evaluate: Ports.Evaluate
  readonly parse: Parse
  /** Rules of the application. */
  readonly rules?: ReadonlyArray<Rule>
}

/** Maximum number of unknown names for which similar ones are sought: each is compared with all names. */
const maxSuggestions = 100

/** Lookups that suggest for the first unknown names only. */
export const sparing = <L extends Lookups>(lookups: L): L => {
  let left = maxSuggestions
  return {
    ...lookups,
    nearest: (name, candidates) => left-- > 0 ? lookups.nearest(name, candidates) : [],
    suggest: (name, candidates) => lookups.suggest(left-- > 0 ? name : "", candidates)
  }
}

export interface Node {
  /** `nodes[3]` */
  readonly at: string
  readonly name: string
  readonly id: string | undefined
  readonly type: string
  readonly version: number | undefined
  readonly isDisabled: boolean
  readonly isNote: boolean
  readonly json: Obj
  readonly nodeType: NodeType.NodeType | undefined
  /** Description of the type in the node's version. */
  readonly description: NodeType.Description | undefined
  /** Shown parameters with defaults if there is a description, else the node's own; none if there are too many. */
  readonly parameters: Obj
  /** Whether the parameters have too many values to be looked into. */
  readonly isLarge: boolean
  readonly inputs: ReadonlyArray<Ports.Port> | undefined
  readonly outputs: ReadonlyArray<Ports.Port> | undefined
}

/** Input of the checks. */
export interface Checked {
  readonly nodes: ReadonlyArray<Node>
  /** First node of each name. */
  readonly byName: ReadonlyMap<string, Node>
  readonly graph: Graph.Graph
}

/** Maximum number of values in a node's parameters. */
export const maxParameterValues = 10_000

/** Whether a value contains more than the maximum; counting stops there. */
export const isLarge = (value: Obj): boolean => {
  const all: Array<unknown> = [value]
  for (let at = 0; at < all.length; at++) {
    const inner = all[at]
    if (typeof inner !== "object" || inner === null) continue
    for (const key in inner) if (all.push((inner as Obj)[key]) > maxParameterValues) return true
  }
  return false
}

/** Reads a node by itself; `undefined` if it has no name. */
export const readNode = (json: Obj, lookups: Lookups): Node | undefined => read(json, 0, lookups)[0]

const read = (json: Obj, index: number, lookups: Lookups): ReadonlyArray<Node> => {
  const [name, type] = [Workflow.nameOf(json), Workflow.typeOf(json)]
  if (name === "") return []
  const version = num(json["typeVersion"])
  const nodeType = type === "" ? undefined : lookups.find(type)
  const description = nodeType === undefined || version === undefined ? undefined : NodeType.at(nodeType, version)
  const all = Workflow.parametersOf(json)
  const isTooLarge = isLarge(all)
  const own = isTooLarge ? {} : all
  const parameters = description === undefined || version === undefined
    ? own
    : ParameterRules.complete(description, { typeVersion: version, parameters: own })
  const shape = { parameters, own, version: version ?? 1, onError: str(json["onError"]) }
  return [{
    at: JsonPath.print(["nodes", index]),
    name,
    id: str(json["id"]),
    type,
    version,
    isDisabled: json["disabled"] === true,
    isNote: Workflow.isNote(json),
    json,
    nodeType,
    description,
    parameters,
    isLarge: isTooLarge,
    inputs: isTooLarge ? undefined : description && Ports.inputs(description, shape, lookups.evaluate),
    outputs: isTooLarge ? undefined : description && Ports.outputs(description, shape, lookups.evaluate)
  }]
}

export const make = function*(workflow: Obj, lookups: Lookups): Turn.Steps<Checked> {
  const nodes = yield* Turn.flatMap(
    Workflow.nodes(workflow).entries(),
    ([index, node]) => read(node, index, lookups)
  )
  const byName = new Map(nodes.toReversed().map((node) => [node.name, node]))
  return { nodes, byName, graph: Graph.resolved(workflow) }
}

/** Whether the node only serves other nodes, as a model, a tool or a memory. */
export const isSubNode = ({ outputs }: Node): boolean =>
  outputs !== undefined && outputs.length > 0 && outputs.every(({ type }) => type !== "main")

/** Whether n8n starts the node itself: it is a trigger, polls, or has a webhook. */
export const isTriggerLike = ({ description }: Node): boolean =>
  description !== undefined &&
  (description.group.includes("trigger") || description.polling === true || (description.webhooks ?? []).length > 0)

export const problemOf = (
  { at, id, name }: Node,
  rule: RuleId,
  severity: Problem["severity"],
  message: string,
  fix?: string,
  path: string = at
): Ruled => defined({ rule, severity, node: name, nodeId: id, path, message, fix })

export const portTypes = (ports: ReadonlyArray<Ports.Port> = []): ReadonlyArray<string> => [
  ...new Set(ports.map(({ type }) => type))
]

/** `'A' or 'B'`; at most three. */
export const either = (names: ReadonlyArray<string>): string =>
  names.slice(0, 3).map((name) => `'${name}'`).join(" or ")

/** All lookups that `workflows/NodeLookups` makes from the catalogue. */
export interface NodeLookups extends Required<Lookups> {
  /** Whether a release certainly lacks this version of the type. */
  readonly isLackedIn: (type: string, version: number, release: string) => boolean
  /** Releases of n8n whose types are known, oldest first. */
  readonly knownReleases: ReadonlyArray<string>
  /** Version of a new node: the newest that the connected n8n has. */
  readonly newest: (type: string) => number | undefined
}
