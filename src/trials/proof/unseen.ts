/**
 * Differences that no replayed item shows: sub-nodes of nodes that are not run, the trigger, removed nodes that sent
 * something, and new ones that would.
 */
import * as Effect from "effect/Effect"
import * as JavaScript from "../../base/JavaScript.ts"
import { equals, obj } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Redact from "../../base/Redact.ts"
import { findAll } from "../../catalogue/NodeCatalogue.ts"
import type * as NodeType from "../../catalogue/types/NodeType.ts"
import { reachesOutside } from "../../catalogue/types/Outside.ts"
import * as Execution from "../../executions/Execution.ts"
import * as ItemDifferences from "../../executions/ItemDifferences.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import type { Node } from "../../n8n/model/Workflow.ts"
import { withSubNodes } from "../flow.ts"
import { starterOf } from "../Replay.ts"
import * as fingerprint from "./fingerprint.ts"
import type { Options, Side } from "./sent.ts"
import { type Difference, tally } from "./tally.ts"

/** Sub-nodes of a node. */
const subNodes = ({ connections, nodes }: Side, name: string) => {
  const names = withSubNodes(Connections.links(connections), [name])
  return nodes.filter((node) => node.name !== name && names.has(node.name) && node.disabled !== true)
}

/** Settings of nodes by name, without parameters at their defaults, which n8n adds to records. */
export const settingsOf = (
  nodes: ReadonlyArray<Node>,
  find: (type: string) => NodeType.NodeType | undefined,
  nameOf: (name: string) => string
) =>
  Object.fromEntries(nodes.map(({ credentials = null, name, parameters, type, typeVersion = null }) => {
    const properties = find(type)?.descriptions.flatMap(({ properties }) => properties) ?? []
    const set = Object.entries(obj(parameters) ?? {}).filter(([key, value]) =>
      !properties.some((property) => property.name === key && equals(property.default, value))
    )
    return [nameOf(name), { type, typeVersion, credentials, parameters: Object.fromEntries(set) }]
  }))

/** Trigger before and after the change: how it is called, and how it answers. */
const triggers = ({ record, replay }: Options) => {
  const starter = starterOf(record.execution)
  const former = record.nodes.find(({ name }) => name === starter)
  const node = replay.nodes.find(({ name }) => name === starter) ??
    replay.nodes.find(({ id }) => id !== undefined && id === former?.id)
  return former === undefined || node === undefined ? undefined : { former, node }
}

/** Adds the differences of two settings of a node. */
const comparer = (redacts: boolean) => {
  const into = tally()
  const shown = (stored: unknown) => ({ stored, shown: redacts ? Redact.redact(stored) : stored })
  return {
    into,
    compare: (node: string, before: unknown, after: unknown, path: string) => {
      const all: Array<Parameters<typeof ItemDifferences.kindOf>[0]> = []
      ItemDifferences.differences(shown(before), shown(after), path, all)
      into.addItem({ node, run: 0, item: 0 }, all, (value) => fingerprint.of(value, []))
    }
  }
}

/** Differences of how the workflow is called and answers, at paths such as `parameters.path`. */
export const ofTrigger = Effect.fnUntraced(function*(options: Options) {
  const trigger = triggers(options)
  if (trigger === undefined) return []
  const { compare, into } = comparer(options.redacts)
  const { former, node } = trigger
  const find = yield* findAll([former.type, node.type])
  const settings = (each: Node) => settingsOf([each], find, () => node.name)[node.name]
  compare(node.name, settings(former), settings(node), "")
  return into.values()
})

/** Differences at paths such as `sent.Model.parameters.model`, and nodes that no longer run because they are gone. */
export const differences = Effect.fnUntraced(function*({ nameThen, pinned, record, redacts, replay }: Options) {
  const { compare, into } = comparer(redacts)
  for (const node of pinned) {
    const former = nameThen(node)
    if (!replay.execution.runs.has(node)) continue
    if (!record.nodes.some(({ name }) => name === former)) {
      const fresh = { path: "", before: "did not run", after: "ran", count: 1, digest: fingerprint.ofText(node) }
      into.add({ node, run: 0, kind: "ran", ...fresh })
    }
    if (!record.execution.runs.has(former)) continue
    const [before, after] = [subNodes(record, former), subNodes(replay, node)]
    if (before.length + after.length === 0) continue
    const find = yield* findAll([...before, ...after].map(({ type }) => type))
    compare(node, settingsOf(before, find, (name) => name), settingsOf(after, find, nameThen), "sent")
  }
  const starter = starterOf(record.execution)
  const present = new Set(replay.nodes.map(({ name }) => nameThen(name)))
  const removed = record.nodes.filter(({ name }) =>
    name !== starter && !present.has(name) &&
    record.execution.runs.get(name)?.some((run) => Execution.itemCount([run]) > 0) === true
  )
  const find = yield* findAll(removed.map(({ type }) => type))
  const parse = yield* JavaScript.parser
  for (const node of removed) {
    const { name } = node
    const runs = record.execution.runs.get(name) ?? []
    const isMain = runs.some(({ outputs }) => outputs.some(({ type }) => type === "main"))
    if (!isMain || !reachesOutside(find(node.type), node, parse)) continue
    const before = counted(Execution.itemCount(runs), "item")
    const none = { path: "", before, after: "did not run", count: 1, digest: fingerprint.ofText(name) }
    into.add({ node: name, run: 0, kind: "notRun", ...none })
  }
  return into.values() satisfies ReadonlyArray<Difference>
})
