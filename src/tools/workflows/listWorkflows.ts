import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Visible from "../../base/Visible.ts"
import * as ItemView from "../../executions/ItemView.ts"
import * as Columns from "../../fleet/Columns.ts"
import * as WorkflowSelection from "../../fleet/WorkflowSelection.ts"
import * as links from "../../n8n/Links.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as parameters from "../shared/Parameters.ts"

/** Fields of a use (`node`, `path`, `value`) or of a run (`id`, `status`, `at`). */
const Texts = Schema.Record(Schema.String, Schema.String)

const Row = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  active: Schema.Boolean,
  isArchived: Schema.optionalKey(Schema.Boolean),
  tags: Schema.optionalKey(Schema.Array(Schema.String)),
  nodeCount: Schema.optionalKey(Schema.Int),
  /** Places that match `uses`. */
  uses: Schema.optionalKey(Schema.Array(Texts)),
  createdAt: Schema.optionalKey(Schema.String),
  updatedAt: Schema.optionalKey(Schema.String),
  draft: Schema.optionalKey(Schema.Boolean),
  errorWorkflow: Schema.optionalKey(Schema.NullOr(Schema.String)),
  triggers: Schema.optionalKey(Schema.Array(Schema.String)),
  lastRun: Schema.optionalKey(Schema.NullOr(Texts))
})

/** Places of a workflow in a list; one that is asked for by its id has all. */
const fewUses = 10

/** `GET /workflows`: ids, names and whether they are published; archived ones only with `raw`. */
export const listWorkflows = Tool.make({
  name: "list_workflows",
  title: "List workflows",
  searchHint:
    "automations, find a workflow by name, tag, active; where is a node, credential, sub-workflow or webhook used",
  isEntry: true,
  description: "Find workflows by name, tag, state or use.",
  annotations: Tool.readOnly,
  // Callers use cursor instead of offset.
  unlisted: { offset: "never", project: "onRequest" },
  scopes: ["workflow:list"],
  input: Schema.Struct({
    ...WorkflowSelection.parameters,
    show: parameters.optional(Schema.Array(Schema.Literals(Columns.columns)), "Columns."),
    project: parameters.project,
    limit: parameters.optionalInt("limit", { minimum: 1, maximum: 100 }, "Rows.", WorkflowSelection.defaultLimit),
    offset: parameters.rowOffset,
    cursor: parameters.cursor,
    raw: parameters.flag("Adds archived ones, tags, dates.")
  }),
  output: Schema.Struct({
    count: Schema.Int,
    workflows: Schema.Array(Row),
    /** Of ids and names, those that select nothing: `{id, why}`. */
    missing: Schema.optionalKey(Schema.Array(Texts)),
    /** Number of workflows searched for `uses`. */
    scanned: Schema.optionalKey(Schema.Int),
    /** Names of the error workflows, by id. */
    errorWorkflows: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
    nextCursor: Schema.optionalKey(Schema.String),
    hint: Schema.optionalKey(Schema.String),
    url: Schema.String
  }),
  handler: ({ project, raw, show = [], ...rest }) =>
    Effect.gen(function*() {
      const page = yield* WorkflowSelection.listed(rest, {
        ...rest,
        archived: raw,
        projectId: project,
        lastRun: show.includes("lastRun"),
        secrets: !(yield* Tool.RedactSecrets)
      })
      return {
        ...page,
        ...(yield* Columns.fill(show, page.selected)),
        url: links.workflows((yield* N8nClient).instance)
      }
    }),
  ending: ({ cursors, selected, ...rest }) => ({
    size: selected.length,
    after: (count) => ({
      ...rest,
      selected: selected.slice(0, count),
      cursors,
      nextCursor: cursors[count - 1],
      isPartial: false
    })
  }),
  summarize: ({ isPartial, missing, names, nextCursor, note, rows, scanned, selected, url }, { raw, uses, without }) =>
    defined({
      count: selected.length,
      workflows: selected.map(({ uses, workflow }, index) => ({
        id: workflow.id,
        name: Visible.line(workflow.name),
        active: workflow.active,
        ...(uses.length === 0 ? {} : { uses: uses.map((use) => ({ ...use })) }),
        ...(raw && defined({
          isArchived: workflow.isArchived ?? undefined,
          tags: Workflow.tagNames(workflow),
          nodeCount: workflow.nodes.length,
          createdAt: workflow.createdAt,
          updatedAt: workflow.updatedAt
        })),
        ...rows[index]
      })),
      missing: missing.length === 0 ? undefined : missing.map((each) => ({ ...each })),
      scanned: uses === undefined && without === undefined ? undefined : scanned,
      nextCursor,
      errorWorkflows: names,
      hint: ItemView.joinNotes([
        isPartial && `Only ${counted(scanned, "workflow")} searched so far: continue with cursor.`,
        note
      ]),
      url
    }),
  budget: (_, { ids }) => ids?.length === 1 ? {} : { lists: { "workflows[].uses": fewUses } },
  next: ({ uses }, { workflows }) => (path) => {
    const row = path === "workflows[].uses" ? workflows.find((each) => (each.uses?.length ?? 0) > fewUses) : undefined
    return row && Hints.call("list_workflows", { ids: [row.id], uses })
  },
  message: ({ count }) => ({
    en: `Found ${counted(count, "workflow")}`,
    ja: "ワークフロー一覧を取得しました"
  })
})
