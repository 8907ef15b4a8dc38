import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Visible from "../../base/Visible.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Uses from "../../workflows/Uses.ts"
import * as links from "../shared/Links.ts"
import * as parameters from "../shared/Parameters.ts"

const Row = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  active: Schema.Boolean,
  isArchived: Schema.optionalKey(Schema.Boolean),
  tags: Schema.optionalKey(Schema.Array(Schema.String)),
  nodeCount: Schema.optionalKey(Schema.Int),
  /** First ten nodes that match `uses`. */
  nodes: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Number of nodes that match `uses`, if not all are named. */
  matches: Schema.optionalKey(Schema.Int),
  createdAt: Schema.optionalKey(Schema.String),
  updatedAt: Schema.optionalKey(Schema.String)
})

const maxNodes = 10

/** `GET /workflows`: ids, names and whether they are published; archived ones only with `raw`. */
export const listWorkflows = Tool.make({
  name: "list_workflows",
  title: "List workflows",
  searchHint:
    "automations, find a workflow by name, tag, active; where is a node, credential, sub-workflow or webhook used",
  isEntry: true,
  description: "Find workflows by name, tag, state or what they use. Start here to get a workflow's id.",
  annotations: Tool.readOnly,
  // cursor replaces it.
  unlisted: { offset: "never", project: "onRequest" },
  scopes: ["workflow:list"],
  input: Schema.Struct({
    active: parameters.optional(Schema.Boolean, "Only published (true) or unpublished (false)."),
    tags: parameters.optional(Schema.Array(Schema.String), "Only with all of these tags; names are case-sensitive."),
    name: parameters.optional(Schema.String, "Only names that contain this, ignoring case and accents."),
    uses: parameters.optional(
      Schema.String.check(Schema.isMinLength(2, { message: "uses must have two characters or more" })),
      "Only with nodes that contain this: type, credential, sub-workflow id, webhook path, any text."
    ),
    project: parameters.project,
    limit: parameters.limit,
    offset: parameters.offset("offset", "Rows to skip."),
    cursor: parameters.cursor,
    raw: parameters.flag("Adds archived workflows, tags, dates and node counts.")
  }),
  output: Schema.Struct({
    count: Schema.Int,
    workflows: Schema.Array(Row),
    /** Number of workflows searched for `uses`. */
    scanned: Schema.optionalKey(Schema.Int),
    nextCursor: Schema.optionalKey(Schema.String),
    hint: Schema.optionalKey(Schema.String),
    url: Schema.String
  }),
  handler: ({ project, raw, uses, ...rest }) =>
    Effect.gen(function*() {
      const query = { ...rest, projectId: project }
      const n8n = yield* N8nClient
      const url = links.workflows(n8n.instance)
      if (uses === undefined) {
        return { ...(yield* n8n.listWorkflows({ ...query, archived: raw })), url, nodes: undefined, scanned: undefined }
      }
      const find = Uses.finder(uses, { secrets: !(yield* Tool.RedactSecrets) })
      const nodes = new Map<string, ReadonlyArray<string>>()
      let scanned = 0
      const filter = (workflow: Workflow.Listed) => {
        scanned++
        const matches = find(workflow)
        if (matches.length > 0) nodes.set(workflow.id, matches)
        return matches.length > 0
      }
      const page = yield* n8n.listWorkflows({ ...query, archived: raw, filter })
      return { ...page, url, nodes, scanned }
    }),
  summarize: ({ nextCursor, nodes, scanned, url, workflows }, { limit, raw }) =>
    defined({
      count: workflows.length,
      workflows: workflows.map((workflow) => {
        const matches = nodes?.get(workflow.id) ?? []
        return {
          id: workflow.id,
          name: Visible.line(workflow.name),
          active: workflow.active,
          ...(matches.length === 0 ? {} : { nodes: matches.slice(0, maxNodes) }),
          ...(matches.length > maxNodes ? { matches: matches.length } : {}),
          ...(raw
            ? defined({
              isArchived: workflow.isArchived ?? undefined,
              tags: Workflow.tagNames(workflow),
              nodeCount: workflow.nodes.length,
              createdAt: workflow.createdAt,
              updatedAt: workflow.updatedAt
            })
            : {})
        }
      }),
      scanned,
      nextCursor,
      hint: scanned !== undefined && nextCursor !== undefined && workflows.length < limit
        ? `Only ${counted(scanned, "workflow")} searched so far: continue with cursor.`
        : undefined,
      url
    }),
  message: ({ count }) => ({
    en: `Found ${counted(count, "workflow")}`,
    ja: "ワークフロー一覧を取得しました"
  }),
  next: ({ limit }) => (path) =>
    path === "workflows" && limit > 1 ? `list_workflows(limit: ${Math.ceil(limit / 2)})` : undefined
})
