/** Differences that outputs do not show: of what nodes sent and would send, of the trigger, and of sub-nodes. */
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import type * as Errors from "../../base/Errors.ts"
import * as JavaScript from "../../base/JavaScript.ts"
import { equals, type Obj, obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import { counted } from "../../base/Plural.ts"
import * as Redact from "../../base/Redact.ts"
import * as Code from "../../catalogue/code/Code.ts"
import { findAll, type NodeCatalogue } from "../../catalogue/NodeCatalogue.ts"
import * as ParameterRules from "../../catalogue/parameters/ParameterRules.ts"
import * as Sending from "../../catalogue/parameters/Sending.ts"
import * as NodeType from "../../catalogue/types/NodeType.ts"
import { answers, sends } from "../../catalogue/types/Outside.ts"
import * as Execution from "../../executions/Execution.ts"
import * as ItemDifferences from "../../executions/ItemDifferences.ts"
import { isNote, type Node, parametersOf } from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Graph from "../../workflow/Graph.ts"
import * as Upgrade from "../../workflow/upgrade/Upgrade.ts"
import * as NodeLookups from "../../workflows/NodeLookups.ts"
import { starterOf } from "../Replay.ts"
import * as Sent from "../Sent.ts"
import { type Difference, fingerprintOfText, type Ignored, isOwnId, tally } from "./runDifferences.ts"

interface EarlierVersion {
  readonly nodes: ReadonlyArray<Node>
  readonly connections: unknown
}

const isOf = (one: Pick<Node, "type" | "typeVersion">, other: Pick<Node, "type" | "typeVersion">) =>
  one.type === other.type && one.typeVersion === other.typeVersion

/** Nodes of an earlier version, and its nodes whose main outputs are at other indexes today. */
interface Upgraded {
  readonly nodes: ReadonlyArray<Node>
  readonly moved: Upgrade.Outcome["moved"]
}

const upgradedFor = new WeakMap<ReadonlyArray<Node>, Array<Upgraded & { readonly from: EarlierVersion }>>()

/**
 * An earlier version as an upgrade makes it. A node that differs from today's in its type or type version is upgraded,
 * if that leads to today's: what the upgrade alone has changed is no difference then.
 */
export const upgradedVersion = Effect.fnUntraced(function*(
  before: EarlierVersion,
  today: Pick<EarlierVersion, "nodes">,
  nameThen: (name: string) => string
): Effect.fn.Return<Upgraded, Errors.ValidationError, N8nClient | NodeCatalogue> {
  const known = upgradedFor.get(today.nodes) ?? []
  const same = known.find(({ from }) => equals(from.nodes, before.nodes))
  if (same !== undefined) return same
  const now = new Map(today.nodes.map((node) => [nameThen(node.name), node]))
  const outdated = before.nodes.flatMap((node) => {
    const current = now.get(node.name)
    return current === undefined || isOf(node, current) ? [] : [node.name]
  })
  if (outdated.length === 0) return { nodes: before.nodes, moved: new Map() }
  const workflow: Obj = { nodes: before.nodes, connections: before.connections }
  const release = yield* N8nClient.use((n8n) => n8n.release)
  const types = yield* NodeLookups.make(Upgrade.types(workflow), release)
  const upgraded = Upgrade.upgrade(workflow, outdated, { ...types, sendsOnly: true })
  const byName = new Map((upgraded.workflow["nodes"] as ReadonlyArray<Node>).map((node) => [node.name, node]))
  const nodes = before.nodes.map((node) => {
    const [next, current] = [byName.get(node.name), now.get(node.name)]
    return next !== undefined && current !== undefined && isOf(next, current) ? next : node
  })
  const isMoved = (name: string) => nodes.some((node, index) => node.name === name && node !== before.nodes[index])
  const result = { nodes, moved: new Map([...upgraded.moved].filter(([name]) => isMoved(name))) }
  upgradedFor.set(today.nodes, [...known, { from: before, ...result }])
  return result
})

const maxOutputs = 32

/** Execution with the items of moved outputs at their indexes of today. */
export const withMoved = (execution: Execution.Execution, moved: Upgraded["moved"]): Execution.Execution => {
  if (moved.size === 0) return execution
  const inRecord = (slot: Execution.Slot): Execution.Slot => {
    const move = slot.side === "output" && slot.port.type === "main" ? moved.get(slot.node) : undefined
    const index = Array.from({ length: maxOutputs }).findIndex((_, index) => move?.(index) === slot.port.index)
    return index < 0 ? slot : { ...slot, port: { ...slot.port, index } }
  }
  const ofRun = (run: Execution.Run, move: (index: number) => number): Execution.Run => ({
    ...run,
    outputs: run.outputs.map((output) => output.type === "main" ? { ...output, index: move(output.index) } : output)
  })
  return {
    ...execution,
    items: (slot, offset, limit) => execution.items(inRecord(slot), offset, limit),
    segments: (slot, from) => execution.segments(inRecord(slot), from),
    runs: new Map([...execution.runs].map(([name, runs]) => {
      const move = moved.get(name)
      return [name, move === undefined ? runs : runs.map((run) => ofRun(run, move))]
    }))
  }
}

export type Find = (type: string) => NodeType.NodeType | undefined

/** Value without the names and links that the editor shows for an id. */
const withoutLabels = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(withoutLabels)
    : obj(value) === undefined
    ? value
    : Object.fromEntries(
      Object.entries(obj(value) ?? {}).flatMap(([key, each]) =>
        key.startsWith("cachedResult") ? [] : [[key, withoutLabels(each)]]
      )
    )

/** Node as it runs: with the defaults that the workflow of an execution has, and a stored one may lack. */
export const asRun = (find: Find) => (node: Node): Node => {
  const nodeType = find(node.type)
  const typeVersion = node.typeVersion ?? 1
  const description = nodeType && NodeType.at(nodeType, typeVersion)
  if (description === undefined) return { ...node, parameters: withoutLabels(parametersOf(node)) as Obj }
  const parameters = withoutLabels(parametersOf(node)) as Obj
  const names = new Set(description.properties.map(({ name }) => name))
  // An empty one is a notice of another release, which n8n records with the defaults.
  const unknown = Object.entries(parameters).filter(([name, value]) => !names.has(name) && value !== "")
  return {
    ...node,
    parameters: { ...Object.fromEntries(unknown), ...ParameterRules.complete(description, { typeVersion, parameters }) }
  }
}

/** Execution, and the version that ran. */
export interface Side {
  readonly execution: Execution.Execution
  readonly nodes: ReadonlyArray<Node>
  readonly connections: unknown
}

/** {@link Side} with its graph. */
export type SentSide = Omit<Side, "connections"> & { readonly graph: Graph.Graph }

export interface SentOptions {
  readonly record: SentSide
  readonly replay: SentSide
  readonly nameThen: (name: string) => string
  readonly pinned: ReadonlySet<string>
  readonly ignore: ReadonlyArray<Ignored>
  /** Whether all items are the same, so that unchanged nodes send the same. */
  readonly isSame: boolean
  readonly redacts: boolean
}

const maxItems = 200

const isUnchanged = (one: Node, other: Node) =>
  one.type === other.type && one.typeVersion === other.typeVersion && equals(one.parameters, other.parameters) &&
  equals(one.credentials, other.credentials)

/** Compares what nodes sent then with what they would send now, at paths such as `sent.jsonBody.email`. */
export const sentDifferences = Effect.fnUntraced(function*(options: SentOptions) {
  const { ignore, isSame, nameThen, pinned, record, redacts, replay } = options
  const pairs = replay.nodes.flatMap((node) => {
    const former = record.nodes.find(({ name }) => name === nameThen(node.name))
    const isSender = pinned.has(node.name) || answers(node)
    // What is of another type under the same name is not compared: it is another node.
    return former === undefined || former.type !== node.type || !isSender || isSame && isUnchanged(node, former)
      ? []
      : [{ node, former }]
  })
  if (pairs.length === 0) return []
  const find = yield* findAll(pairs.flatMap(({ former, node }) => [node.type, former.type]))
  const all: Array<Difference> = []
  const isOwn = isOwnId(record.execution.id, replay.execution.id)
  for (const { former, node } of pairs) {
    const [before, after] = [record.execution.runs.get(former.name) ?? [], replay.execution.runs.get(node.name) ?? []]
    const into = tally()
    const own = ignore.flatMap((each) => each.node === undefined || each.node === node.name ? [each.steps] : [])
    for (const [index, run] of after.entries()) {
      const runThen = before[index]
      if (runThen === undefined) break
      const sender = ({ execution }: Pick<Side, "execution">, node: Node, run: Execution.Run): Sent.Sender => ({
        execution,
        node,
        run,
        sending: Sending.of(find(node.type), node),
        limit: maxItems,
        redacts,
        isCopy: true
      })
      for (
        const { changes, item } of yield* Sent.differences(sender(record, former, runThen), sender(replay, node, run))
      ) {
        const changed = changes.filter((change) => !isOwn(change)).map((change) => ({
          ...change,
          path: JsonPath.join("sent", change.path),
          own: change.path
        }))
          .filter(({ own: path, path: whole }) =>
            [path, whole].every((each) => !JsonPath.covers(own, JsonPath.parse(each) ?? []))
          )
        if (changed.length > 0) into.addItem({ node: node.name, run: index, item }, changed)
      }
    }
    all.push(...into.values())
  }
  return all
})

const subNodes = ({ graph, nodes }: SentSide, name: string) => {
  const names = Graph.withSubNodes(graph, [name])
  return nodes.filter((node) => node.name !== name && names.has(node.name) && node.disabled !== true)
}

const settingsOf = (nodes: ReadonlyArray<Node>, find: Find, nameOf: (name: string) => string) =>
  Object.fromEntries(
    nodes.map(asRun(find)).map(({ credentials = null, name, parameters, type, typeVersion = null }) => {
      const properties = find(type)?.descriptions.flatMap(({ properties }) => properties) ?? []
      const set = Object.entries(obj(parameters) ?? {}).filter(([key, value]) =>
        !properties.some((property) => property.name === key && equals(property.default, value))
      )
      return [nameOf(name), { type, typeVersion, credentials, parameters: Object.fromEntries(set) }]
    })
  )

/** Settings of nodes with the code of others where both do the same. */
const alignedCode = (
  settings: ReturnType<typeof settingsOf>,
  others: ReturnType<typeof settingsOf>,
  find: Find,
  parse: JavaScript.Parse
): ReturnType<typeof settingsOf> =>
  Object.fromEntries(
    Object.entries(settings).map(([name, own]) => {
      const code = codeOf(find(own.type), own.typeVersion)
      return [name, { ...own, parameters: Code.aligned(code, own.parameters, others[name]?.parameters, parse) }]
    })
  )

/** File extensions of the parameters of a version that hold code, by their names. */
export const codeOf = (type: NodeType.NodeType | undefined, version: number | null) =>
  Sending.codeOf(type && NodeType.at(type, version ?? NodeType.defaultVersion(type)))

const triggers = ({ record, replay }: SentOptions) => {
  const starter = starterOf(record.execution)
  const former = record.nodes.find(({ name }) => name === starter)
  const node = replay.nodes.find(({ name }) => name === starter) ??
    replay.nodes.find(({ id }) => id !== undefined && id === former?.id)
  return former === undefined || node === undefined ? undefined : { former, node }
}

/** Collector of the differences of values. */
export const comparer = (redacts: boolean) => {
  const into = tally()
  const whole = (value: unknown) => Redact.whole(value, redacts ? Redact.redact : identity)
  return {
    into,
    compare: (node: string, before: unknown, after: unknown, path: string) =>
      into.addItem({ node, run: 0, item: 0 }, ItemDifferences.changes(whole(before), whole(after), path))
  }
}

/** Differences of how the workflow is called and answers, at paths such as `parameters.path`. */
export const triggerDifferences = Effect.fnUntraced(function*(options: SentOptions) {
  const trigger = triggers(options)
  if (trigger === undefined) return []
  const { compare, into } = comparer(options.redacts)
  const { former, node } = trigger
  const find = yield* findAll([former.type, node.type])
  const settings = (each: Node) => ({
    ...settingsOf([each], find, () => node.name)[node.name],
    ...(each.disabled === true ? { disabled: true } : {})
  })
  compare(node.name, settings(former), settings(node), "")
  return into.values()
})

/** Whether a run of a node received or returned items: without, it did nothing. */
const didRun = (execution: Execution.Execution, name: string): boolean =>
  (execution.runs.get(name) ?? []).some((run) =>
    run.outputs.some(({ count, type }) => type === "main" && count > 0) ||
    Execution.inputs(execution, name, run).some(({ count, slot }) => count > 0 && slot.port.type === "main")
  )

const isOn = (node: Node | undefined): node is Node => node !== undefined && node.disabled !== true

/** Nodes that send and that are new, gone, switched on or off, or of another type under the same name. */
const replacedSenders = Effect.fnUntraced(function*({ nameThen, pinned, record, replay }: SentOptions) {
  const starter = starterOf(record.execution)
  const formers = new Map(record.nodes.map((node) => [node.name, node]))
  const today = new Map(replay.nodes.map((node) => [nameThen(node.name), node]))
  const isOther = (former: Node | undefined, node: Node | undefined) =>
    isOn(former) !== isOn(node) || isOn(former) && isOn(node) && former.type !== node.type
  const changed = [...new Set([...formers.keys(), ...today.keys()])].flatMap((name) => {
    const [former, node] = [formers.get(name), today.get(name)]
    const ran = isOn(former) && didRun(record.execution, name)
    const runs = isOn(node) && didRun(replay.execution, node.name)
    const isSubject = name !== starter && !isNote(former ?? node ?? { type: "" })
    return isSubject && isOther(former, node) && (ran || runs) ? [{ name, former, node, ran, runs }] : []
  })
  if (changed.length === 0) return []
  const find = yield* findAll(changed.flatMap(({ former }) => former?.type ?? []))
  const parse = yield* JavaScript.parser
  return changed.filter(({ former, node, ran, runs }) =>
    ran && isOn(former) && sends(find(former.type), former, parse) ||
    // A call of a workflow that only computes runs in the replay.
    runs && isOn(node) && (answers(node) || pinned.has(node.name))
  )
})

/** Differences of `senders` that are new, gone or replaced, and of sub-nodes, at `sent.Model.parameters.model`. */
export const unseenDifferences = Effect.fnUntraced(
  function*(options: SentOptions) {
    const { nameThen, pinned, record, redacts, replay } = options
    const { compare, into } = comparer(redacts)
    for (const node of pinned) {
      const former = nameThen(node)
      if (!replay.execution.runs.has(node) || !record.execution.runs.has(former)) continue
      const [before, after] = [subNodes(record, former), subNodes(replay, node)]
      if (before.length + after.length === 0) continue
      const find = yield* findAll([...before, ...after].map(({ type }) => type))
      const parse = yield* JavaScript.parser
      const settings = settingsOf(before, find, (name) => name)
      compare(node, settings, alignedCode(settingsOf(after, find, nameThen), settings, find, parse), "sent")
    }
    const replaced = yield* replacedSenders(options)
    for (const { former, name, node, ran, runs } of replaced) {
      const own = { node: node?.name ?? name, run: 0, digest: fingerprintOfText(name) }
      if (ran && runs && former !== undefined && node !== undefined) {
        into.note({ ...own, kind: "altered", path: "type", before: former.type, after: node.type })
      } else if (ran) {
        const before = counted(Execution.itemCount(record.execution.runs.get(name) ?? []), "item")
        into.note({ ...own, kind: "notRun", before, after: "did not run" })
      } else {
        into.note({ ...own, kind: "ran", before: "did not run", after: "ran" })
      }
    }
    return {
      differences: into.values() satisfies ReadonlyArray<Difference>,
      senders: new Set(replaced.map(({ name, node }) => node?.name ?? name)) as ReadonlySet<string>
    }
  }
)
