import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Visible from "../../base/Visible.ts"
import * as links from "../../n8n/Links.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as parameters from "../shared/Parameters.ts"

const Row = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  type: Schema.optionalKey(Schema.String),
  /** Names of the folders from the top of the project to this one. */
  path: Schema.optionalKey(Schema.Array(Schema.String)),
  workflows: Schema.optionalKey(Schema.Int)
})

/** Maximum number of rows read; few n8n instances have as many. */
const maxRows = 1_000

/** `GET /projects`, or `GET /projects/{id}/folders`. */
export const projectList = Tool.make({
  name: "project_list",
  title: "List projects",
  searchHint: "teams, projects, folders, where to put a workflow",
  description: "List projects, or the folders of a project, for the project and folder of other tools.",
  annotations: Tool.readOnly,
  scopes: ["project:list"],
  partialScopes: { "folder:list": "folders" },
  input: Schema.Struct({
    project: parameters.optional(Schema.String.check(Schema.isMinLength(1)), "Id, or personal: list its folders."),
    limit: parameters.limit,
    offset: parameters.rowOffset
  }),
  output: Schema.Struct({ count: Schema.Int, rows: Schema.Array(Row), total: Schema.Int, url: Schema.String }),
  handler: ({ limit, offset, project }) =>
    Effect.gen(function*() {
      const n8n = yield* N8nClient
      const rows = project === undefined
        ? Stream.map(n8n.streamProjects, ({ id, name, type }): typeof Row.Type => defined({ id, name, type }))
        : Stream.map(n8n.streamFolders(project), ({ id, name, path, workflowCount }): typeof Row.Type =>
          defined({ id, name, path, workflows: workflowCount }))
      const all = yield* Stream.runCollect(Stream.take(rows, maxRows))
      return { rows: all.slice(offset, offset + limit), total: all.length, url: links.workflows(n8n.instance) }
    }),
  summarize: ({ rows, total, url }) => ({
    count: rows.length,
    rows: rows.map((row) => defined({ ...row, name: Visible.line(row.name), path: row.path?.map(Visible.line) })),
    total,
    url
  }),
  totals: ({ rows, total }, { offset }) => parameters.totals("rows", offset + rows.length, total),
  message: ({ count }, { project }) => ({
    en: `Found ${counted(count, project === undefined ? "project" : "folder")}`,
    ja: "プロジェクトの一覧を取得しました"
  }),
  next: ({ offset, ...rest }) => (path, count) =>
    path === "rows" ? Hints.call("project_list", { ...rest, offset: offset + count }) : undefined
})
