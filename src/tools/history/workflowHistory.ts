import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import { WorkflowFiles } from "../../workflows/files/WorkflowFiles.ts"
import { Snapshots } from "../../workflows/store/Snapshots.ts"
import { Versions } from "../../workflows/store/Versions.ts"
import { placeOf } from "../../workflows/WorkflowPlace.ts"
import * as Workflows from "../../workflows/Workflows.ts"
import * as links from "../shared/Links.ts"
import * as parameters from "../shared/Parameters.ts"

const Row = Schema.Struct({
  version: Schema.String,
  source: Schema.Literals(["n8n", "snapshot"]),
  createdAt: Schema.String,
  authors: Schema.optionalKey(Schema.String),
  operation: Schema.optionalKey(Schema.String)
})
type Row = typeof Row.Type

const snapshotsOfFile = Effect.fnUntraced(function*(path: string) {
  const located = yield* WorkflowFiles.use((files) => files.locate(path))
  return yield* Snapshots.use((snapshots) => snapshots.list(Workflows.files, located))
})

/** n8n's own versions (2.x) and the snapshots of before our writes, in one list. */
export const workflowHistory = Tool.make({
  name: "workflow_history",
  title: "Workflow history",
  searchHint: "versions, snapshots, who changed it, undo",
  description:
    "List a workflow's versions, newest first: n8n's own and this server's snapshots from before each write, even if it was deleted. Next: workflow_restore.",
  annotations: Tool.readOnly,
  scopes: ["workflow:read"],
  input: Schema.Struct({ id: parameters.anyWorkflowId, limit: parameters.limit }),
  output: Schema.Struct({
    id: Schema.String,
    versions: Schema.Array(Row),
    /** Where a person sees those of n8n. */
    url: Schema.optionalKey(Schema.String)
  }),
  handler: ({ id }) =>
    Effect.gen(function*() {
      const place = placeOf(id)
      if (place.kind !== "n8n") return { snapshots: yield* snapshotsOfFile(place.path), versions: [], url: undefined }
      const n8n = yield* N8nClient
      const snapshots = yield* Snapshots.use((store) => store.list(n8n.instance, id))
      // A workflow that is gone still has its snapshots; without any, it is simply not found.
      const versions = yield* n8n.getWorkflow(id).pipe(
        Effect.andThen(n8n.workflowHistory(id)),
        Effect.catchTag("NotFoundError", (error) => snapshots.length > 0 ? Effect.succeed([]) : Effect.fail(error))
      )
      yield* Versions.use((all) => all.note(id, (versions ?? []).map(({ versionId }) => versionId)))
      return {
        snapshots,
        versions: versions ?? [],
        url: versions === undefined || versions.length === 0 ? undefined : links.history(n8n.instance, id)
      }
    }),
  summarize: ({ snapshots, url, versions }, { id, limit }) => {
    const rows: ReadonlyArray<Row> = [
      ...versions.map(({ authors, createdAt, versionId }): Row =>
        defined({ version: versionId, source: "n8n" as const, createdAt, authors: authors ?? undefined })
      ),
      ...snapshots.map(({ createdAt, operation, version }): Row => ({
        version,
        source: "snapshot",
        createdAt,
        operation: `before ${operation}`
      }))
    ]
    return defined({
      id,
      versions: rows.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt)).slice(0, limit),
      url
    })
  },
  message: ({ id, versions }) => ({
    en: `${versions.length} versions of workflow '${id}'`,
    ja: "ワークフローの履歴を取得しました"
  })
})
