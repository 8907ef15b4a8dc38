import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as WorkflowEdit from "../domain/edits/WorkflowEdit.ts"
import { defined } from "../domain/Json.ts"
import { Problem } from "../domain/problems/Problem.ts"
import { truncated } from "../domain/Truncated.ts"
import * as Tool from "../Tool.ts"
import * as Workflows from "../Workflows.ts"
import * as editing from "./editing.ts"
import * as parameters from "./parameters.ts"

const scopes = ["workflow:update", "workflow:read"]
const raw = parameters.raw("Adds workflowData.")

const required = (name: string, description: string) =>
  Schema.String.check(Schema.isMinLength(1, { message: `${name} is required` }))
    .annotate({ description })
    .pipe(Schema.annotateKey({ messageMissingKey: `${name} is required` }))

const nodeType = (name: string) => required(name, "From node_search.")

/** The one node that an operation added. */
const theAdded = ({ added: [node] }: WorkflowEdit.Edited) => node ?? { id: "", name: "" }

/** Adds a node. */
export const nodeAdd = Tool.make({
  name: "node_add",
  title: "Add node",
  searchHint: "insert a step, new node into a workflow",
  description:
    "Add a node to a workflow (file, draft or n8n): right version, unique name, free position, wired after another if told. node_get has its parameters.",
  annotations: Tool.additive,
  scopes,
  input: Schema.Struct({
    workflowId: editing.workflowId,
    nodeType: nodeType("nodeType"),
    position: editing.position,
    parameters: editing.nodeParameters("As node_get shows them."),
    name: Schema.optionalKey(Schema.String.annotate({ description: "Default: the type's name." })),
    after: Schema.optionalKey(
      Schema.String.annotate({ description: "Node to connect from; for a sub-node, the node it serves." })
    ),
    raw
  }),
  output: Schema.Struct({
    nodeId: Schema.String,
    name: Schema.String,
    /** What the node still lacks. */
    problems: Schema.optionalKey(Schema.Array(Schema.Struct({ ...Problem.fields, ...truncated }))),
    ...editing.saved,
    ...truncated
  }),
  handler: ({ after, name, nodeType: type, parameters: given, position, workflowId }) =>
    Effect.gen(function*() {
      const operation = defined({ op: "add" as const, type, name, parameters: given, position, after })
      const changed = yield* editing.edit(workflowId, [operation], { operation: "node_add" })
      const { id } = theAdded(changed.result)
      const problems = yield* editing.problems(changed.workflow)
      return { ...changed, problems: problems.filter(({ nodeId, path }) => nodeId === id && path.includes(".")) }
    }),
  summarize: ({ problems, ...changed }, { raw }) => {
    const { id, name } = theAdded(changed.result)
    return { nodeId: id, name, ...(problems.length === 0 ? {} : { problems }), ...editing.told(changed, raw) }
  },
  message: ({ name }) => ({ en: `Added node '${name}'`, ja: "ノードを追加しました" })
})

/** Puts a node of another type in the place of one. */
export const nodeReplace = Tool.make({
  name: "node_replace",
  title: "Replace node",
  searchHint: "swap a node, change its type, keep its connections",
  description:
    "Put another type of node in a node's place: its id, name, position and every connection and parameter that fits stay; compatibilityReport tells what did not.",
  annotations: Tool.destructive,
  scopes,
  input: Schema.Struct({
    workflowId: editing.workflowId,
    targetNodeId: required("targetNodeId", "Id or name of the node."),
    newNodeType: nodeType("newNodeType"),
    parameters: editing.nodeParameters("Win over those that are kept."),
    raw
  }),
  output: Schema.Struct({
    nodeId: Schema.String,
    compatibilityReport: Schema.Struct({
      maintainedConnections: Schema.Array(Schema.String),
      removedConnections: Schema.Array(Schema.String),
      ...truncated
    }),
    changes: Schema.Array(Schema.String),
    ...editing.saved,
    ...truncated
  }),
  handler: ({ newNodeType: type, parameters: given, targetNodeId: node, workflowId }) =>
    Workflows.change(workflowId, { operation: "node_replace" }, (workflow) =>
      Effect.gen(function*() {
        const found = yield* editing.lookups([...WorkflowEdit.typesOf(workflow, []), type])
        const replacement = defined({ node, type, parameters: given })
        const result = yield* Effect.mapError(
          Effect.fromResult(WorkflowEdit.replace(workflow, replacement, found)),
          editing.refused
        )
        return { workflow: result.workflow, result }
      })),
  summarize: (changed, { raw }) => ({
    nodeId: changed.result.nodeId,
    compatibilityReport: changed.result.report,
    changes: changed.result.changes,
    ...editing.told(changed, raw)
  }),
  message: () => ({ en: "Replaced the node", ja: "ノードを置き換えました" })
})

/** Joins two nodes. */
export const connectionCreate = Tool.make({
  name: "connection_create",
  title: "Connect nodes",
  searchHint: "wire, link, branch, error output, ai tool to agent",
  description:
    "Connect two nodes of a workflow. Ports go by index or by the name a person sees: true, done, error, a Switch rule, ai_tool, Chat Model.",
  annotations: { ...Tool.additive, idempotentHint: true },
  scopes,
  input: Schema.Struct({
    workflowId: editing.workflowId,
    sourceNodeId: required("sourceNodeId", "Id or name; of a sub-node and what it serves: the sub-node."),
    targetNodeId: required("targetNodeId", "Id or name."),
    sourceOutput: Schema.optionalKey(Schema.String.annotate({ description: "Output; default: the first." })),
    targetInput: Schema.optionalKey(Schema.String.annotate({ description: "Input; default: the first." })),
    raw
  }),
  output: Schema.Struct({
    connection: Schema.Struct({
      sourceNodeId: Schema.String,
      targetNodeId: Schema.String,
      sourceOutput: Schema.String,
      targetInput: Schema.String
    }),
    changes: Schema.Array(Schema.String),
    ...editing.saved,
    ...truncated
  }),
  handler: ({ sourceNodeId: from, sourceOutput, targetInput, targetNodeId: to, workflowId }) =>
    editing.edit(workflowId, [defined({ op: "connect" as const, from, to, sourceOutput, targetInput })], {
      operation: "connection_create"
    }),
  summarize: (changed, { raw, sourceNodeId, sourceOutput, targetInput, targetNodeId }) => ({
    connection: {
      sourceNodeId,
      targetNodeId,
      sourceOutput: sourceOutput ?? "main",
      targetInput: targetInput ?? "main"
    },
    changes: changed.result.changes,
    ...editing.told(changed, raw)
  }),
  message: ({ connection: { sourceNodeId, targetNodeId } }) => ({
    en: `Connected '${sourceNodeId}' to '${targetNodeId}'`,
    ja: "接続を作成しました"
  })
})
