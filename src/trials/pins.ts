/**
 * Nodes that return stored items instead of running.
 *
 * Production runs ignore pinned data, so a Code node of the same name returns the items. On n8n 1.x, later nodes cannot
 * read the items of a Code node, so it precedes a Set node of that name, which copies them. If items leave by outputs
 * other than the first, a Switch node has the name and follows these.
 */
import { obj } from "../base/Json.ts"
import type { Node } from "../n8n/model/Workflow.ts"

export interface Pin {
  /** Items by run and main output. */
  readonly runs: ReadonlyArray<ReadonlyArray<ReadonlyArray<unknown>>>
  /** Whether every run returns the first run's items; otherwise runs after the last return nothing. */
  readonly repeats: boolean
  /** Whether no items are stored: the node is omitted. */
  readonly isMissing: boolean
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

/** Value as JavaScript; in an object literal, `__proto__` would set the prototype. */
const literal = (value: unknown) => {
  const json = JSON.stringify(value)
  return json.includes("__proto__") ? `JSON.parse(${JSON.stringify(json)})` : json
}

/** JavaScript that returns these items, linked only to input items that exist. */
const returning = (runs: ReadonlyArray<ReadonlyArray<unknown>>, repeats: boolean) => {
  const items = runs.map((run) => run.map(asItem))
  const isLinked = items.flat().some(({ pairedItem }) => pairedItem !== undefined)
  const chosen = repeats ? literal(items[0] ?? []) : `(${literal(items)}[$runIndex] ?? [])`
  if (!isLinked) return `return ${chosen}`
  return [
    "const count = $input.all().length",
    "const exists = (link) => (typeof link === 'number' ? link : link?.item) < count && !link?.input",
    `return ${chosen}.map(({ pairedItem, ...item }) => exists(pairedItem) ? { ...item, pairedItem } : item)`
  ].join("\n")
}

type Place = Pick<Node, "id" | "name"> & { readonly position?: Node["position"] }

/** Naming of an added node by its role. */
export type Naming = (role: string, end?: string) => { readonly id: string; readonly name: string }

/** Way to add nodes to a copy. */
export interface Added extends Naming {
  /** Whether another node must copy the items of Code nodes, because n8n 1.x cannot read them later. */
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

/**
 * Row of nodes with a Code node that returns the items; the last has the name. They share one position, by which n8n
 * orders branches.
 */
const returningNodes = (node: Place, jsCode: string, added: Added): ReadonlyArray<Node> => {
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

/** Nodes that return these items, including binary data. */
export const source = (node: Place, items: ReadonlyArray<unknown>, added: Added): ReadonlyArray<Node> =>
  returningNodes(node, returning([items.map(unlinked)], true), added)

/** Nodes that return these items, each linked to the input item at its `origin`. */
export const linked = (
  node: Place,
  items: ReadonlyArray<unknown>,
  origin: (index: number) => number | undefined,
  added: Added
): ReadonlyArray<Node> =>
  returningNodes(
    node,
    returning([items.map((item, index) => ({ ...asItem(item), pairedItem: origin(index) }))], true),
    added
  )

/** Row of nodes that replaces a pinned one; the last has its name. */
export const nodes = (node: Node, { repeats, runs }: Pin, added: Added): ReadonlyArray<Node> => {
  const outputs = Math.max(1, ...runs.map((run) => run.findLastIndex((items) => items.length > 0) + 1))
  const jsCode = returning(runs.map((run) => run.flat()), repeats)
  // A node without items also runs, and later ones have nothing to read.
  const isEmpty = runs.every((run) => run.flat().length === 0)
  if (isEmpty) return [codeNode(node, jsCode)]
  if (outputs === 1) return returningNodes(node, jsCode, added)
  // n8n does not run a Switch node without items.
  const table = JSON.stringify(
    runs.map((run) => run.flatMap((items, output) => items.map(() => output))).filter((run) => run.length > 0)
  )
  return [
    ...returningNodes({ ...added(`pin ${node.name}`), position: node.position }, jsCode, added),
    {
      ...placed(node),
      type: "n8n-nodes-base.switch",
      typeVersion: 3,
      parameters: {
        mode: "expression",
        numberOutputs: outputs,
        // A constant pin has the same run every time.
        output: `={{ ${table}[${repeats ? 0 : "$runIndex"}]?.[$itemIndex] ?? 0 }}`
      }
    }
  ]
}
