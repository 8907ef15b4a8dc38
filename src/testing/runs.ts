/** Executions with run data as n8n 2.x returns them, built from a workflow. */
import { type Obj, obj, str } from "../base/Json.ts"
import * as Connections from "../n8n/model/Connections.ts"
import type * as N8nApi from "./n8nApi/N8nApi.ts"

/** Execution to build. */
export interface Built {
  readonly workflow: N8nApi.Workflow
  /** Default: the next free one. */
  readonly id?: string
  /** ISO 8601. Default: now. */
  readonly startedAt?: string
  /** Items of each node's first output, as their `json`. Default: one empty item. */
  readonly items?: { readonly [node: string]: ReadonlyArray<Obj> }
}

/** Failed execution to build. */
export interface Failed extends Built {
  readonly node: string
  readonly message: string
  readonly description?: string
}

const nodesOf = ({ nodes }: N8nApi.Workflow) => (Array.isArray(nodes) ? nodes : []).map((node) => obj(node) ?? {})

const sources = (workflow: N8nApi.Workflow) =>
  Map.groupBy(Connections.links(workflow["connections"]).filter(({ input }) => input.type === "main"), ({ to }) => to)

/** Nodes on the shortest path from a trigger to a node, or to the end of the first path. */
const pathTo = (workflow: N8nApi.Workflow, target: string | undefined): ReadonlyArray<string> => {
  const into = sources(workflow)
  const all = nodesOf(workflow).map((node) => str(node["name"]) ?? "")
  const starts = all.filter((name) => !into.has(name))
  const ways = starts.map((start) => [start])
  const seen = new Set(starts)
  let last: ReadonlyArray<string> = ways[0] ?? []
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    const here = way.at(-1) ?? ""
    if (here === target) return way
    if (way.length > last.length) last = way
    for (const name of all) {
      if (!seen.has(name) && into.get(name)?.some(({ from }) => from === here) === true) {
        seen.add(name)
        ways.push([...way, name])
      }
    }
  }
  if (target !== undefined) throw new Error(`No path leads to a node '${target}' of workflow '${workflow.name}'`)
  return last
}

const withPairs = (items: ReadonlyArray<Obj>) => items.map((json) => ({ json, pairedItem: { item: 0 } }))

const build = (
  { id, items = {}, startedAt, workflow }: Built,
  failure: { readonly node: string; readonly error: Obj } | undefined
): N8nApi.NewExecution => {
  const way = pathTo(workflow, failure?.node)
  const into = sources(workflow)
  const start = startedAt === undefined ? 0 : Date.parse(startedAt)
  const source = (at: number) => {
    const previousNode = way[at - 1]
    const link = into.get(way[at] ?? "")?.find(({ from }) => from === previousNode)
    return link === undefined ? [] : [{ previousNode, previousNodeOutput: link.output.index, previousNodeRun: 0 }]
  }
  /** A node's data, with its items at the output that leads on. */
  const dataOf = (at: number) => {
    const output = into.get(way[at + 1] ?? "")?.find(({ from }) => from === way[at])?.output.index ?? 0
    const own = withPairs(items[way[at] ?? ""] ?? [{}])
    return { main: [...Array.from({ length: output }, () => []), own] }
  }
  const runData = Object.fromEntries(way.map((name, at) => [name, [{
    startTime: start + at * 10,
    executionIndex: at,
    source: source(at),
    hints: [],
    executionTime: 5,
    ...(name === failure?.node
      ? { executionStatus: "error", error: failure.error }
      : { executionStatus: "success", data: dataOf(at) })
  }]]))
  const last = nodesOf(workflow).find(({ name }) => name === way.at(-1))
  const stack = failure === undefined ? [] : [{
    node: last,
    data: { main: [way.length > 1 ? withPairs(items[way.at(-2) ?? ""] ?? [{}]) : [{ json: {} }]] },
    source: way.length > 1 ? { main: source(way.length - 1) } : null
  }]
  return {
    ...(id === undefined ? {} : { id }),
    ...(startedAt === undefined ? {} : {
      startedAt,
      createdAt: startedAt,
      stoppedAt: new Date(start + way.length * 10).toISOString()
    }),
    finished: failure === undefined,
    mode: "trigger",
    retryOf: null,
    retrySuccessId: null,
    status: failure === undefined ? "success" : "error",
    workflowId: workflow.id,
    waitTill: null,
    data: {
      version: 1,
      startData: {},
      resultData: { ...(failure === undefined ? {} : { error: failure.error }), runData, lastNodeExecuted: way.at(-1) },
      executionData: {
        contextData: {},
        nodeExecutionStack: stack,
        metadata: {},
        waitingExecution: {},
        waitingExecutionSource: {}
      }
    },
    customData: {},
    workflowData: {
      id: workflow.id,
      name: workflow.name,
      nodes: workflow["nodes"] ?? [],
      connections: workflow["connections"] ?? {},
      settings: workflow["settings"] ?? {}
    }
  }
}

/** Execution that failed at a node, after the nodes before it succeeded; throws if no path leads there. */
export const failedExecution = ({ description, message, node, ...built }: Failed): N8nApi.NewExecution => {
  const failing = nodesOf(built.workflow).find(({ name }) => name === node)
  return build(built, {
    node,
    error: {
      level: "error",
      tags: {},
      description: description ?? null,
      name: "NodeOperationError",
      message,
      node: failing,
      stack: `NodeOperationError: ${message}`
    }
  })
}

/** Successful execution along the first path through the workflow. */
export const succeededExecution = (built: Built): N8nApi.NewExecution => build(built, undefined)
