/** Differences of what nodes sent and would send: nodes that reach outside, and those that answer the caller. */
import * as Effect from "effect/Effect"
import { equals } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import { findAll } from "../../catalogue/NodeCatalogue.ts"
import * as Sending from "../../catalogue/parameters/Sending.ts"
import { respond } from "../../catalogue/types/Outside.ts"
import type * as Execution from "../../executions/Execution.ts"
import * as Sent from "../../executions/Sent.ts"
import type { Node } from "../../n8n/model/Workflow.ts"
import * as fingerprint from "./fingerprint.ts"
import { covers, type Ignored } from "./ignored.ts"
import { type Difference, tally } from "./tally.ts"

/** Execution, and the version that ran. */
export interface Side {
  readonly execution: Execution.Execution
  readonly nodes: ReadonlyArray<Node>
  readonly connections: unknown
}

export interface Options {
  readonly record: Side
  readonly replay: Side
  /** Name that a node had in `record`. */
  readonly nameThen: (name: string) => string
  readonly pinned: ReadonlySet<string>
  readonly ignore: ReadonlyArray<Ignored>
  /** Whether all items are the same, so that unchanged nodes send the same. */
  readonly isSame: boolean
  readonly redacts: boolean
}

/** Maximum number of items of a run that are compared. */
const maxItems = 200

const isUnchanged = (one: Node, other: Node) =>
  one.type === other.type && one.typeVersion === other.typeVersion && equals(one.parameters, other.parameters) &&
  equals(one.credentials, other.credentials)

/** Compares what nodes sent then with what they would send now, at paths such as `sent.jsonBody.email`. */
export const differences = Effect.fnUntraced(function*(options: Options) {
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
          (value) => fingerprint.of(value, [])
        )
      }
    }
    all.push(...into.values())
  }
  return all
})
