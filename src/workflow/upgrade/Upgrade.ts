/** Upgrades nodes to the newest version of their type, or to the successor of a deprecated type, with the same meaning. */
import * as Result from "effect/Result"
import { arr, defined, num, type Obj, obj, str, without } from "../../base/Json.ts"
import * as Turn from "../../base/Turn.ts"
import * as ParameterRules from "../../catalogue/parameters/ParameterRules.ts"
import * as NodeType from "../../catalogue/types/NodeType.ts"
import * as ToolVariant from "../../catalogue/types/ToolVariant.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import type * as Checked from "../check/CheckedWorkflow.ts"
import * as WorkflowDiff from "../diff/WorkflowDiff.ts"
import * as Graph from "../Graph.ts"
import * as ai from "./ai.ts"
import * as core from "./core.ts"
import {
  asN8n,
  carry,
  type Choice,
  continues,
  type Fault,
  left,
  type Mapping,
  type New,
  type Old,
  type Step,
  type Undecided,
  type Way
} from "./mapping.ts"
import * as serviceNodes from "./serviceNodes.ts"
import * as triggers from "./triggers.ts"

/** One upgraded node: `n8n-nodes-base.set 2` and `n8n-nodes-base.set 3.5`. */
export interface Upgraded {
  readonly node: string
  readonly from: string
  readonly to: string
}

/** One upgraded node in detail. */
export interface Change extends Upgraded {
  /** Changes of its parameters and other properties, redacted. */
  readonly changes: ReadonlyArray<WorkflowDiff.Field>
  /** Key of the choice by which it was upgraded, and sentences on what differs since. */
  readonly choice?: string
  readonly differs?: ReadonlyArray<string>
}

/** Node that is not at the newest version, and the decision that a person has to make. */
export interface Left extends Undecided {
  readonly node: string
  /** Type and version that the node has now: `n8n-nodes-base.webhook 1`. */
  readonly type: string
  /** Ways that `accept` carries out. */
  readonly choices: ReadonlyArray<Choice>
}

/** Node that another one replaces. */
export interface Removed {
  readonly node: string
  readonly into: string
  readonly why: string
}

/** Accepted choice that a node does not have, and the keys that there are. */
export interface Unknown {
  readonly node: string
  readonly key: string
  readonly keys: ReadonlyArray<string>
}

/** Workflow after an upgrade. */
export interface Outcome {
  readonly workflow: Obj
  readonly upgraded: ReadonlyArray<Change>
  readonly left: ReadonlyArray<Left>
  readonly removed: ReadonlyArray<Removed>
  readonly unknown: ReadonlyArray<Unknown>
  /** New indexes of main outputs, by the names of nodes whose outputs have moved. */
  readonly moved: ReadonlyMap<string, (index: number) => number>
}

/** Keys of choices by the names of nodes. */
export type Accept = { readonly [node: string]: string }

export interface Lookups extends Checked.Lookups {
  /** Whether only requests of nodes matter, not their output, so that fewer are left. Default: `false`. */
  readonly sendsOnly?: boolean
  readonly newest: (type: string) => number | undefined
}

const modules = [core, triggers, serviceNodes, ai]
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

const versionOf = (node: Obj) => num(node["typeVersion"]) ?? 1

interface Move {
  readonly node: Obj
  readonly outputs: ReadonlyArray<(index: number) => number>
  readonly absorbed: ReadonlyArray<Removed>
  readonly choice?: string
  readonly differs?: ReadonlyArray<string>
}

/** Choice with its result. */
interface Option extends Choice {
  readonly move: Move
}

interface Open extends Undecided {
  readonly options: ReadonlyArray<Option>
}

interface Progress extends Move {
  readonly left?: Open
}

