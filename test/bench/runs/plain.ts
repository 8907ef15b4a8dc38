/**
 * The plain way to answer the questions, as a script would: download over the same number of connections, `JSON.parse`,
 * and a look at each item. Speaks as much of the protocol as the bench needs.
 */
import { createInterface } from "node:readline"
import { connections } from "./questions.ts"

interface Item {
  readonly json: Readonly<Record<string, unknown>>
}

interface NodeRun {
  readonly executionTime: number
  readonly executionStatus: string
  readonly data?: { readonly main: ReadonlyArray<ReadonlyArray<Item>> }
}

interface Execution {
  readonly id: string
  readonly status: string
  readonly workflowVersionId?: string
  readonly data: {
    readonly resultData: {
      readonly error?: { readonly message: string }
      readonly runData: Readonly<Record<string, ReadonlyArray<NodeRun>>>
    }
  }
}

/** Arguments as the tools take them, each in a tool that has it. */
interface Args {
  readonly id: string
  readonly workflowId: string
  readonly last: number
  readonly limit: number
  readonly text: string
  readonly where?: string
  readonly from: string
  readonly to: string
  readonly nodeName: string
  readonly itemOffset: number
  readonly itemLimit: number
  readonly groupBy: string
}

const get = async (path: string) => {
  const response = await fetch(new URL(`api/v1/${path}`, process.env["N8N_URL"]), {
    headers: { "x-n8n-api-key": process.env["N8N_API_KEY"] ?? "" }
  })
  return await response.json()
}

const read = async (id: string): Promise<Execution> => await get(`executions/${id}?includeData=true`)

/** What is read of each run of a workflow; only that is retained. */
const readAll = async <A>(query: string, of: (execution: Execution) => A): Promise<ReadonlyArray<A>> => {
  const { data } = await get(`executions?${query}`) as { readonly data: ReadonlyArray<{ readonly id: string }> }
  const results: Array<A> = []
  const waiting = [...data.entries()]
  await Promise.all(Array.from({ length: connections }, async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      results[next[0]] = of(await read(next[1].id))
    }
  }))
  return results
}

function* itemsOf({ data: { resultData: { runData } } }: Execution) {
  for (const [node, runs] of Object.entries(runData)) {
    for (const { data } of runs) for (const items of data?.main ?? []) for (const item of items) yield { node, item }
  }
}

const holds = (value: unknown, text: string): boolean =>
  typeof value === "object" && value !== null
    ? Object.entries(value).some(([key, inner]) => key.toLowerCase().includes(text) || holds(inner, text))
    : String(value).toLowerCase().includes(text)

const conditionOf = ({ text, where }: Pick<Args, "text" | "where">): (item: Item["json"]) => boolean => {
  if (where === undefined) return (json) => holds(json, text)
  const condition = new Function("$json", `with ($json) return ${where}`) as (json: Item["json"]) => boolean
  return (json) => {
    try {
      return condition(json)
    } catch {
      return false
    }
  }
}

const matchesIn = (execution: Execution, condition: ReturnType<typeof conditionOf>) => {
  const first: Array<Item> = []
  let matched = 0
  for (const { item } of itemsOf(execution)) {
    if (condition(item.json) && matched++ < 10) first.push(item)
  }
  return { matched, first }
}

const nodesOf = ({ data: { resultData: { runData } } }: Execution) =>
  Object.entries(runData).map(([node, runs]) => ({
    node,
    status: runs.at(-1)?.executionStatus,
    millis: runs.reduce((sum, { executionTime }) => sum + executionTime, 0),
    items: runs.flatMap(({ data }) => data?.main ?? []).reduce((sum, { length }) => sum + length, 0)
  }))

const outputOf = ({ data: { resultData: { runData } } }: Execution, node: string) =>
  runData[node]?.at(-1)?.data?.main[0] ?? []

const differences = (before: unknown, after: unknown, path: string): ReadonlyArray<string> => {
  if (typeof before !== "object" || typeof after !== "object" || before === null || after === null) {
    return before === after ? [] : [path]
  }
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].flatMap((key) => differences(before[key as never], after[key as never], `${path}.${key}`))
}

const counted = (keys: ReadonlyArray<string>) =>
  Object.fromEntries([...Map.groupBy(keys, (key) => key)].map(([key, all]) => [key, all.length]))

const tools: Readonly<Record<string, (args: Args) => Promise<unknown>>> = {
  list_workflows: () => get("workflows?limit=1"),
  get_execution: async ({ id }) => nodesOf(await read(id)),
  get_execution_by_node: async ({ id, itemLimit, itemOffset, nodeName }) =>
    outputOf(await read(id), nodeName).slice(itemOffset, itemOffset + itemLimit),
  compare_items: async ({ from, id, to }) => {
    const execution = await read(id)
    const after = outputOf(execution, to)
    const paths = outputOf(execution, from).map(({ json }, index) => differences(json, after[index]?.json, ""))
    return { altered: paths.filter(({ length }) => length > 0).length, paths: counted(paths.flat()) }
  },
  search_execution: async ({ id, last, workflowId, ...condition }: Partial<Args> & Args) => {
    if (workflowId === undefined) return matchesIn(await read(id), conditionOf(condition))
    const all = await readAll(
      `limit=${last}&workflowId=${workflowId}`,
      (execution) => matchesIn(execution, conditionOf(condition))
    )
    return {
      matched: all.reduce((sum, { matched }) => sum + matched, 0),
      first: all.flatMap(({ first }) => first).slice(0, 10)
    }
  },
  list_executions: async ({ groupBy, limit, workflowId }) => {
    const query = `limit=${limit}&workflowId=${workflowId}`
    if (groupBy === "failure") {
      const messages = await readAll(`${query}&status=error`, ({ data }) => data.resultData.error?.message ?? "")
      return counted(messages.map((message) => message.replace(/\d+/g, "…")))
    }
    if (groupBy === "version") {
      const versions = await readAll(query, ({ workflowVersionId = "" }) => workflowVersionId)
      return { scanned: versions.length, groups: counted(versions) }
    }
    const rows = (await readAll(query, nodesOf)).flat()
    return [...Map.groupBy(rows, ({ node }) => node)].map(([node, all]) => ({
      node,
      runs: all.length,
      millis: all.map(({ millis }) => millis).toSorted((a, b) => a - b),
      items: all.map(({ items }) => items).toSorted((a, b) => a - b)
    }))
  }
}

const answer = async ({ arguments: args, name }: { readonly arguments: Args; readonly name: string }) => {
  const text = await tools[name]?.(args)
  return { content: [{ type: "text", text: JSON.stringify({ success: true, data: text }) }] }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const result = method === "tools/call" ? answer(params) : Promise.resolve({})
  void result.then((result) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`))
})
