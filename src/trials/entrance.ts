/** Entrance of a test copy: the nodes that receive the webhook call and turn it into the first items. */
import { type Obj, obj, str } from "../base/Json.ts"
import type { Node } from "../n8n/model/Workflow.ts"
import * as pins from "./pins.ts"
import * as TriggerItems from "./TriggerItems.ts"

/** Output of a node that does not run. */
export interface Earlier {
  readonly items: ReadonlyArray<unknown>
  /** Position of the item here from which each item of the start comes; by default, the same position. */
  readonly origins?: ReadonlyArray<number | undefined>
}

export interface Options {
  /** Node that receives the items first. */
  readonly start: Node
  readonly startsAtTrigger: boolean
  /** Leftmost position of the copied nodes. */
  readonly left: number
  /** Nodes before the start to which expressions refer, with their output. */
  readonly earlier: ReadonlyArray<readonly [Node, Earlier]>
  /** Items of the start node instead of test data. */
  readonly startItems: ReadonlyArray<unknown> | undefined
  readonly testData: unknown
  readonly pinnedItems: ReadonlyArray<unknown>
  readonly path: string
  readonly context: TriggerItems.TriggerContext
  /** Place where an added node reports the execution's id. */
  readonly reportsIdIn: "response" | "staticData" | undefined
  readonly added: pins.Added
}

/** Name of the added node that reports the execution's id. */
const idNodeName = "test_workflow id"

const idNodes = {
  response: {
    type: "n8n-nodes-base.respondToWebhook",
    typeVersion: 1.1,
    parameters: { respondWith: "text", responseBody: "={{ $execution.id }}" }
  },
  staticData: {
    type: "n8n-nodes-base.code",
    typeVersion: 2,
    parameters: { jsCode: "$getWorkflowStaticData('node').id = $execution.id\nreturn $input.all()" }
  }
}

/** Execution's id in the response of a copy that does not respond itself. */
export const idInResponse = (text: string): string | undefined => /^\d+$/.test(text) ? text : undefined

/** Execution's id in the static data of a copy that responds itself; set when the execution has ended or waits. */
export const idInStaticData = (staticData: unknown): string | undefined => {
  const key = Object.keys(obj(staticData) ?? {}).find((key) => key.startsWith(`node:${idNodeName}`))
  return key === undefined ? undefined : str(obj(obj(staticData)?.[key])?.["id"])
}

/** Position of the item from which the start's item at this position comes. */
const originOf = ({ items, origins }: Earlier, index: number): number | undefined => {
  if (origins !== undefined) return origins[index]
  if (index < items.length) return index
  return items.length === 1 ? 0 : undefined
}

/** Row of nodes with the output of earlier ones; n8n resolves `$('Name').item` by the links between items. */
const earlierNodes = (
  all: ReadonlyArray<readonly [Node, Earlier]>,
  startCount: number,
  added: pins.Added
): ReadonlyArray<Node> =>
  all.flatMap(([node, earlier], place) => {
    const before = all[place - 1]?.[1]
    const starts = new Map<number, number>()
    for (let index = startCount - 1; index >= 0; index--) {
      const origin = originOf(earlier, index)
      if (origin !== undefined) starts.set(origin, index)
    }
    return pins.linked(node, earlier.items, (index) => {
      const start = starts.get(index)
      return before === undefined || start === undefined ? undefined : originOf(before, start)
    }, added)
  })

const sentItems = (
  { context, pinnedItems, start, startItems, startsAtTrigger, testData }: Options
): ReadonlyArray<Obj> => {
  if (startItems !== undefined) return startItems.map((item) => obj(obj(item)?.["json"]) ?? {})
  if (pinnedItems.length > 0) return TriggerItems.fromTestData(pinnedItems)
  return startsAtTrigger ? TriggerItems.fromTrigger(start, testData, context) : TriggerItems.fromTestData(testData)
}

/** Nodes that emit the first items, the last of them as `entry`, and the items to send to the webhook. */
const firstItems = (entry: Pick<Node, "name" | "position">, options: Options) => {
  const { added, earlier, startItems, testData } = options
  const last = earlier.at(-1)?.[1]
  if (last !== undefined) {
    const items = startItems ?? TriggerItems.fromTestData(testData)
    const nodes = [
      ...earlierNodes(earlier, items.length, added),
      ...pins.linked(entry, items, (index) => originOf(last, index), added)
    ]
    return { nodes, sent: [] }
  }
  // A request contains no binary data.
  const isBinary = startItems?.some((item) => obj(item)?.["binary"] !== undefined) === true
  if (isBinary) return { nodes: pins.source(entry, startItems, added), sent: [] }
  const splitOut = { type: "n8n-nodes-base.splitOut", typeVersion: 1, parameters: { fieldToSplitOut: "body.items" } }
  return { nodes: [{ ...entry, ...splitOut }], sent: sentItems(options) }
}

/** Nodes that receive the call and turn it into the first items, and the items to send. */
export const make = (
  options: Options
): { readonly nodes: ReadonlyArray<Node>; readonly sent: ReadonlyArray<Obj> } => {
  const { added, left, path, reportsIdIn, start } = options
  const y = start.position?.[1] ?? 0
  const call: Node = {
    id: path,
    name: added.call,
    type: "n8n-nodes-base.webhook",
    typeVersion: 2,
    position: [left - 660, y],
    webhookId: path,
    parameters: { path, httpMethod: "POST", responseMode: "responseNode" }
  }
  const idNode = reportsIdIn === undefined
    ? []
    : [{ ...added("id", "-id"), position: [left - 440, y], ...idNodes[reportsIdIn] }]
  const { nodes, sent } = firstItems({ ...added("items", "-items"), position: [left - 220, y] }, options)
  return { nodes: [call, ...idNode, ...nodes], sent }
}
