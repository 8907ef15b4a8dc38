/** Resources for a conversation: `n8n://workflow/{id}`, `…execution/{id}`, `…node/{type}`, `…guide/{topic}`. */
import * as Effect from "effect/Effect"
import * as Resource from "../answer/Resource.ts"
import * as Tool from "../answer/Tool.ts"
import * as Errors from "../base/Errors.ts"
import { defined } from "../base/Json.ts"
import { suggestion } from "../base/Nearest.ts"
import * as Visible from "../base/Visible.ts"
import { getExecution, listExecutions } from "./executions/index.ts"
import * as Guides from "./Guides.ts"
import { nodeGet, nodeSearch } from "./nodes/index.ts"
import { getWorkflow, listWorkflows } from "./workflows/index.ts"

/** Calls a tool as it is served to the caller. */
const call = <T extends Tool.Any>(tool: T, input: Tool.Input<T>) =>
  Effect.flatMap(Tool.served(tool), ({ call }) => call(input))

const workflowsNamed = (name?: string) =>
  Effect.map(
    call(listWorkflows, { limit: 100, ...defined({ name }) }),
    ({ workflows }) => workflows.map(({ id }) => id)
  )

/** Ids of workflows, by part of the name or by the start of the id. */
const workflowIds = Effect.fnUntraced(function*(prefix: string) {
  const all = workflowsNamed()
  if (prefix === "") return yield* all
  const matches = yield* workflowsNamed(prefix)
  if (matches.length > 0) return matches
  return (yield* all).filter((id) => id.startsWith(prefix))
})

/** Ids of executions, newest first, by the start of the id or by the workflow's name. */
const executionIds = Effect.fnUntraced(function*(prefix: string) {
  const { executions = [] } = yield* call(listExecutions, { limit: 100 })
  const words = prefix.toLowerCase()
  return executions
    .filter(({ id, workflowName }) => id.startsWith(prefix) || workflowName.toLowerCase().includes(words))
    .map(({ id }) => id)
})

const nodeTypes = (prefix: string) =>
  prefix === ""
    ? Effect.succeed([])
    : Effect.map(call(nodeSearch, { keyword: prefix, limit: 20 }), ({ nodes }) => nodes.map(({ id }) => id))

/** Workflow on n8n, by id: `n8n://workflow/{id}`. */
export const workflow = Resource.ofTool({
  name: "workflow",
  title: "Workflow",
  description: "A workflow on n8n: its nodes, connections and settings.",
  uriTemplate: "n8n://workflow/{id}",
  tool: getWorkflow,
  args: { raw: true },
  complete: workflowIds,
  list: (cursor) =>
    Effect.map(call(listWorkflows, { limit: 50, ...defined({ cursor }) }), ({ nextCursor, workflows }) => ({
      entries: workflows.map(({ id, name }) => ({ id, title: Visible.label(name, 200) })),
      nextCursor
    }))
})

/** Execution of a workflow, by id: `n8n://execution/{id}`. */
export const execution = Resource.ofTool({
  name: "execution",
  title: "Execution",
  description: "A run of a workflow: whether and where it failed, and each node's output.",
  uriTemplate: "n8n://execution/{id}",
  tool: getExecution,
  complete: executionIds
})

/** Node type: `n8n://node/{type}`. */
export const node = Resource.ofTool({
  name: "node",
  title: "Node type",
  description: "A node type: its versions, ports, credentials and parameters.",
  uriTemplate: "n8n://node/{type}",
  tool: nodeGet,
  complete: nodeTypes
})

const topics = Guides.all.map(({ topic }) => topic)

/** Guide in Markdown: `n8n://guide/{topic}`. */
export const guide: Resource.Resource<never> = {
  name: "guide",
  title: "Guide",
  description: `Short guide with a workflow that runs: ${topics.join(", ")}.`,
  uriTemplate: "n8n://guide/{topic}",
  mimeType: "text/markdown",
  entries: Guides.all.map(({ description, title, topic }) => ({ id: topic, title, description })),
  tool: nodeGet.name,
  read: (topic) => {
    const match = Guides.all.find((each) => each.topic === topic)
    return match === undefined
      ? Effect.fail(
        new Errors.NotFoundError({
          operation: "read guide",
          resourceType: "Guide",
          resourceId: topic,
          hint: suggestion(topic, topics, topics.length)
        })
      )
      : Guides.read(match.topic)
  },
  complete: (begun) => Effect.succeed(topics.filter((topic) => topic.startsWith(begun.toLowerCase())))
}

/** All resources. */
export const all = [workflow, execution, node, guide] as const
