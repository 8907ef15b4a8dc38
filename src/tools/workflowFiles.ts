import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { defined, type Obj, obj, str } from "../domain/Json.ts"
import * as JsonText from "../domain/json/JsonText.ts"
import { truncated } from "../domain/Truncated.ts"
import { draftId, placeOf } from "../domain/WorkflowPlace.ts"
import * as N8nError from "../N8nError.ts"
import * as Tool from "../Tool.ts"
import { WorkflowFiles } from "../WorkflowFiles.ts"
import * as Workflows from "../Workflows.ts"
import { resolved } from "../WorkflowStore/body.ts"
import * as parameters from "./parameters.ts"
import * as writing from "./writing.ts"

const offline = { openWorldHint: false } as const

const path = (description: string) => Schema.String.annotate({ description })

const print = (workflow: Obj) => `${JSON.stringify(workflow, null, 2)}\n`

/** A new workflow is a file from its first moment: nothing lives only in memory. */
export const workflowCreate = Tool.make({
  name: "workflow_create",
  title: "Create draft",
  searchHint: "new workflow file, draft, build offline, start from scratch",
  description:
    "Start a workflow as a file under the files root; needs no n8n. Then node_add, connection_create or workflow_edit; create_workflow_from_file brings it to n8n.",
  annotations: { ...Tool.additive, ...offline },
  scopes: [],
  input: Schema.Struct({
    name: Schema.String.check(
      Schema.isMinLength(1, { message: "Name is required" }),
      Schema.isMaxLength(128, { message: "n8n takes names of at most 128 characters" })
    ).annotate({ description: "The workflow's name." }).pipe(
      Schema.annotateKey({ messageMissingKey: "Name is required" })
    ),
    description: Schema.optionalKey(path("What it is for.")),
    active: Schema.optionalKey(
      Schema.Boolean.annotate({ description: "Only noted in the file; nothing is published." })
    ),
    settings: Schema.optionalKey(writing.jsonObject("Workflow settings.")),
    filePath: Schema.optionalKey(path("Where; default: a free name made of the workflow's."))
  }),
  output: Schema.Struct({
    workflowId: Schema.String,
    workflowData: Schema.Json,
    filePath: Schema.String,
    ...truncated
  }),
  handler: ({ active, description, filePath, name, settings }) =>
    Effect.gen(function*() {
      const files = yield* WorkflowFiles
      const workflow = defined({
        name,
        description,
        nodes: [],
        connections: {},
        active,
        settings: { executionOrder: "v1", ...settings }
      })
      if (filePath !== undefined) {
        const created = yield* files.create(filePath, print(workflow))
        return { workflow, workflowId: filePath, filePath: created.path }
      }
      const { path, stem } = yield* files.createFree(name, print(workflow))
      return { workflow, workflowId: draftId(stem), filePath: path }
    }),
  summarize: ({ filePath, workflow, workflowId }) => ({
    workflowId,
    workflowData: workflow as Schema.Json,
    filePath
  }),
  message: ({ workflowId }) => ({ en: `Started '${workflowId}'`, ja: "ワークフローを作成しました" })
})

/** Writes a workflow's JSON into a file; a workflow that was there is kept as a snapshot. */
export const workflowSave = Tool.make({
  name: "workflow_save",
  title: "Save workflow to file",
  searchHint: "export, write, back up a workflow as JSON",
  description:
    "Write a workflow's JSON to a .json file under the files root, for instance one of n8n to keep in git. What was there is kept: workflow_restore.",
  annotations: { ...Tool.destructive, ...offline },
  scopes: [],
  input: Schema.Struct({
    workflowId: Schema.String.annotate({ description: "Its id; kept in the file when workflowData has none." }),
    workflowData: writing.jsonObject("The whole workflow: {name, nodes, connections, settings}."),
    filePath: Schema.String.check(Schema.isMinLength(1, { message: "File path is required" })).annotate({
      description: "Where: a .json path under the files root."
    }).pipe(Schema.annotateKey({ messageMissingKey: "File path is required" }))
  }),
  output: Schema.Struct({ filePath: Schema.String, ...truncated }),
  handler: ({ filePath, workflowData, workflowId }) =>
    Effect.gen(function*() {
      if (!Array.isArray(workflowData["nodes"]) || obj(workflowData["connections"]) === undefined) {
        return yield* new N8nError.Validation({
          reason: "workflowData is no workflow: it needs 'nodes' (a list) and 'connections' (an object)",
          field: "workflowData",
          hint: "Nothing was written. Give the whole workflow, as workflow_load or get_workflow(raw) has it."
        })
      }
      const isLive = workflowId !== "" && placeOf(workflowId).kind === "n8n"
      const data = str(workflowData["id"]) === undefined && isLive ? { ...workflowData, id: workflowId } : workflowData
      const files = yield* WorkflowFiles
      return yield* files.save(
        filePath,
        (before) =>
          Effect.gen(function*() {
            const stored = before === undefined ? undefined : before.value
            const workflow = yield* resolved(data, stored)
            return before === undefined ? print(workflow) : JsonText.rewrite(before.text, workflow)
          }),
        Workflows.keepFile("workflow_save")
      )
    }),
  summarize: ({ path }) => ({ filePath: path }),
  message: ({ filePath }) => ({ en: `Saved ${filePath}`, ja: "ワークフローを保存しました" })
})

