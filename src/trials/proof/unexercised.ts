/** Changes of a version that its replays say nothing of: nodes that no run reached, and settings. */
import * as Effect from "effect/Effect"
import type * as Errors from "../../base/Errors.ts"
import * as JavaScript from "../../base/JavaScript.ts"
import { equals, type Obj, obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as Code from "../../catalogue/code/Code.ts"
import { findAll, type NodeCatalogue } from "../../catalogue/NodeCatalogue.ts"
import { sends } from "../../catalogue/types/Outside.ts"
import * as Execution from "../../executions/Execution.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { isNote, type Node, parametersOf } from "../../n8n/model/Workflow.ts"
import * as Graph from "../../workflow/Graph.ts"
import * as FormerSettings from "../../workflows/store/FormerSettings.ts"
import type * as Groups from "./Groups.ts"
import { asRun, codeOf } from "./sentDifferences.ts"

interface Version {
  readonly nodes: ReadonlyArray<Node>
  readonly connections: Connections.Connections
}

interface Run {
  readonly record: Execution.Execution
  readonly replay: Execution.Execution
  readonly names: ReadonlyMap<string, string>
  /** Nodes that returned stored items instead of running. */
  readonly pinned: ReadonlySet<string>
}

const onFailure = ["onError", "continueOnFail", "retryOnFail", "maxTries", "waitBetweenTries"]

const always = ["type", "typeVersion", "parameters", "credentials", "disabled", "alwaysOutputData", "executeOnce"]

const isEqual = (one: unknown, other: unknown) => (one ?? false) === (other ?? false) || equals(one, other)

const targets = (graph: Graph.Graph, name: string, nameOf: (name: string) => string) =>
  Array.from(
    { length: Graph.outputCount(graph, name) },
    (_, index) => Graph.next(graph, name, index).map(nameOf).toSorted()
  )

const usedOutputs = (runs: ReadonlyArray<Execution.Run> = []) =>
  runs.flatMap(({ outputs }) =>
    outputs.flatMap(({ count, index, type }) => type === "main" && count > 0 ? [index] : [])
  )

/** Changes from one version to another of which no run reached the node, failed at it, or used its output. */
export const unexercisedChanges = Effect.fnUntraced(function*(
  before: Version,
  after: Version,
  runs: ReadonlyArray<Run>
): Effect.fn.Return<ReadonlyArray<Groups.NotReplayed>, Errors.ValidationError, NodeCatalogue> {
  const find = yield* findAll([...before.nodes, ...after.nodes].map(({ type }) => type))
  const parse = yield* JavaScript.parser
  const running = asRun(find)
  const earlier = before.nodes.map(running)
  const formerOf = (name: string) => runs.map(({ names }) => names.get(name)).find((each) => each !== undefined) ?? name
  const today = new Map(after.nodes.map(({ name }) => [formerOf(name), name]))
  const [then, graph] = [Graph.make(before.connections), Graph.make(after.connections)]
  const removed = before.nodes.flatMap((node): ReadonlyArray<Groups.NotReplayed> => {
    const { disabled, name } = node
    if (today.has(name) || isNote(node) || disabled === true || Graph.served(then, name).length > 0) return []
    if (runs.every(({ record }) => !record.runs.has(name))) {
      return [{ node: name, why: "removed, and no run reached it" }]
    }
    const isSender = sends(find(node.type), node, parse)
    const isShown = [...Graph.after(then, [name])].some((each) => each !== name && today.has(each))
    return isSender || isShown ? [] : [{ node: name, why: "removed, and no node after it is left that shows it" }]
  })
  const others = after.nodes.map(running).flatMap((node): ReadonlyArray<Groups.NotReplayed> => {
    const { name } = node
    if (isNote(node) || Graph.served(graph, name).length > 0) return []
    const former = earlier.find((each) => each.name === formerOf(name))
    const hasRun = runs.some(({ replay }) => replay.runs.has(name))
    if (node.disabled === true && former?.disabled === true) return []
    if (former === undefined) {
      return hasRun || node.disabled === true ? [] : [{ node: name, why: "new, and no run reaches it" }]
    }
    const code = codeOf(find(node.type), node.typeVersion ?? null)
    const parameters = Code.aligned(code, parametersOf(node), former.parameters, parse)
    const own: Node = { ...node, parameters }
    const changed = (keys: ReadonlyArray<string>) => keys.filter((key) => !isEqual(own[key], former[key]))
    const failing = changed(onFailure)
    const [old, now] = [
      targets(then, former.name, (each) => today.get(each) ?? each),
      targets(graph, name, (each) => each)
    ]
    if (!hasRun) {
      if ([...changed(always), ...failing].length > 0) return [{ node: name, why: "changed, and no run reaches it" }]
      return equals(old, now) || node.disabled === true
        ? []
        : [{ node: name, why: "its links changed, and no run reaches it" }]
    }
    const hasFailed = runs.some(({ record, replay }) =>
      [record.runs.get(former.name), replay.runs.get(name)].some((all) =>
        all?.some(({ error }) => error !== undefined)
      ) ||
      former["onError"] === "continueErrorOutput" &&
        usedOutputs(record.runs.get(former.name)).some((index) => index > 0)
    )
    const isStored = runs.some(({ pinned }) => pinned.has(name))
    const used = new Set(
      runs.flatMap(({ record, replay }) => [
        ...usedOutputs(record.runs.get(former.name)),
        ...usedOutputs(replay.runs.get(name))
      ])
    )
    const outputs = Array.from({ length: Math.max(old.length, now.length) }, (_, index) => index)
      .filter((index) => !used.has(index) && !equals(old[index] ?? [], now[index] ?? []))
    return [
      ...(failing.length > 0 && !hasFailed
        ? [{ node: name, why: `${failing.join(", ")} changed, and it failed in no run` }]
        : hasFailed && isStored && failing.some((key) => key !== "onError" && key !== "continueOnFail")
        ? [{ node: name, why: `${failing.join(", ")} changed, and a replay repeats its failure` }]
        : []),
      ...outputs.map((index) => ({ node: name, why: `links of output ${index} changed, and no run used it` }))
    ]
  })
  return [...removed, ...others]
})

/** Settings that a replay has on both sides, so that what they change is compared. */
const replayed = new Set(["timezone", "executionOrder"])

/** Default of a setting that n8n's API does not write. */
const implied: Obj = { binaryMode: "separate" }

const valueOf = (settings: unknown, name: string) => FormerSettings.valueOf(settings, name) ?? implied[name]

const shown = (value: unknown) => value === undefined ? "not set" : JSON.stringify(value)

/** Names of the settings that differ; unset ones have their default. */
export const changed = (before: unknown, after: unknown): ReadonlyArray<string> =>
  [...new Set([before, after].flatMap((each) => Object.keys(obj(each) ?? {})))].filter((name) =>
    !equals(valueOf(before, name), valueOf(after, name))
  )

/** Settings that differ, and why the replays say nothing of them; `failed` is the number of runs that failed. */
export const unproven = (
  before: unknown,
  after: unknown,
  { failed, nodes }: { readonly failed: number; readonly nodes: ReadonlyArray<Node> }
): ReadonlyArray<Groups.NotReplayed> => {
  const isScheduled = nodes.some(({ disabled, type }) => disabled !== true && /\.(?:scheduleTrigger|cron)$/.test(type))
  return changed(before, after).flatMap((name) => {
    const change = `${JsonPath.print(["settings", name])}: ${shown(valueOf(before, name))} → ${
      shown(valueOf(after, name))
    }`
    if (replayed.has(name)) {
      return name === "timezone" && isScheduled ? [{ why: `${change}: its schedule starts at other times` }] : []
    }
    const alerts = name === "errorWorkflow" && failed > 0 ? `, which ${failed} of these runs started` : ""
    return [{ why: `${change}${alerts}: no replay shows it` }]
  })
}
