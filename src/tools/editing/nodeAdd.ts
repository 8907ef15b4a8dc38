import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { truncated } from "../../answer/Truncated.ts"
import { defined } from "../../base/Json.ts"
import { Problem } from "../../base/Problem.ts"
import { problems } from "../../workflows/check/WorkflowProblems.ts"
import * as WorkflowEdit from "../../workflows/edit/WorkflowEdit.ts"
import * as editing from "../shared/Editing.ts"
import * as parameters from "../shared/Parameters.ts"

/** The one node that an operation added. */
const addedNode = ({ added: [node] }: WorkflowEdit.Edited) => node ?? { id: "", name: "" }

/**
 * Adds a node.
 *
 * @category tools
 * @since 0.1.0
 */
export const nodeAdd = Tool.make({
  name: "node_add",
  title: "Add node",
  searchHint: "insert a step, new node into a workflow",
  description:
    "Add a node to a workflow: right version, unique name, free position, wired after another if named. node_get has its parameters.",
  annotations: Tool.additive,
  scopes: editing.scopes,
  input: Schema.Struct({
    workflowId: parameters.anyWorkflowId,
    nodeType: editing.nodeType("nodeType"),
    position: editing.position,
    parameters: editing.nodeParameters("As node_get shows them."),
    name: Schema.optionalKey(Schema.String.annotate({ description: "Default: the type's name." })),
    after: Schema.optionalKey(
      Schema.String.annotate({ description: "Node to connect from; for a sub-node, the node it serves." })
    ),
    raw: editing.raw
  }),
  output: Schema.Struct({
    nodeId: Schema.String,
    name: Schema.String,
    /** Problems of the new node. */
    problems: Schema.optionalKey(Schema.Array(Schema.Struct({ ...Problem.fields, ...truncated }))),
    ...editing.outcomeFields
  }),
  handler: ({ after, name, nodeType: type, parameters: nodeParameters, position, workflowId }) =>
    Effect.gen(function*() {
      const operation = defined({ op: "add" as const, type, name, parameters: nodeParameters, position, after })
      const changed = yield* editing.edit(workflowId, [operation], { operation: "node_add" })
      const { id } = addedNode(changed.result)
      const all = problems(changed.workflow, changed.result.lookups)
      return { ...changed, problems: all.filter(({ nodeId, path }) => nodeId === id && path.includes(".")) }
    }),
  summarize: ({ problems, ...changed }, { raw }) => {
    const { id, name } = addedNode(changed.result)
    return { nodeId: id, name, ...(problems.length === 0 ? {} : { problems }), ...editing.outcome(changed, raw) }
  },
  message: ({ name }) => ({ en: `Added node '${name}'`, ja: "ノードを追加しました" })
})