/** A workflow's JSON, from wherever it is. */
export const workflowLoad = Tool.make({
  name: "workflow_load",
  title: "Load workflow",
  searchHint: "read a workflow JSON file or draft, export from n8n",
  description:
    "A workflow's whole JSON from a file, a draft or n8n. To read single nodes of one on n8n, get_workflow costs less.",
  annotations: Tool.readOnly,
  scopes: ["workflow:read"],
  input: Schema.Struct({
    workflowIdOrPath: Schema.String.check(Schema.isMinLength(1, { message: "Workflow ID or path is required" }))
      .annotate({ description: "A .json path, a draft's id, or an n8n id." })
      .pipe(Schema.annotateKey({ messageMissingKey: "Workflow ID or path is required" }))
  }),
  output: Schema.Struct({
    workflowId: Schema.String,
    source: Schema.Literals(["n8n", "file", "draft"]),
    workflowData: Schema.Json,
    warnings: Schema.optionalKey(Schema.Array(Schema.String)),
    ...truncated
  }),
  handler: ({ workflowIdOrPath }) => Workflows.open(workflowIdOrPath),
  summarize: ({ place, repairs, value }, { workflowIdOrPath }) => {
    const { activeVersion: _, shared: __, ...data } = obj(value) ?? {}
    return defined({
      workflowId: workflowIdOrPath,
      source: place.kind,
      workflowData: (obj(value) === undefined ? value : data) as Schema.Json,
      warnings: repairs.length === 0 ? undefined : repairs
    })
  },
  message: ({ source, workflowId }) => ({
    en: `Loaded ${source === "n8n" ? `workflow '${workflowId}'` : `'${workflowId}'`}`,
    ja: "ワークフローを読み込みました"
  })
})

/** The workflows in a folder. */
export const workflowList = Tool.make({
  name: "workflow_list",
  title: "List workflow files",
  searchHint: "find workflow JSON files, drafts in the project",
  description: "Workflow files in a folder under the files root, with their names; list_workflows lists those on n8n.",
  annotations: { ...Tool.readOnly, ...offline },
  scopes: [],
  input: Schema.Struct({
    directoryPath: Schema.optionalKey(path("Folder; default: the files root.")),
    limit: parameters.limit,
    offset: parameters.offset("offset", "How many to skip.")
  }),
  output: Schema.Struct({
    workflows: Schema.Array(Schema.Struct({
      id: Schema.optionalKey(Schema.String),
      name: Schema.String,
      path: Schema.String,
      lastModified: Schema.String
    })),
    total: Schema.Int,
    unreadable: Schema.optionalKey(Schema.Array(Schema.Struct({ path: Schema.String, reason: Schema.String }))),
    unreadableCount: Schema.optionalKey(Schema.Int),
    ...truncated
  }),
  handler: ({ directoryPath, limit, offset }) =>
    WorkflowFiles.use((files) => files.list(directoryPath, { limit, offset })),
  summarize: ({ total, unreadable, unreadableCount, workflows }) =>
    defined({
      workflows,
      total,
      unreadable: unreadable.length === 0 ? undefined : unreadable,
      unreadableCount: unreadableCount === 0 ? undefined : unreadableCount
    }),
  message: ({ total, workflows }) => ({
    en: `${workflows.length} of ${total} workflow file${total === 1 ? "" : "s"}`,
    ja: "ワークフロー一覧を取得しました"
  })
})
