/** What can be attached to a conversation: `n8n://workflow/{id}`, `n8n://execution/{id}`, `n8n://node/{type}`. */
import * as Effect from "effect/Effect"
import * as Resource from "./Resource.ts"
import { getExecution } from "./tools/getExecution.ts"
import { getWorkflow } from "./tools/getWorkflow.ts"
import { listExecutions } from "./tools/listExecutions.ts"
import { listWorkflows } from "./tools/listWorkflows.ts"
import { nodeGet } from "./tools/nodeGet.ts"
import { nodeSearch } from "./tools/nodeSearch.ts"

const workflowsNamed = (begun: string) =>
  Effect.map(
    listWorkflows.call({ name: begun, limit: 100, offset: 0, raw: false }),
    ({ workflows }) => workflows.map(({ id }) => id)
  )

/** Ids of workflows, by their name or the beginning of the id. */
const workflowIds = Effect.fnUntraced(function*(begun: string) {
  const named = yield* workflowsNamed(begun)
  if (named.length > 0 || begun === "") return named
  const all = yield* workflowsNamed("")
  return all.filter((id) => id.startsWith(begun))
})

/** Ids of executions, newest first, by their beginning or the workflow's name. */
const executionIds = Effect.fnUntraced(function*(begun: string) {
  const { executions } = yield* listExecutions.call({ limit: 100, raw: false })
  const wanted = begun.toLowerCase()
  return executions
    .filter(({ id, workflowName }) => id.startsWith(begun) || workflowName.toLowerCase().includes(wanted))
    .map(({ id }) => id)
})

/** Types of nodes, in whatever words. */
const nodeTypes = (begun: string) =>
  begun === ""
    ? Effect.succeed([])
    : Effect.map(nodeSearch.call({ keyword: begun, limit: 20 }), ({ nodes }) => nodes.map(({ id }) => id))

export const workflow = Resource.ofTool({
  name: "workflow",
  title: "Workflow",
  description: "A workflow on n8n: its nodes, connections and settings.",
  uriTemplate: "n8n://workflow/{id}",
  tool: getWorkflow,
  args: { raw: true },
  complete: workflowIds,
  list: (cursor) =>
    Effect.map(
      listWorkflows.call({ limit: 50, offset: 0, raw: false, ...(cursor === undefined ? {} : { cursor }) }),
      ({ nextCursor, workflows }) => ({
        entries: workflows.map(({ id, name }) => ({ id, title: name })),
        nextCursor
      })
    )
})

export const execution = Resource.ofTool({
  name: "execution",
  title: "Execution",
  description: "A run of a workflow: whether and where it failed, and what each node put out.",
  uriTemplate: "n8n://execution/{id}",
  tool: getExecution,
  complete: executionIds
})

export const node = Resource.ofTool({
  name: "node",
  title: "Node type",
  description: "A type of node: its versions, ports, credentials and parameters.",
  uriTemplate: "n8n://node/{type}",
  tool: nodeGet,
  complete: nodeTypes
})

/** All of them. */
export const all = [workflow, execution, node] as const
