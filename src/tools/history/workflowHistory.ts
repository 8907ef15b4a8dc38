import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import { marksIn } from "../../answer/Truncated.ts"
import type * as Errors from "../../base/Errors.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Turn from "../../base/Turn.ts"
import * as links from "../../n8n/Links.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Backup from "../../tables/Backup.ts"
import * as WorkflowDiff from "../../workflow/diff/WorkflowDiff.ts"
import { WorkflowFiles } from "../../workflows/files/WorkflowFiles.ts"
import * as Reference from "../../workflows/Reference.ts"
import * as Snapshots from "../../workflows/store/Snapshots.ts"
import { Versions } from "../../workflows/store/Versions.ts"
import * as Workflows from "../../workflows/Workflows.ts"
import * as parameters from "../shared/Parameters.ts"

const Row = Schema.Struct({
  version: Schema.String,
  source: Schema.Literals(["n8n", "snapshot"]),
  createdAt: Schema.String,
  authors: Schema.optionalKey(Schema.String),
  operation: Schema.optionalKey(Schema.String),
  published: Schema.optionalKey(Schema.Boolean),
  current: Schema.optionalKey(Schema.Boolean),
  /** Changes since n8n's previous version; of a snapshot, changes from it to the next one, or to what is there now. */
  changed: Schema.optionalKey(Schema.String)
})
type Row = typeof Row.Type

interface History {
  /** Newest first. */
  readonly rows: ReadonlyArray<Row>
  /** Summarizes the changes between two versions from the same source. */
  readonly changed: (older: string, newer: string) => Effect.Effect<string, Errors.N8nError, N8nClient>
  /** Current workflow, with which the newest snapshot is compared. */
  readonly current?: WorkflowDiff.Document | undefined
  /** Address of n8n's own versions in the editor. */
  readonly url?: string | undefined
}

const snapshotRow = ({ author, createdAt, operation, version }: Snapshots.Snapshot): Row =>
  defined({
    version,
    source: "snapshot" as const,
    createdAt,
    authors: author,
    operation: `before ${operation}`
  })

const newestFirst = (rows: ReadonlyArray<Row>) => rows.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt))

const historyOfFile = Effect.fnUntraced(function*(id: string, path: string) {
  const files = yield* WorkflowFiles
  const located = yield* files.locate(path)
  const snapshots = yield* Snapshots.Snapshots.use((service) => service.list(files.instance, located))
  const read = (reference: string) => Effect.map(Workflows.document(reference, "id"), ({ workflow }) => workflow)
  const services = yield* Effect.context<Effect.Services<ReturnType<typeof read>>>()
  return {
    rows: newestFirst(snapshots.map(snapshotRow)),
    changed: (older, newer) =>
      Effect.all([read(Reference.format(id, older)), read(Reference.format(id, newer))]).pipe(
        Effect.flatMap(([before, after]) => Turn.run(() => WorkflowDiff.lineSteps(before, after))),
        Effect.provideContext(services)
      ),
    current: yield* Effect.orElseSucceed(read(id), () => undefined)
  } satisfies History
})

const historyOnN8n = Effect.fnUntraced(function*(id: string) {
  const n8n = yield* N8nClient
  const all = yield* Versions
  const snapshots = yield* Snapshots.Snapshots.use((service) => service.list(n8n.instance, id))
  // A deleted workflow still has its snapshots; without any, the id is a data table's or unknown.
  const { versions, workflow } = yield* Effect.all(
    { workflow: n8n.getWorkflow(id), versions: n8n.workflowHistory(id) },
    { concurrency: 2 }
  ).pipe(
    Effect.catchTag(
      "NotFoundError",
      (error) => snapshots.length > 0 ? Effect.succeed({ workflow: undefined, versions: [] }) : Effect.fail(error)
    )
  )
  const own = (versions ?? []).map(({ authors, createdAt, versionId }): Row =>
    defined({
      version: versionId,
      source: "n8n" as const,
      createdAt,
      authors: authors ?? undefined,
      published: workflow?.active === true && workflow.activeVersionId === versionId ? true : undefined,
      current: workflow?.versionId === versionId ? true : undefined
    })
  )
  return {
    rows: newestFirst([...own, ...snapshots.map(snapshotRow)]),
    changed: (older, newer) => all.changed(id, older, newer),
    current: workflow,
    url: own.length === 0 ? undefined : links.history(n8n.instance, id)
  } satisfies History
})