const errorsOf = (node: Obj, { find, suggest }: Lookups): ReadonlyArray<string> => {
  const [type, version] = [find(Workflow.typeOf(node)), num(node["typeVersion"]) ?? 1]
  const description = type && NodeType.at(type, version)
  return description === undefined ? [] : ParameterRules.problems(
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
    : {
      why: `${typed(Workflow.typeOf(after), versionOf(after))}: ${wrong}`,
      decision: "Correct it, then upgrade again."
    }
}

type Whole = Pick<Old, "graph" | "workflow">

interface Target extends Step {
  readonly type: string
}

/** Takes a node to a version or a type; where its meaning is not exact, with the options that there are. */
const apply = (whole: Whole, move: Move, target: Target, lookups: Lookups): Result.Result<Move, Open> => {
  const { absorbed, node, outputs } = move
  const { change = carry, fails, rewritten, to, type: nextType } = target
  const [name, type, version] = [Workflow.nameOf(node), Workflow.typeOf(node), versionOf(node)]
  const [before, after] = [lookups.find(type), lookups.find(nextType)]
  const description = before && NodeType.at(before, version)
  const next = after && NodeType.at(after, to)
  // A type that n8n no longer has is not described; its mapping reads the parameters as they are.
  const known = before === undefined && type !== nextType ? next : description
  if (known === undefined || next === undefined) {
    const [missing, at] = known === undefined ? [type, version] : [nextType, to]
    const why = `The catalogue has no version ${at} of ${missing}.`
    return Result.fail({ why, decision: "Set a version that exists, then upgrade again.", options: [] })
  }
  const own = Workflow.parametersOf(node)
  const isTool = known.name.endsWith("Tool")
  const old: Old = {
    node,
    name,
    version,
    own,
    parameters: description === undefined
      ? own
      : ParameterRules.complete(description, { typeVersion: version, parameters: own, isTool }),
    ...whole,
    lookups,
    sendsOnly: lookups.sendsOnly === true,
    isAccepted: false,
    next,
    nextVersion: to
  }
  const finish = (made: New, isAccepted: boolean): Result.Result<Move, Fault> => {
    const { absorbs, keys, outputs: moved = [], parameters, type: chosen } = made
    const otherwise = made.fails ?? fails
    if (otherwise !== undefined && !isAccepted && !old.sendsOnly && continues(node)) {
      return left(otherwise, "Decide whether what follows reads anything of failed items.", [
        { key: asN8n, does: "", made: Result.succeed(made) }
      ])
    }
    const result: Obj = {
      ...node,
      parameters,
      type: chosen ?? nextType,
      typeVersion: chosen === undefined ? to : lookups.newest(chosen) ?? to,
      ...keys
    }
    const refusal = refusalOf(node, result, lookups)
    return refusal !== undefined ? Result.fail(refusal) : Result.succeed({
      ...move,
      node: result,
      outputs: [outputs, moved].flat(),
      absorbed: absorbs === undefined ? absorbed : [...absorbed, { ...absorbs, into: name }]
    })
  }
  return Result.mapError(Result.flatMap(change(old), (made) => finish(made, false)), ({ decision, ways, why }) => {
    const accepted: Old = { ...old, isAccepted: true, sendsOnly: true }
    const byN8n = type === nextType ? [change, carry] : []
    const all = ways ?? byN8n.map((each): Way => ({ key: asN8n, does: "", made: each(accepted) }))
    const tried = all.map(({ does, key, made }) => ({
      key,
      does,
      move: Result.flatMap(made, (each) => finish(each, true))
    }))
    const options = tried.flatMap(({ does, key, move }) =>
      Result.isSuccess(move) ? [{ key, does, move: move.success }] : []
    ).filter(({ key }, index, all) => all.findIndex((each) => each.key === key) === index)
    const lack = tried.flatMap(({ move }) => Result.isFailure(move) ? [move.failure.why] : []).at(-1)
    const credentials = (next.credentials ?? []).map((each) => each.name)
    const isForeign = rewritten === true &&
      Object.keys(obj(node["credentials"]) ?? {}).some((each) => !credentials.includes(each))
    return {
      why: isForeign ? `${why} It takes other credentials: ${credentials.join(", ")}.` : why,
      decision: rewritten === true && lack !== undefined && options.length === 0
        ? `${lack} Add a node of version ${to}, connect it in place of this one, and remove this one.`
        : decision,
      options
    }
  })
}

/**
 * Options from a step on. The way of n8n leads through all later steps, and to the version before each that differs
 * again; after another one the later steps are exact.
 */
const onward = (whole: Whole, why: string, option: Option, rest: ReadonlyArray<Target>, lookups: Lookups) => {
  const { does, key, move } = option
  if (key !== asN8n) return [{ ...option, move: { ...move, choice: key, differs: [does] } }]
  const options: Array<Option> = []
  const differs = [why]
  let at = move
  const reach = (key: string) => {
    const name = typed(NodeType.shortName(Workflow.typeOf(at.node)), versionOf(at.node))
    options.push({
      key,
      does: [does || `Becomes ${name}.`, ...differs.slice(1)].join(" "),
      move: { ...at, choice: key, differs: [...move.differs ?? [], ...differs] }
    })
  }
  for (const target of rest) {
    const result = apply(whole, at, target, lookups)
    if (Result.isSuccess(result)) {
      at = result.success
      continue
    }
    reach(String(versionOf(at.node)))
    const next = result.failure.options.find((each) => each.key === asN8n)
    if (next === undefined) return options
    at = next.move
    differs.push(result.failure.why)
  }
  reach(key)
  return options.toReversed()
}

/** Takes a node through targets as far as its meaning can be carried over, then by the choice that was accepted. */
const through = (
  whole: Whole,
  start: Move,
  targets: ReadonlyArray<Target>,
  lookups: Lookups,
  accept: string | undefined
): Progress => {
  let at = start
  for (const [index, target] of targets.entries()) {
    const result = apply(whole, at, target, lookups)
    if (Result.isSuccess(result)) {
      at = result.success
      continue
    }
    const rest = targets.slice(index + 1)
    const { decision, why } = result.failure
    const options = result.failure.options.flatMap((each) => onward(whole, why, each, rest, lookups))
    const chosen = options.find(({ key }) => key === accept)
    if (chosen === undefined) return { ...at, left: { why, decision, options } }
    // A choice of the mapping's own decides one step, the others lead to where the person wants to be.
    if (result.failure.options.every(({ key }) => key !== accept || key === asN8n)) return chosen.move
    at = chosen.move
  }
  return at
}

/** Steps of the node's type to its newest version. */
const targetsOf = (node: Obj, lookups: Lookups): ReadonlyArray<Target> => {
  const type = Workflow.typeOf(node)
  const [newest, version] = [lookups.newest(type), num(node["typeVersion"])]
  if (newest === undefined || version === undefined || version >= newest) return []
  const list = stepsOf(type).filter(({ to }) => to > version && to <= newest)
  const last = list.at(-1)?.to ?? version
  const unknown = (): ReturnType<Mapping> =>
    left(`It is not known what changed in ${type} between ${last} and ${newest}.`, "Compare both versions.")
  return [...list, ...last === newest ? [] : [{ to: newest, change: unknown }]].map((step) => ({ ...step, type }))
}

const upgradeNode = (whole: Whole, node: Obj, lookups: Lookups, accept: string | undefined): Progress => {
  const start: Move = { node, outputs: [], absorbed: [] }
  const leaving = (why: string, decision: string): Progress => ({ ...start, left: { why, decision, options: [] } })
  const type = Workflow.typeOf(node)
  if (num(node["typeVersion"]) === undefined) return start
  const use = lookups.successors?.(type)
  if (use === undefined) return through(whole, start, targetsOf(node, lookups), lookups, accept)
  const successor = successorOf(type)
  if (successor === undefined) {
    return use.length === 0
      ? leaving(`${type} is deprecated and has no successor.`, "Choose other nodes for what it does.")
      : leaving(`${type} is deprecated.`, `Replace it by ${use.join(" or ")}.`)
  }
  const to = successor.to.find((each) => lookups.newest(each) !== undefined)
  const newest = to === undefined ? undefined : lookups.newest(to)
  if (to === undefined || newest === undefined) {
    return leaving(`This n8n lacks ${successor.to.join(", ")}.`, "Upgrade n8n first.")
  }
  const first = through(whole, start, [{ ...successor, type: to, to: newest }], lookups, accept)
  // A mapping can choose an earlier version of the successor.
  return first.left === undefined
    ? through(whole, first, targetsOf(first.node, lookups), lookups, accept)
    : first
}

/**
 * Upgrades the named nodes, or all: to the newest version that the connected n8n has, or to their successor. Links,
 * positions, ids, notes and everything else stay; upgrading again changes nothing. `accept` names choices of nodes that
 * would be left, by their keys.
 */
export const upgrade = (
  workflow: Obj,
  names: ReadonlyArray<string> | undefined,
  lookups: Lookups,
  accept?: Accept
): Outcome => Turn.finish(steps(workflow, names, lookups, accept))

/** {@link upgrade} in steps: a node each. */
export const steps = function*(
  workflow: Obj,
  names: ReadonlyArray<string> | undefined,
  lookups: Lookups,
  accept: Accept = {}
): Turn.Steps<Outcome> {
  const chosen = names === undefined ? undefined : new Set(names)
  const upgraded: Array<Change> = []
  const remaining: Array<Left> = []
  const removed = new Map<string, Removed>()
  const unknown: Array<Unknown> = []
  const moved = new Map<string, (index: number) => number>()
  const links = new Map<Connections.PlacedLink, Connections.Link>()
  const before = Workflow.nodes(workflow)
  const graph = Graph.resolved(workflow)
  for (const node of Object.keys(accept)) {
    if (chosen?.has(node) === false) unknown.push({ node, key: accept[node] ?? "", keys: [] })
  }
  const nodes = yield* Turn.flatMap(arr(workflow["nodes"]).entries(), ([index, entry]) => {
    const node = before[index] ?? {}
    const [name, type, version] = [Workflow.nameOf(node), Workflow.typeOf(node), num(node["typeVersion"])]
    if (chosen?.has(name) === false || version === undefined || str(node["type"]) === undefined) return [entry]
    const key = Object.hasOwn(accept, name) ? accept[name] : undefined
    const progress = upgradeNode({ workflow, graph }, node, lookups, key)
    const { choice, differs, left, outputs } = progress
    const now = typed(Workflow.typeOf(progress.node), versionOf(progress.node))
    if (key !== undefined && choice !== key) {
      unknown.push({ node: name, key, keys: (left?.options ?? []).map((each) => each.key) })
    }
    if (left !== undefined) {
      const choices = left.options.map(({ does, key }) => ({ key, does }))
      remaining.push({ node: name, type: now, why: left.why, decision: left.decision, choices })
    }
    if (progress.node === node) return [entry]
    const changes = WorkflowDiff.changedFields({ nodes: [node] }, { nodes: [progress.node] }, {
      name,
      change: "changed"
    })
      .filter(({ path }) => path !== "type" && path !== "typeVersion")
    upgraded.push(defined({ node: name, from: typed(type, version), to: now, changes, choice, differs }))
    if (outputs.length > 0) {
      const move = (index: number) => outputs.reduce((place, each) => each(place), index)
      moved.set(name, move)
      for (const link of graph.out(name)) {
        const { index, type } = link.output
        if (Graph.isMain(link)) links.set(link, { ...link, output: { type, index: move(index) } })
      }
    }
    for (const each of progress.absorbed) removed.set(each.node, each)
    return [progress.node]
  })
  const remains = (name: string) => !removed.has(name)
  const ofRemaining = <A extends { readonly node: string }>(all: ReadonlyArray<A>) =>
    all.filter(({ node }) => remains(node))
  return {
    workflow: upgraded.length === 0 ? workflow : {
      ...workflow,
      nodes: nodes.filter((node) => remains(Workflow.nameOf(node))),
      connections: without(Connections.move(obj(workflow["connections"]) ?? {}, links), (_, name) => !remains(name))
    },
    upgraded: ofRemaining(upgraded),
    left: ofRemaining(remaining),
    removed: [...removed.values()],
    unknown,
    moved
  }
}
