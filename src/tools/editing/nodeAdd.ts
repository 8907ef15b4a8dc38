import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import * as WorkflowEdit from "../../workflow/edit/WorkflowEdit.ts"
import * as editing from "../shared/Editing.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

const addedNode = ({ added: [node] }: WorkflowEdit.Edited) => node ?? { id: "", name: "" }

/** Adds a node. */
export const nodeAdd = Tool.make({
  name: "node_add",
  title: "Add node",
  searchHint: "insert a step, new node into a workflow",
  description: "Add a node, optionally connected after another.",
  annotations: Tool.additive,
  scopes: editing.scopes,
  input: Schema.Struct({
    workflowId: parameters.anyWorkflowId,
    nodeType: editing.nodeType("nodeType"),
    position: editing.position,
    parameters: editing.nodeParameters("As node_get shows them."),
    name: parameters.optional(Schema.String, "Default: the type's."),
    after: parameters.optional(Schema.String, "Node to connect from; for a sub-node, to."),
    raw: editing.raw
  }),
  output: Schema.Struct({
    nodeId: Schema.String,
    name: Schema.String,
    problems: Schema.optionalKey(writing.findingsFields.problems),
    missingCredentials: writing.findingsFields.missingCredentials,
    ...editing.outcomeFields
  }),
  handler: ({ nodeType: type, raw: _, workflowId, ...properties }) =>
    Effect.gen(function*() {
      const operation = { op: "add" as const, type, ...properties }
      const changed = yield* editing.edit(workflowId, [operation], { operation: "node_add" })
      const { id, name } = addedNode(changed.result)
      return {
        ...changed,
        problems: changed.problems.filter(({ nodeId, path }) => nodeId === id && path.includes(".")),
        missingCredentials: changed.missingCredentials.filter(({ node }) => node === name)
      }
    }),
  summarize: (changed, { raw }) => {
    const { id, name } = addedNode(changed.result)
    const { problems, ...missing } = editing.findings(changed)
    return {
      nodeId: id,
      name,
      ...(problems.length === 0 ? {} : { problems }),
      ...missing,
      ...editing.outcome(changed, { raw })
    }
  },
  message: ({ name }) => ({ en: `Added node '${name}'`, ja: "ノードを追加しました" })
})
