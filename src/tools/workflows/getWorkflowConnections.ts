import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import * as OutputNames from "../../catalogue/OutputNames.ts"
import * as ItemView from "../../executions/ItemView.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Graph from "../../workflow/Graph.ts"
import * as Mermaid from "../../workflow/Mermaid.ts"
import * as Reference from "../../workflows/Reference.ts"
import * as Workflows from "../../workflows/Workflows.ts"
import * as parameters from "../shared/Parameters.ts"
import * as page from "../shared/WorkflowPage.ts"

const GraphNode = Schema.Struct({
  node: Schema.String,
  id: Schema.String,
  type: Schema.String,
  inputs: Schema.Array(Schema.String),
  outputs: Schema.Array(Schema.String),
  ports: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        output: Schema.String,
        name: Schema.optionalKey(Schema.String),
        to: Schema.String,
        input: Schema.String
      })
    )
  )
})

/** Call that returns the nodes after the first ones, with their connections. */
const rest = (id: string, count: number) => Hints.call("get_workflow", { id, raw: true, offset: count })

/** `GET /workflows/{id}` as a graph of nodes and their ports. */
export const getWorkflowConnections = Tool.make({
  name: "get_workflow_connections",
  title: "Get workflow connections",
  app: page.app,
  searchHint: "graph, diagram, mermaid, how nodes are wired, flow",
  description: "Read a workflow's graph with ports of branches, errors, AI sub-nodes.",
  annotations: Tool.readOnly,
  scopes: ["workflow:read"],
  input: Schema.Struct({
    id: parameters.reference,
    format: parameters.graphFormat,
    raw: parameters.flag("Adds n8n's connections.")
  }),
  output: Schema.Struct({
    id: Schema.String,
    name: Schema.String,
    /** Kind of place that the id refers to, if not n8n. */
    source: Schema.optionalKey(Schema.Literals(["file", "draft"])),
    graph: Schema.optionalKey(Schema.Array(GraphNode)),
    mermaid: Schema.optionalKey(Schema.String),
    rawConnections: Schema.optionalKey(Schema.Json),
    note: Schema.optionalKey(Schema.String),
    /** Address in n8n's editor; only with the flowchart, which is for a person. */
    url: Schema.optionalKey(Schema.String)
  }),
  handler: ({ format, id }) =>
    Effect.gen(function*() {
      const { instance } = yield* N8nClient
      const { notes, place, version, workflow } = yield* Workflows.read(id)
      const { connections, name, nodes } = workflow
      const graph = Graph.make(connections)
      const namesOf = yield* OutputNames.forNodes(format === "mermaid" ? nodes : Graph.withPorts(graph, nodes))
      const url = Reference.url(instance, place, version)
      return { connections, graph, name, page: nodes, nodes, notes, place, url, namesOf, workflow }
    }),
  ending: (raw) => ({ size: raw.page.length, after: (count) => ({ ...raw, page: raw.page.slice(0, count) }) }),
  totals: ({ page }) => ({ graph: page.length }),
  summarize: ({ connections, graph, name, namesOf, nodes, notes, page, place, url }, { format, id, raw }) => {
    const isDrawn = format === "mermaid"
    return defined({
      id,
      source: place.kind === "n8n" ? undefined : place.kind,
      name,
      mermaid: isDrawn ? Mermaid.flowchart(page, connections, namesOf) : undefined,
      graph: isDrawn ? undefined : Graph.neighbours(graph, page, namesOf),
      rawConnections: raw ? connections : undefined,
      note: ItemView.joinNotes([
        ...notes,
        isDrawn && page.length < nodes.length &&
        `Only the first ${page.length} of ${nodes.length} nodes are drawn: ${rest(id, page.length)} has the others.`
      ]),
      url: isDrawn ? url : undefined
    })
  },
  view: ({ workflow }) => page.view(workflow),
  message: ({ id }) => ({ en: `Connections of '${id}'`, ja: "ワークフロー接続情報を取得しました" }),
  next: ({ id }) => (path, count) => path === "graph" ? rest(id, count) : undefined
})
