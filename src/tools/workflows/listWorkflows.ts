import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as links from "../shared/Links.ts"
import * as parameters from "../shared/Parameters.ts"

const Row = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  active: Schema.Boolean,
  isArchived: Schema.optionalKey(Schema.Boolean),
  tags: Schema.optionalKey(Schema.Array(Schema.String)),
  nodeCount: Schema.optionalKey(Schema.Int),
  createdAt: Schema.optionalKey(Schema.String),
  updatedAt: Schema.optionalKey(Schema.String)
})

/** `GET /workflows`: ids, names and whether they run; archived ones only with `raw`. */
export const listWorkflows = Tool.make({
  name: "list_workflows",
  title: "List workflows",
  searchHint: "automations, find a workflow by name, tag, active",
  isEntry: true,
  description: "Find workflows by name, tag or state. Start here to get a workflow's id.",
  annotations: Tool.readOnly,
  scopes: ["workflow:list"],
  input: Schema.Struct({
    active: Schema.optionalKey(
      Schema.Boolean.annotate({ description: "Only published (true) or unpublished (false)." })
    ),
    tags: Schema.optionalKey(
      Schema.Array(Schema.String).annotate({ description: "Only with all of these tags; names are case-sensitive." })
    ),
    name: Schema.optionalKey(Schema.String.annotate({ description: "Only names that contain this, ignoring case." })),
    limit: parameters.limit,
    offset: parameters.offset("offset", "How many to skip."),
    cursor: parameters.cursor,
    raw: parameters.raw("Archived ones too; adds tags, dates and node counts.")
  }),
  output: Schema.Struct({
    count: Schema.Int,
    workflows: Schema.Array(Row),
    nextCursor: Schema.optionalKey(Schema.String),
    url: Schema.String
  }),
  handler: ({ raw, ...query }) =>
    N8nClient.use((n8n) =>
      Effect.map(n8n.listWorkflows({ ...query, archived: raw }), (page) => ({
        ...page,
        url: links.workflows(n8n.instance)
      }))
    ),
  summarize: ({ nextCursor, url, workflows }, { raw }) =>
    defined({
      count: workflows.length,
      workflows: workflows.map((workflow) => ({
        id: workflow.id,
        name: workflow.name,
        active: workflow.active,
        ...(raw
          ? defined({
            isArchived: workflow.isArchived ?? undefined,
            tags: Workflow.tagNames(workflow),
            nodeCount: workflow.nodes.length,
            createdAt: workflow.createdAt,
            updatedAt: workflow.updatedAt
          })
          : {})
      })),
      nextCursor,
      url
    }),
  message: ({ count }) => ({
    en: `Found ${counted(count, "workflow")}`,
    ja: "ワークフロー一覧を取得しました"
  }),
  next: ({ limit }) => (path) =>
    path === "workflows" && limit > 1 ? `list_workflows(limit: ${Math.ceil(limit / 2)})` : undefined
})