/** Stored states of a data table, by its id or name; fails with `error` if it has none. */
const historyOfTable = Effect.fnUntraced(function*(name: string, error: Errors.N8nError) {
  const snapshots = yield* Effect.mapError(Backup.history(name), () => error)
  return snapshots.length === 0
    ? yield* error
    : { rows: newestFirst(snapshots.map(snapshotRow)), changed: () => Effect.fail(error) } satisfies History
})

/** Time limit for comparing the versions, which are listed anyway. */
const timeout = "20 seconds"

const page = Effect.fnUntraced(
  function*(id: string, { changed, current, rows }: History, offset: number, limit: number) {
    const lines = new Map<string, string>()
    const lineOf = Effect.fnUntraced(function*({ source, version }: Row, index: number) {
      const like = (others: ReadonlyArray<Row>) => others.find((row) => row.source === source)?.version
      // A snapshot was taken before an operation: what has changed since is what the operation did.
      const [older, newer] = source === "snapshot"
        ? [version, like(rows.slice(0, index).toReversed())]
        : [like(rows.slice(index + 1)), version]
      if (older === undefined) return undefined
      if (newer !== undefined) return yield* changed(older, newer)
      if (current === undefined) return undefined
      const { workflow } = yield* Workflows.document(Reference.format(id, older), "id")
      return yield* Turn.run(() => WorkflowDiff.lineSteps(workflow, current))
    })
    const shown = rows.slice(offset, offset + limit)
    yield* Effect.forEach(
      shown,
      (row, index) =>
        lineOf(row, offset + index).pipe(
          Effect.tap((line) => Effect.sync(() => line === undefined ? undefined : lines.set(row.version, line))),
          Effect.ignore
        ),
      { concurrency: 4, discard: true }
    ).pipe(Effect.timeoutOption(timeout))
    return shown.map((row): Row => defined({ ...row, changed: lines.get(row.version) }))
  }
)

/** Lists n8n's own versions (2.x) together with the snapshots taken before our writes. */
export const workflowHistory = Tool.make({
  name: "workflow_history",
  title: "Workflow history",
  searchHint: "versions, snapshots, who changed what, which change broke it, undo",
  description: "List versions, also of deleted workflows, with their changes.",
  annotations: Tool.readOnly,
  scopes: ["workflow:read"],
  // The mark of the next page names it.
  unlisted: { offset: "never" },
  input: Schema.Struct({ id: parameters.anyWorkflowId, limit: parameters.limit, offset: parameters.rowOffset }),
  output: Schema.Struct({
    id: Schema.String,
    versions: Schema.Array(Row),
    /** Address of n8n's own versions in the editor. */
    url: Schema.optionalKey(Schema.String)
  }),
  handler: ({ id, limit, offset }) =>
    Effect.gen(function*() {
      const place = Reference.placeOf(id)
      const history: History = place.kind === "n8n"
        ? yield* Effect.catchTag(historyOnN8n(id), "NotFoundError", (error) => historyOfTable(id, error))
        : yield* historyOfFile(id, place.path)
      return {
        versions: yield* page(id, history, offset, limit),
        total: history.rows.length,
        url: history.url
      }
    }),
  totals: ({ total, versions }, { offset }) => parameters.totals("versions", offset + versions.length, total),
  next: ({ offset, ...rest }) => (path, count) =>
    path === "versions" ? Hints.call("workflow_history", { ...rest, offset: offset + count }) : undefined,
  summarize: ({ url, versions }, { id }) => defined({ id, versions, url }),
  message: ({ id, versions, ...rest }) => {
    const total = marksIn(rest).find(({ path }) => path === "versions")?.total
    return {
      en: `${total === undefined ? "" : `${versions.length} of `}${
        counted(total ?? versions.length, "version")
      } of workflow '${id}'`,
      ja: "ワークフローの履歴を取得しました"
    }
  }
})
