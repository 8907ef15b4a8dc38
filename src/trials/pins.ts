/**
 * Nodes that return stored items instead of running. The items arrive with the request that starts the copy, so that
 * one copy serves many cases.
 *
 * Production runs ignore pinned data, so a Code node of the same name returns the items. On n8n 1.x, later nodes cannot
 * read the items of a Code node, so it precedes a Set node of that name, which copies them. If items leave by outputs
 * other than the first, a Switch node has the name and follows these.
 */
import { type Obj, obj, str } from "../base/Json.ts"
import type { Node } from "../n8n/model/Workflow.ts"
import * as TriggerItems from "./TriggerItems.ts"

export interface Pin {
  readonly runs: ReadonlyArray<ReadonlyArray<ReadonlyArray<unknown>>>
  /** Whether every run returns the first run's items; otherwise runs after the last return nothing. */
  readonly repeats: boolean
  /** Whether no items are stored: the node is omitted. */
  readonly isMissing: boolean
  readonly errors?: ReadonlyArray<string | undefined>
}

const unlinked = (value: unknown) => {
  const { pairedItem: _, ...item } = obj(value) ?? {}
  return item
}

/**
 * Pin with the same items in every run, at the first output, or, if `items` is a list of lists, at each output; links
 * to the input items of another run are dropped.
 */
export const constant = (items: ReadonlyArray<unknown>): Pin => ({
  runs: [(byOutput(items) ?? [items]).map((output) => output.map(unlinked))],
  repeats: true,
  isMissing: false
})

const byOutput = (items: ReadonlyArray<unknown>): ReadonlyArray<ReadonlyArray<unknown>> | undefined =>
  items.length > 0 && items.every((each) => Array.isArray(each)) ? items : undefined

/** Whether the values can be pinned: items (plain objects too), or a list of these for each output. */
export const arePinnable = (items: ReadonlyArray<unknown>): boolean =>
  (byOutput(items) ?? [items]).flat().every((item) => obj(item) !== undefined)

export const missing: Pin = { runs: [], repeats: false, isMissing: true }

const asItem = (value: unknown) => {
  const item = obj(value) ?? {}
  const { binary, json, pairedItem } = item
  const isItem = obj(json) !== undefined
  return {
    json: obj(json) ?? item,
    ...(isItem && binary !== undefined ? { binary } : {}),
    ...(isItem && pairedItem !== undefined ? { pairedItem } : {})
  }
}

type Place = Pick<Node, "id" | "name"> & { readonly position?: Node["position"] }

/** Naming of an added node by its role. */
export type Naming = (role: string, end?: string) => { readonly id: string; readonly name: string }

/** Way to add nodes to a copy. */
export interface Added extends Naming {
  /** Whether another node must copy the items of Code nodes, because n8n 1.x cannot read them later. */
  readonly isCopied: boolean
  readonly call: string
  readonly carry: (data: Carried) => number
}

/** Data of a pinned node in the request. Items are JSON text: n8n never sees a key such as `__proto__`. */
export interface Carried {
  readonly pin: string
  readonly outputs: ReadonlyArray<ReadonlyArray<number>>
}

const carried = ({ errors, repeats, runs }: Pin): Carried => ({
  pin: JSON.stringify({ runs: runs.map((run) => run.flat().map(asItem)), repeats, errors }),
  // n8n does not run a Switch node without items.
  outputs: runs.map((run) => run.flatMap((items, output) => items.map(() => output))).filter((run) => run.length > 0)
})

const placed = ({ id, name, position }: Place) => ({
  ...(id === undefined ? {} : { id }),
  name,
  position: position ?? [0, 0]
})

/** Code node that returns the items at a position of the request, linked only to input items that exist. */
const codeNode = (node: Place, call: string, index: number): Node => ({
  ...placed(node),
  type: "n8n-nodes-base.code",
  typeVersion: 2,
  parameters: {
    jsCode: [
      `const { errors, repeats, runs } = JSON.parse($(${JSON.stringify(call)}).first().json.body.pins[${index}].pin)`,
      "const message = errors?.[$runIndex]",
      "if (message) throw new Error(message)",
      "const count = $input.all().length",
      "const exists = (link) => (typeof link === 'number' ? link : link?.item) < count && !link?.input",
      "return (runs[repeats ? 0 : $runIndex] ?? []).map(({ pairedItem, ...item }) =>",
      "  exists(pairedItem) ? { ...item, pairedItem } : item)"
    ].join("\n")
  }
})

/** Set node that returns its input items, whose items n8n 1.x lets later nodes read. */
export const copying = {
  type: "n8n-nodes-base.set",
  typeVersion: 3.4,
  parameters: {
    mode: "manual",
    includeOtherFields: true,
    include: "all",
    assignments: { assignments: [] },
    options: {}
  }
}

/**
 * Row of nodes with a Code node that returns the items; the last has the name. They share one position, by which n8n
 * orders branches.
 */
const returningNodes = (node: Place, index: number, added: Added): ReadonlyArray<Node> => {
  if (!added.isCopied) return [codeNode(node, added.call, index)]
  return [
    codeNode({ ...added(`pin ${node.name}`), position: node.position }, added.call, index),
    { ...placed(node), ...copying }
  ]
}

