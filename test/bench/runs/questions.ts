/** Questions about executions: as a tool's call, and as the plain way answers them. */
import type { Size } from "./orders.ts"

/** Sizes of the executions: 66 MB, and 1 MB. */
export const large: Size = { nodes: 14, items: 3_600 }
export const many: Size = { nodes: 4, items: 191 }
export const runCount = 100

/** Connections over which executions are read. */
export const connections = 4

/** Executions on n8n: the large one, and the workflow of the others. */
export interface Place {
  readonly id: string
  readonly workflowId: string
}

export interface Question {
  readonly name: string
  readonly tool: string
  readonly args: (place: Place) => Readonly<Record<string, unknown>>
  /** Contained in every correct answer. */
  readonly expect: string
}

const text = "passengers"
const last = { last: runCount }
const limit = { limit: runCount }

const one: ReadonlyArray<Question> = [
  { name: "summary", tool: "get_execution", args: ({ id }) => ({ id }), expect: "Step 13" },
  {
    name: "items of a late node",
    tool: "get_execution_by_node",
    args: ({ id }) => ({ id, nodeName: "Step 13", itemOffset: 3_000, itemLimit: 20 }),
    expect: "cus_3000"
  },
  {
    name: "text, rare",
    tool: "search_execution",
    args: ({ id }) => ({ id, text: "cus_2999" }),
    expect: "\"matched\":14"
  },
  { name: "text, everywhere", tool: "search_execution", args: ({ id }) => ({ id, text }), expect: "\"matched\":50400" },
  {
    name: "where, numbers",
    tool: "search_execution",
    args: ({ id }) => ({ id, where: "amount > 4900 && lines.length === 5" }),
    expect: "\"matched\":4718"
  },
  {
    name: "where, strings",
    tool: "search_execution",
    args: ({ id }) => ({ id, where: "customer.email.startsWith('user32') && customer.name === 'Sam Field'" }),
    expect: "\"matched\":1092"
  },
  {
    name: "two nodes compared",
    tool: "compare_items",
    args: ({ id }) => ({ id, from: "Step 0", to: "Step 13" }),
    expect: "\"altered\":3600"
  }
]

const several: ReadonlyArray<Question> = [
  {
    name: "text",
    tool: "search_execution",
    args: ({ workflowId }) => ({ workflowId, ...last, text: "cus_149" }),
    expect: "\"matched\":400"
  },
  {
    name: "where",
    tool: "search_execution",
    args: ({ workflowId }) => ({ workflowId, ...last, where: "amount > 250 && customer.id.endsWith('9')" }),
    expect: "\"matched\":1200"
  },
  {
    name: "groups by failure",
    tool: "list_executions",
    args: ({ workflowId }) => ({ workflowId, ...limit, groupBy: "failure" }),
    expect: "has no address"
  },
  {
    name: "groups by node",
    tool: "list_executions",
    args: ({ workflowId }) => ({ workflowId, ...limit, groupBy: "node" }),
    expect: "Step 3"
  },
  {
    name: "groups by version",
    tool: "list_executions",
    args: ({ workflowId }) => ({ workflowId, ...limit, groupBy: "version" }),
    expect: `"scanned":${runCount}`
  }
]

/** All questions, by what they are about. */
export const all = { "66 MB": one, [`${runCount} × 1 MB`]: several }
