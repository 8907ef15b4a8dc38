import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { suggestion } from "../../base/Nearest.ts"
import * as OutputNames from "../../catalogue/OutputNames.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Graph from "../../workflow/Graph.ts"
import * as Reference from "../../workflows/Reference.ts"
import * as Workflows from "../../workflows/Workflows.ts"
import * as parameters from "../shared/Parameters.ts"

const NodeSummary = Schema.Struct({
  id: Schema.optionalKey(Schema.String),
  name: Schema.String,
  type: Schema.String,
  position: Schema.optionalKey(Schema.Array(Schema.Finite)),
  disabled: Schema.optionalKey(Schema.Boolean)
})

const WholeNode = Schema.StructWithRest(Schema.Struct({ name: Schema.String, type: Schema.String }), [
  Schema.Record(Schema.String, Schema.Json)
])

const Output = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  active: Schema.Boolean,
  nodeCount: Schema.Int,
  tags: Schema.Array(Schema.String),
  versionId: Schema.optionalKey(Schema.String),
  isArchived: Schema.optionalKey(Schema.Boolean),
  /** Whether it has changed since it was published; the published version runs. */
  hasUnpublishedChanges: Schema.optionalKey(Schema.Boolean),
  /** Kind of place that the id refers to, if not n8n. */
  source: Schema.optionalKey(Schema.Literals(["file", "draft"])),
  note: Schema.optionalKey(Schema.String),
  url: Schema.optionalKey(Schema.String),
  createdAt: Schema.optionalKey(Schema.String),
  updatedAt: Schema.optionalKey(Schema.String),
  nodes: Schema.optionalKey(Schema.Array(Schema.Union([WholeNode, NodeSummary]))),
  connections: Schema.optionalKey(Schema.Json),
  settings: Schema.optionalKey(Schema.Json)
})

const everyNode = "*"

const pick = (id: string, { nodes }: Pick<Workflow.Workflow, "nodes">, wanted: ReadonlyArray<string>) => {
  const names = nodes.map((node) => node.name)
  const missing = wanted.find((name) => name !== everyNode && !names.includes(name))
  return missing === undefined
    ? Effect.succeed(nodes.filter((node) => wanted.includes(everyNode) || wanted.includes(node.name)))
    : parameters.invalid("nodes", `Node '${missing}' not found in workflow '${id}'`, suggestion(missing, names))
}

const summaryOf = (node: Workflow.Node) =>
  defined({ ...Struct.pick(node, ["id", "name", "type", "position"]), disabled: node.disabled === true || undefined })

/** `GET /workflows/{id}`, without parameters unless `nodes` names nodes. */
export const getWorkflow = Tool.make({
  name: "get_workflow",
  title: "Get workflow",
  searchHint: "show, open, read a workflow, node parameters, settings",
  description: "Read a workflow's facts; raw adds its structure, nodes whole nodes.",
  annotations: Tool.readOnly,
  scopes: ["workflow:read"],
  input: Schema.Struct({
    id: parameters.reference,
    nodes: parameters.optional(Schema.Array(Schema.String), "Nodes to return in full; ['*']: all."),
    raw: parameters.flag("Adds nodes (without parameters), connections, settings.")
  }),
  output: Output,
  handler: ({ id, nodes, raw }) =>
    Effect.gen(function*() {
      const { instance } = yield* N8nClient
      const { notes, place, version, workflow } = yield* Workflows.read(id)
      const graph = Graph.make(workflow.connections)
      return {
        graph,
        workflow,
        place,
        notes,
        whole: nodes === undefined ? undefined : yield* pick(id, workflow, nodes),
        url: Reference.url(instance, place, version),
        namesOf: yield* OutputNames.forNodes(raw ? Graph.withPorts(graph, workflow.nodes) : [])
      }
    }),
  summarize: ({ graph, namesOf, notes, place, url, whole, workflow }, { id, raw }) =>
    defined({
      id: place.kind === "n8n" ? workflow.id : id,
      name: workflow.name,
      active: workflow.active,
      nodeCount: workflow.nodes.length,
      tags: Workflow.tagNames(workflow),
      versionId: workflow.versionId ?? undefined,
      isArchived: workflow.isArchived === true || undefined,
      hasUnpublishedChanges: Workflow.hasDraft(workflow) || undefined,
      source: place.kind === "n8n" ? undefined : place.kind,
      note: notes.length === 0 ? undefined : notes.join(" "),
      url,
      createdAt: raw ? workflow.createdAt : undefined,
      updatedAt: raw ? workflow.updatedAt : undefined,
      nodes: (whole as ReadonlyArray<typeof WholeNode.Type> | undefined) ??
        (raw ? workflow.nodes.map(summaryOf) : undefined),
      connections: raw ? Graph.simplify(graph, workflow.nodes, namesOf) : undefined,
      settings: raw ? (workflow.settings ?? {}) as Schema.Json : undefined
    }),
  message: ({ id }) => ({ en: `Workflow '${id}'`, ja: "ワークフローを取得しました" }),
  next: ({ id }) => (path) =>
    path === "nodes" ? `get_workflow(id: '${id}', nodes: [names from get_workflow_connections])` : undefined
})
