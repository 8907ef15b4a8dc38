/** Upgrades nodes to the newest version of their type, or to the successor of a deprecated type, with the same meaning. */
import * as Result from "effect/Result"
import { arr, num, type Obj, obj, str, without } from "../../base/Json.ts"
import * as Turn from "../../base/Turn.ts"
import * as Parameters from "../../catalogue/parameters/Parameters.ts"
import * as NodeType from "../../catalogue/types/NodeType.ts"
import * as ToolVariant from "../../catalogue/types/ToolVariant.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import type * as Checked from "../check/CheckedWorkflow.ts"
import * as Graph from "../Graph.ts"
import * as ai from "./ai.ts"
import * as core from "./core.ts"
import { carry, left, type Mapping, type Old, type Undecided } from "./mapping.ts"
import * as requests from "./requests.ts"
import * as services from "./services.ts"

/** One upgraded node: `n8n-nodes-base.set 2` and `n8n-nodes-base.set 3.5`. */
export interface Upgraded {
  readonly node: string
  readonly from: string
  readonly to: string
}

/** Node that is not at the newest version, and the decision that a person has to make. */
export interface Left extends Undecided {
  readonly node: string
  /** Type and version that the node has now: `n8n-nodes-base.webhook 1`. */
  readonly type: string
}

/** Workflow after an upgrade. */
export interface Outcome {
  readonly workflow: Obj
  readonly upgraded: ReadonlyArray<Upgraded>
  readonly left: ReadonlyArray<Left>
  /** New indexes of main outputs, by the names of nodes whose outputs have moved. */
  readonly moved: ReadonlyMap<string, (index: number) => number>
}

export interface Lookups extends Checked.Lookups {
  /** Whether only requests of nodes matter, not their output, so that fewer are left. Default: `false`. */
  readonly sendsOnly?: boolean
  readonly newest: (type: string) => number | undefined
}

const modules = [core, requests, services, ai]
const allSteps = Object.assign({}, ...modules.map((each) => each.steps)) as typeof core.steps
const allSuccessors = Object.assign({}, ...modules.map((each) => each.successors)) as typeof core.successors

const successorOf = (type: string) => Object.hasOwn(allSuccessors, type) ? allSuccessors[type] : undefined

/** Steps of a type; a tool variant has those of its base. */
const stepsOf = (type: string) => {
  const known = [type, ToolVariant.baseOf(type) ?? type].find((each) => Object.hasOwn(allSteps, each))
  return known === undefined ? [] : allSteps[known] ?? []
}

/** Types that an upgrade of the workflow looks up: its own, and their successors. */
export const types = (workflow: Obj): ReadonlyArray<string> =>
  Workflow.typesOf(workflow).flatMap((type) => [type, ...successorOf(type)?.to ?? []])

const typed = (type: string, version: number) => `${type} ${version}`

interface Move {
  readonly node: Obj
  readonly outputs: ReadonlyArray<(index: number) => number>
  readonly absorbed: ReadonlyArray<string>
}

interface Progress extends Move {
  readonly left?: Undecided
}

const leaving = (at: Move, why: string, decision: string): Progress => ({ ...at, left: { why, decision } })

const errorsOf = (node: Obj, { find, suggest }: Lookups): ReadonlyArray<string> => {
  const [type, version] = [find(Workflow.typeOf(node)), num(node["typeVersion"]) ?? 1]
  const description = type && NodeType.at(type, version)
  return description === undefined ? [] : Parameters.problems(
    description,
    { typeVersion: version, parameters: Workflow.parametersOf(node), isTool: description.name.endsWith("Tool") },
    suggest
  ).flatMap(({ message, severity }) => severity === "error" ? [message] : [])
}

/** Refuses an upgrade to a node that n8n would refuse although it accepted the old one. */
const refusalOf = (before: Obj, after: Obj, lookups: Lookups): Undecided | undefined => {
  const [wrong] = errorsOf(after, lookups)
  return wrong === undefined || errorsOf(before, lookups).length > 0
    ? undefined
    : { why: `${typed(Workflow.typeOf(after), num(after["typeVersion"]) ?? 1)}: ${wrong}`, decision: "Set it by hand." }
}

type Whole = Pick<Old, "graph" | "workflow">

const apply = (
  whole: Whole,
  { absorbed, node, outputs }: Move,
  target: { readonly type: string; readonly version: number },
  change: Mapping,
  lookups: Lookups
): Result.Result<Move, Undecided> => {
  const type = Workflow.typeOf(node)
  const version = num(node["typeVersion"]) ?? 1
  const [before, after] = [lookups.find(type), lookups.find(target.type)]
  const description = before && NodeType.at(before, version)
  const next = after && NodeType.at(after, target.version)
  // A type that n8n no longer has is not described; its mapping reads the parameters as they are.
  const known = before === undefined && type !== target.type ? next : description
  if (known === undefined || next === undefined) {
    const [missing, at] = known === undefined ? [type, version] : [target.type, target.version]
    return left(`The catalogue has no version ${at} of ${missing}.`, "Set a version that exists, then upgrade again.")
  }
  const own = Workflow.parametersOf(node)
  const isTool = known.name.endsWith("Tool")
  const old: Old = {
    node,
    name: Workflow.nameOf(node),
    version,
    own,
    parameters: description === undefined
      ? own
      : Parameters.complete(description, { typeVersion: version, parameters: own, isTool }),
    ...whole,
    lookups,
    sendsOnly: lookups.sendsOnly === true,
    next,
    nextVersion: target.version
  }
  return Result.flatMap(change(old), ({ absorbs = [], keys, outputs: moved = [], parameters, type: chosen }) => {
    const result: Obj = {
      ...node,
      parameters,
      type: chosen ?? target.type,
      typeVersion: chosen === undefined ? target.version : lookups.newest(chosen) ?? target.version,
      ...keys
    }
    const refusal = refusalOf(node, result, lookups)
    return refusal === undefined
      ? Result.succeed({ node: result, outputs: [outputs, moved].flat(), absorbed: [absorbed, absorbs].flat() })
      : Result.fail(refusal)
  })
}

