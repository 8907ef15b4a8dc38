import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
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
  typeVersion: Schema.optionalKey(Schema.Finite),
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
  tags: Schema.optionalKey(Schema.Array(Schema.String)),
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
  defined({
    ...Struct.pick(node, ["id", "name", "type", "typeVersion", "position"]),
    disabled: node.disabled === true || undefined
  })

/** `GET /workflows/{id}`, without parameters unless `nodes` names nodes; a page of nodes comes with its connections. */
export const getWorkflow = Tool.make({
  name: "get_workflow",
  title: "Get workflow",
  searchHint: "show, open, read a workflow, node parameters, settings",
  description: "Read a workflow's facts; nodes adds whole nodes and their connections.",
  annotations: Tool.readOnly,
  scopes: ["workflow:read"],
  input: Schema.Struct({
    id: parameters.reference,
    nodes: parameters.optional(Schema.Array(Schema.String), "By name; ['*']: all."),
    raw: parameters.flag("Adds nodes (no parameters), connections, settings."),
    offset: parameters.offset("offset", "Nodes to skip."),
    textFrom: parameters.textFrom
  }),
  output: Output,
  handler: ({ id, nodes, offset, raw }) =>
    Effect.gen(function*() {
      const { instance } = yield* N8nClient
      const { current, notes, place, version, workflow } = yield* Workflows.read(id)
      const graph = Graph.make(workflow.connections)
      const chosen = nodes !== undefined ? yield* pick(id, workflow, nodes) : raw ? workflow.nodes : []
      return {
        graph,
        workflow,
        place,
        notes,
        current,
        page: chosen.slice(offset),
        url: Reference.url(instance, place, version),
        namesOf: yield* OutputNames.forNodes(chosen.length > 0 ? Graph.withPorts(graph, workflow.nodes) : [])
      }
    }),
  ending: ({ page, ...rest }) => ({
    size: page.length,
    after: (count) => ({ ...rest, page: page.slice(0, count) })
  }),
  totals: ({ page }) => ({ nodes: page.length }),
  summarize: ({ current, graph, namesOf, notes, page, place, url, workflow }, { id, nodes, raw }) => {
    const links = nodes === undefined
      ? page.flatMap(({ name }) => graph.out(name))
      : Graph.around(graph, page.map(({ name }) => name))
    return defined({
      id: place.kind === "n8n" ? workflow.id : id,
      name: workflow.name,
      active: workflow.active,
      nodeCount: workflow.nodes.length,
      tags: current === undefined ? Workflow.tagNames(workflow) : undefined,
      versionId: workflow.versionId ?? undefined,
      isArchived: workflow.isArchived === true || undefined,
      hasUnpublishedChanges: Workflow.hasDraft(workflow) || undefined,
      source: place.kind === "n8n" ? undefined : place.kind,
      note: notes.length === 0 ? undefined : notes.join(" "),
      url,
      createdAt: raw ? workflow.createdAt : undefined,
      updatedAt: raw ? workflow.updatedAt : undefined,
      nodes: nodes !== undefined
        ? page as ReadonlyArray<typeof WholeNode.Type>
        : raw
        ? page.map(summaryOf)
        : undefined,
      connections: raw || nodes !== undefined ? Graph.simplify(graph, links, workflow.nodes, namesOf) : undefined,
      settings: raw && current === undefined ? (workflow.settings ?? {}) as Schema.Json : undefined
    })
  },
  budget: ({ nodes }, { id, textFrom }) => ({
    texts: {
      from: textFrom ?? 0,
      next: (path, count) => {
        const [, index] = JsonPath.parse(path) ?? []
        const node = nodes?.[Number(index)]
        return node && Hints.call("get_workflow", { id, nodes: [node.name], textFrom: count })
      }
    }
  }),
  message: ({ id }) => ({ en: `Workflow '${id}'`, ja: "ワークフローを取得しました" }),
  next: ({ id, nodes, offset, raw }) => (path, count) =>
    path === "nodes"
      ? Hints.call("get_workflow", { id, nodes, raw: raw || undefined, offset: offset + count })
      : undefined
})
