/**
 * Nodes that give stored items instead of running.
 *
 * **Details**
 *
 * Production runs ignore pinned data, so a Code node of the same name returns the items. On n8n 1.x, whose Code nodes
 * give items that no later one can read, the Code node stands before a Set node of that name, which copies them. Where
 * items leave by other outputs than the first, a Switch node has the name, and these stand before it.
 */
import { obj } from "../base/Json.ts"
import type { Node } from "../n8n/model/Workflow.ts"

/** What a node gives. */
export interface Pin {
  /** Items by run and main output. */
  readonly runs: ReadonlyArray<ReadonlyArray<ReadonlyArray<unknown>>>
  /** Whether it gives the first run's items in every run; else nothing beyond the last. */
  readonly repeats: boolean
  /** Whether there is nothing to give: the node is left out. */
  readonly isMissing: boolean
}

const unlinked = (value: unknown) => {
  const { pairedItem: _, ...item } = obj(value) ?? {}
  return item
}

/**
 * The same items in every run, by the first output, or where `items` is a list of lists, each of these by its output;
 * the links to input items were those of another run.
 */
export const constant = (items: ReadonlyArray<unknown>): Pin => ({
  runs: [(byOutput(items) ?? [items]).map((output) => output.map(unlinked))],
  repeats: true,
  isMissing: false
})

const byOutput = (items: ReadonlyArray<unknown>): ReadonlyArray<ReadonlyArray<unknown>> | undefined =>
  items.length > 0 && items.every((each) => Array.isArray(each)) ? items : undefined

/** Whether the values can be pinned: items (plain objects too), or of each output a list of these. */
export const arePinnable = (items: ReadonlyArray<unknown>): boolean =>
  (byOutput(items) ?? [items]).flat().every((item) => obj(item) !== undefined)

/** Nothing, because there is nothing stored. */
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

/** The value as JavaScript; a key `__proto__` in an object literal would be no key. */
const literal = (value: unknown) => {
  const json = JSON.stringify(value)
  return json.includes("__proto__") ? `JSON.parse(${JSON.stringify(json)})` : json
}

/** JavaScript that returns these items, of each the link to an input item only where there is such a one. */
const returning = (runs: ReadonlyArray<ReadonlyArray<unknown>>, repeats: boolean) => {
  const items = runs.map((run) => run.map(asItem))
  const isLinked = items.flat().some(({ pairedItem }) => pairedItem !== undefined)
  const chosen = repeats ? literal(items[0] ?? []) : `(${literal(items)}[$runIndex] ?? [])`
  if (!isLinked) return `return ${chosen}`
  return [
    "const count = $input.all().length",
    "const isThere = (link) => (typeof link === 'number' ? link : link?.item) < count && !link?.input",
    `return ${chosen}.map(({ pairedItem, ...item }) => isThere(pairedItem) ? { ...item, pairedItem } : item)`
  ].join("\n")
}

type Place = Pick<Node, "id" | "name"> & { readonly position?: Node["position"] }

/** Names an added node by its role, within the copy's own ids. */
export type Naming = (role: string, end?: string) => { readonly id: string; readonly name: string }

/** How nodes are added to a copy. */
export interface Added extends Naming {
  /** Whether items of Code nodes have to be copied by another node, because n8n 1.x cannot read them later. */
  readonly isCopied: boolean
}

const placed = ({ id, name, position }: Place) => ({
  ...(id === undefined ? {} : { id }),
  name,
  position: position ?? [0, 0]
})

const codeNode = (node: Place, jsCode: string): Node => ({
  ...placed(node),
  type: "n8n-nodes-base.code",
  typeVersion: 2,
  parameters: { jsCode }
})

/** Nodes in a row, at one place as n8n runs branches by place, of which the last has the name; a Code node returns the items. */
const giving = (node: Place, jsCode: string, added: Added): ReadonlyArray<Node> => {
  if (!added.isCopied) return [codeNode(node, jsCode)]
  return [
    codeNode({ ...added(`pin ${node.name}`), position: node.position }, jsCode),
    {
      ...placed(node),
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
  ]
}

/** Nodes that return these items, binary data included, once. */
export const source = (node: Place, items: ReadonlyArray<unknown>, added: Added): ReadonlyArray<Node> =>
  giving(node, returning([items.map(unlinked)], true), added)

/** Nodes that return these items, each linked to the input item at its `origin`. */
export const linked = (
  node: Place,
  items: ReadonlyArray<unknown>,
  origin: (index: number) => number | undefined,
  added: Added
): ReadonlyArray<Node> =>
  giving(node, returning([items.map((item, index) => ({ ...asItem(item), pairedItem: origin(index) }))], true), added)

/** The nodes in a row that stand for a pinned one; the last has its name. */
export const nodes = (node: Node, { repeats, runs }: Pin, added: Added): ReadonlyArray<Node> => {
  const outputs = Math.max(1, ...runs.map((run) => run.findLastIndex((items) => items.length > 0) + 1))
  const jsCode = returning(runs.map((run) => run.flat()), repeats)
  // A node that gives nothing runs too, and has no items to read.
  const isEmpty = runs.every((run) => run.flat().length === 0)
  if (isEmpty) return [codeNode(node, jsCode)]
  if (outputs === 1) return giving(node, jsCode, added)
  // n8n does not run a Switch node without items.
  const table = JSON.stringify(
    runs.map((run) => run.flatMap((items, output) => items.map(() => output))).filter((run) => run.length > 0)
  )
  return [
    ...giving({ ...added(`pin ${node.name}`), position: node.position }, jsCode, added),
    {
      ...placed(node),
      type: "n8n-nodes-base.switch",
      typeVersion: 3,
      parameters: {
        mode: "expression",
        numberOutputs: outputs,
        // A constant pin has one run for all.
        output: `={{ ${table}[${repeats ? 0 : "$runIndex"}]?.[$itemIndex] ?? 0 }}`
      }
    }
  ]
}