/** Nodes that return these items, including binary data. */
export const source = (node: Place, items: ReadonlyArray<unknown>, added: Added): ReadonlyArray<Node> =>
  returningNodes(node, added.carry(carried(constant(items))), added)

/** Nodes that return these items, each linked to the input item at its `origin`. */
const linked = (
  node: Place,
  items: ReadonlyArray<unknown>,
  origin: (index: number) => number | undefined,
  added: Added
): ReadonlyArray<Node> => {
  const run = items.map((item, index) => ({ ...asItem(item), pairedItem: origin(index) }))
  return returningNodes(node, added.carry(carried({ runs: [[run]], repeats: true, isMissing: false })), added)
}

/** Row of nodes that replaces a pinned one with at least this many linked outputs; the last has its name. */
export const nodes = (node: Node, pin: Pin, linkedOutputs: number, added: Added): ReadonlyArray<Node> => {
  const { repeats, runs } = pin
  const index = added.carry(carried(pin))
  // A node without items also runs, a failing one fails under its own name, and later ones have nothing to read.
  if (runs.every((run) => run.flat().length === 0)) return [codeNode(node, added.call, index)]
  const outputs = Math.max(linkedOutputs, ...runs.map((run) => run.findLastIndex((items) => items.length > 0) + 1))
  if (outputs <= 1) return returningNodes(node, index, added)
  const table = `$(${JSON.stringify(added.call)}).first().json.body.pins[${index}].outputs`
  return [
    ...returningNodes({ ...added(`pin ${node.name}`), position: node.position }, index, added),
    {
      ...placed(node),
      type: "n8n-nodes-base.switch",
      typeVersion: 3,
      parameters: {
        mode: "expression",
        numberOutputs: outputs,
        // A constant pin has the same run every time. n8n's expressions do not take `?.[…]`.
        output: `={{ (${table}[${repeats ? 0 : "$runIndex"}] || [])[$itemIndex] || 0 }}`
      }
    }
  ]
}

/** Output of a node that does not run. */
export interface Earlier {
  readonly items: ReadonlyArray<unknown>
  /** Position of the item here from which each item of the start comes; by default, the same position. */
  readonly origins?: ReadonlyArray<number | undefined>
}

export interface EntranceOptions {
  readonly start: Node
  readonly startsAtTrigger: boolean
  readonly left: number
  readonly earlier: ReadonlyArray<readonly [Node, Earlier]>
  /** Items of the start node instead of test data. */
  readonly startItems: ReadonlyArray<unknown> | undefined
  readonly testData: unknown
  readonly pinnedItems: ReadonlyArray<unknown>
  readonly path: string
  readonly context: TriggerItems.TriggerContext
  /** Place where an added node reports the execution's id. */
  readonly reportsIdIn: "response" | "staticData" | undefined
  readonly added: Added
}

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

const originOf = ({ items, origins }: Earlier, index: number): number | undefined => {
  if (origins !== undefined) return origins[index]
  if (index < items.length) return index
  return items.length === 1 ? 0 : undefined
}

const earlierNodes = (
  all: ReadonlyArray<readonly [Node, Earlier]>,
  startCount: number,
  added: Added
): ReadonlyArray<Node> =>
  all.flatMap(([node, earlier], place) => {
    const before = all[place - 1]?.[1]
    const starts = new Map<number, number>()
    for (let index = startCount - 1; index >= 0; index--) {
      const origin = originOf(earlier, index)
      if (origin !== undefined) starts.set(origin, index)
    }
    return linked(node, earlier.items, (index) => {
      const start = starts.get(index)
      return before === undefined || start === undefined ? undefined : originOf(before, start)
    }, added)
  })

const sentItems = (
  { context, pinnedItems, start, startItems, startsAtTrigger, testData }: EntranceOptions
): ReadonlyArray<Obj> => {
  if (startItems !== undefined) return startItems.map((item) => obj(obj(item)?.["json"]) ?? {})
  if (pinnedItems.length > 0) return TriggerItems.fromTestData(pinnedItems)
  return startsAtTrigger ? TriggerItems.fromTrigger(start, testData, context) : TriggerItems.fromTestData(testData)
}

const firstItems = (entry: Pick<Node, "name" | "position">, options: EntranceOptions) => {
  const { added, earlier, startItems, testData } = options
  const last = earlier.at(-1)?.[1]
  if (last !== undefined) {
    const items = startItems ?? TriggerItems.fromTestData(testData)
    const nodes = [
      ...earlierNodes(earlier, items.length, added),
      ...linked(entry, items, (index) => originOf(last, index), added)
    ]
    return { nodes, sent: [] }
  }
  // A request contains no binary data.
  const isBinary = startItems?.some((item) => obj(item)?.["binary"] !== undefined) === true
  if (isBinary) return { nodes: source(entry, startItems, added), sent: [] }
  const splitOut = { type: "n8n-nodes-base.splitOut", typeVersion: 1, parameters: { fieldToSplitOut: "body.items" } }
  return { nodes: [{ ...entry, ...splitOut }], sent: sentItems(options) }
}

/** Nodes that receive the call and turn it into the first items, and the items to send. */
export const entrance = (
  options: EntranceOptions
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
