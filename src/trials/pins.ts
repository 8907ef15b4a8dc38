/**
 * Nodes that give stored items instead of running.
 *
 * **Details**
 *
 * Production runs ignore pinned data, so a Code node of the same name returns the items. Where items leave by other
 * outputs than the first, a Switch node has the name, and the Code node stands before it.
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

const code = (node: Pick<Node, "id" | "name" | "position">, jsCode: string): Node => ({
  ...(node.id === undefined ? {} : { id: node.id }),
  name: node.name,
  type: "n8n-nodes-base.code",
  typeVersion: 2,
  position: node.position ?? [0, 0],
  parameters: { jsCode }
})

/** A node that returns these items, binary data included, once. */
export const source = (node: Pick<Node, "id" | "name" | "position">, items: ReadonlyArray<unknown>): Node =>
  code(node, returning([items.map(unlinked)], true))

/** A node that returns these items, each linked to the input item at its `origin`. */
export const linked = (
  node: Pick<Node, "id" | "name" | "position">,
  items: ReadonlyArray<unknown>,
  origin: (index: number) => number | undefined
): Node => code(node, returning([items.map((item, index) => ({ ...asItem(item), pairedItem: origin(index) }))], true))

/** The nodes that stand for a pinned one: itself, and the one before it where there is one. */
export const nodes = (
  node: Node,
  { repeats, runs }: Pin,
  before: Pick<Node, "id" | "name">
): { readonly node: Node; readonly before: Node | undefined } => {
  const outputs = Math.max(1, ...runs.map((run) => run.findLastIndex((items) => items.length > 0) + 1))
  const jsCode = returning(runs.map((run) => run.flat()), repeats)
  if (outputs === 1) return { node: code(node, jsCode), before: undefined }
  const table = JSON.stringify(runs.map((run) => run.flatMap((items, output) => items.map(() => output))))
  const [x = 0, y = 0] = node.position ?? []
  return {
    before: code({ ...before, position: [x - 110, y] }, jsCode),
    node: {
      ...(node.id === undefined ? {} : { id: node.id }),
      name: node.name,
      type: "n8n-nodes-base.switch",
      typeVersion: 3,
      position: [x, y],
      parameters: {
        mode: "expression",
        numberOutputs: outputs,
        // A constant pin has one run for all.
        output: `={{ ${table}[${repeats ? 0 : "$runIndex"}]?.[$itemIndex] ?? 0 }}`
      }
    }
  }
}