/** Moves a node through the versions of its type, as far as its meaning can be carried over. */
const throughVersions = (whole: Whole, start: Move, lookups: Lookups): Progress => {
  const type = Workflow.typeOf(start.node)
  const newest = lookups.newest(type)
  const version = num(start.node["typeVersion"])
  if (newest === undefined || version === undefined || version >= newest) return start
  const list = stepsOf(type).filter(({ to }) => to > version && to <= newest)
  let progress: Progress = start
  for (const { change = carry, to } of list) {
    const result = apply(whole, progress, { type, version: to }, change, lookups)
    if (Result.isFailure(result)) return { ...progress, left: result.failure }
    progress = result.success
  }
  const last = list.at(-1)?.to ?? version
  return last === newest ? progress : leaving(
    progress,
    `It is not known what changed in ${type} between ${last} and ${newest}.`,
    `Compare both versions, then set typeVersion ${newest} by an update.`
  )
}

const upgradeNode = (whole: Whole, node: Obj, lookups: Lookups): Progress => {
  const start: Move = { node, outputs: [], absorbed: [] }
  const type = Workflow.typeOf(node)
  const version = num(node["typeVersion"])
  if (version === undefined) return start
  const use = lookups.successors?.(type)
  if (use === undefined) return throughVersions(whole, start, lookups)
  const successor = successorOf(type)
  if (successor === undefined) {
    return use.length === 0
      ? leaving(start, `${type} is deprecated and has no successor.`, "Choose other nodes for what it does.")
      : leaving(start, `${type} is deprecated.`, `Replace it by ${use.join(" or ")}.`)
  }
  const to = successor.to.find((each) => lookups.newest(each) !== undefined)
  const newest = to === undefined ? undefined : lookups.newest(to)
  if (to === undefined || newest === undefined) {
    return leaving(start, `This n8n lacks ${successor.to.join(", ")}.`, "Upgrade n8n first.")
  }
  const result = apply(whole, start, { type: to, version: newest }, successor.change, lookups)
  // A mapping can choose an earlier version of the successor.
  return Result.isFailure(result)
    ? { ...start, left: result.failure }
    : throughVersions(whole, result.success, lookups)
}

/**
 * Upgrades the named nodes, or all: to the newest version that the connected n8n has, or to their successor. Links,
 * positions, ids, notes and everything else stay; upgrading again changes nothing.
 */
export const upgrade = (workflow: Obj, names: ReadonlyArray<string> | undefined, lookups: Lookups): Outcome =>
  Turn.finish(steps(workflow, names, lookups))

/** {@link upgrade} in steps: a node each. */
export const steps = function*(
  workflow: Obj,
  names: ReadonlyArray<string> | undefined,
  lookups: Lookups,
  _accept: { readonly [node: string]: string } = {}
): Turn.Steps<Outcome> {
  const chosen = names === undefined ? undefined : new Set(names)
  const upgraded: Array<Upgraded> = []
  const remaining: Array<Left> = []
  const absorbed = new Set<string>()
  const moved = new Map<string, (index: number) => number>()
  const links = new Map<Connections.PlacedLink, Connections.Link>()
  const before = Workflow.nodes(workflow)
  const graph = Graph.resolved(workflow)
  const nodes = yield* Turn.flatMap(arr(workflow["nodes"]).entries(), ([index, entry]) => {
    const node = before[index] ?? {}
    const [name, type, version] = [Workflow.nameOf(node), Workflow.typeOf(node), num(node["typeVersion"])]
    if (chosen?.has(name) === false || version === undefined || str(node["type"]) === undefined) return [entry]
    const progress = upgradeNode({ workflow, graph }, node, lookups)
    const now = typed(Workflow.typeOf(progress.node), num(progress.node["typeVersion"]) ?? version)
    if (progress.left !== undefined) remaining.push({ node: name, type: now, ...progress.left })
    if (progress.node === node) return [entry]
    upgraded.push({ node: name, from: typed(type, version), to: now })
    const { outputs } = progress
    if (outputs.length > 0) {
      const move = (index: number) => outputs.reduce((place, each) => each(place), index)
      moved.set(name, move)
      for (const link of graph.out(name)) {
        const { index, type } = link.output
        if (Graph.isMain(link)) links.set(link, { ...link, output: { type, index: move(index) } })
      }
    }
    for (const each of progress.absorbed) absorbed.add(each)
    return [progress.node]
  })
  const remains = (name: string) => !absorbed.has(name)
  if (upgraded.length === 0) return { workflow, upgraded, left: remaining, moved }
  const ofRemaining = <A extends { readonly node: string }>(all: ReadonlyArray<A>) =>
    all.filter(({ node }) => remains(node))
  return {
    workflow: {
      ...workflow,
      nodes: nodes.filter((node) => remains(Workflow.nameOf(node))),
      connections: without(Connections.move(obj(workflow["connections"]) ?? {}, links), (_, name) => !remains(name))
    },
    upgraded: ofRemaining(upgraded),
    left: ofRemaining(remaining),
    moved
  }
}
