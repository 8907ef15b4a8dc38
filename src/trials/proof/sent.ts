/** Differences that outputs do not show: of what nodes sent and would send, of the trigger, and of sub-nodes. */
import * as Effect from "effect/Effect"
import * as JavaScript from "../../base/JavaScript.ts"
import { equals, obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import { counted } from "../../base/Plural.ts"
import * as Redact from "../../base/Redact.ts"
import { findAll } from "../../catalogue/NodeCatalogue.ts"
import * as Sending from "../../catalogue/parameters/Sending.ts"
import type * as NodeType from "../../catalogue/types/NodeType.ts"
import { reachesOutside, respond } from "../../catalogue/types/Outside.ts"
import * as Execution from "../../executions/Execution.ts"
import * as ItemDifferences from "../../executions/ItemDifferences.ts"
import * as Sent from "../../executions/Sent.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import type { Node } from "../../n8n/model/Workflow.ts"
import { starterOf } from "../Replay.ts"
import { withSubNodes } from "../TestCopy.ts"
import { covers, type Difference, fingerprint, fingerprintOfText, type Ignored, tally } from "./differences.ts"

/** Execution, and the version that ran. */
export interface Side {
  readonly execution: Execution.Execution
  readonly nodes: ReadonlyArray<Node>
  readonly connections: unknown
}

export interface SentOptions {
  readonly record: Side
  readonly replay: Side
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
    const sends = pinned.has(node.name) || node.type === respond
    return former === undefined || !sends || isSame && isUnchanged(node, former) ? [] : [{ node, former }]
  })
  if (pairs.length === 0) return []
  const find = yield* findAll(pairs.flatMap(({ former, node }) => [node.type, former.type]))
  const all: Array<Difference> = []
  for (const { former, node } of pairs) {
    const [before, after] = [record.execution.runs.get(former.name) ?? [], replay.execution.runs.get(node.name) ?? []]
    const into = tally()
    const own = ignore.flatMap((each) => each.node === undefined || each.node === node.name ? [each.steps] : [])
    for (const [index, run] of after.entries()) {
      const runThen = before[index]
      if (runThen === undefined) break
      const sentBy = (side: Side, node: Node, run: Execution.Run) =>
        Sent.of(side.execution, {
          node,
          run,
          sending: Sending.of(find(node.type), node),
          limit: maxItems,
          redacts,
          isCopy: true
        })
      const differences = Sent.differences(yield* sentBy(record, former, runThen), yield* sentBy(replay, node, run))
      for (const { item, ...difference } of differences) {
        const path = difference.path === "" ? "sent" : `sent.${difference.path}`
        if ([difference.path, path].some((each) => covers(own, JsonPath.parse(each) ?? []))) continue
        into.addItem(
          { node: node.name, run: index, item },
          [{ ...difference, path }],
          (value) => fingerprint(value, [])
        )
      }
    }
    all.push(...into.values())
  }
  return all
})

const subNodes = ({ connections, nodes }: Side, name: string) => {
  const names = withSubNodes(Connections.links(connections), [name])
  return nodes.filter((node) => node.name !== name && names.has(node.name) && node.disabled !== true)
}

const settingsOf = (
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

const triggers = ({ record, replay }: SentOptions) => {
  const starter = starterOf(record.execution)
  const former = record.nodes.find(({ name }) => name === starter)
  const node = replay.nodes.find(({ name }) => name === starter) ??
    replay.nodes.find(({ id }) => id !== undefined && id === former?.id)
  return former === undefined || node === undefined ? undefined : { former, node }
}

const comparer = (redacts: boolean) => {
  const into = tally()
  const shown = (stored: unknown) => ({ stored, shown: redacts ? Redact.redact(stored) : stored })
  return {
    into,
    compare: (node: string, before: unknown, after: unknown, path: string) => {
      const all: Array<Parameters<typeof ItemDifferences.kindOf>[0]> = []
      ItemDifferences.differences(shown(before), shown(after), path, all)
      into.addItem({ node, run: 0, item: 0 }, all, (value) => fingerprint(value, []))
    }
  }
}

/** Differences of how the workflow is called and answers, at paths such as `parameters.path`. */
export const triggerDifferences = Effect.fnUntraced(function*(options: SentOptions) {
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
export const unseenDifferences = Effect.fnUntraced(
  function*({ nameThen, pinned, record, redacts, replay }: SentOptions) {
    const { compare, into } = comparer(redacts)
    for (const node of pinned) {
      const former = nameThen(node)
      if (!replay.execution.runs.has(node)) continue
      if (!record.nodes.some(({ name }) => name === former)) {
        const fresh = { path: "", before: "did not run", after: "ran", count: 1, digest: fingerprintOfText(node) }
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
      const none = { path: "", before, after: "did not run", count: 1, digest: fingerprintOfText(name) }
      into.add({ node: name, run: 0, kind: "notRun", ...none })
    }
    return into.values() satisfies ReadonlyArray<Difference>
  }
)
