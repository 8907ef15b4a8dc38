import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { defined, obj, str } from "../domain/Json.ts"
import { truncated } from "../domain/Truncated.ts"
import * as Workflow from "../domain/Workflow.ts"
import { placeOf, type WorkflowPlace } from "../domain/WorkflowPlace.ts"
import { N8nClient } from "../N8nClient.ts"
import * as N8nError from "../N8nError.ts"
import { Snapshots } from "../Snapshots.ts"
import * as Tool from "../Tool.ts"
import { WorkflowFiles } from "../WorkflowFiles.ts"
import * as Workflows from "../Workflows.ts"
import { WorkflowStore } from "../WorkflowStore.ts"
import * as links from "./links.ts"
import * as parameters from "./parameters.ts"
import * as writing from "./writing.ts"

const Row = Schema.Struct({
  version: Schema.String,
  source: Schema.Literals(["n8n", "snapshot"]),
  createdAt: Schema.String,
  authors: Schema.optionalKey(Schema.String),
  operation: Schema.optionalKey(Schema.String)
})
type Row = typeof Row.Type

const anyId = parameters.workflowId.annotate({ description: "n8n id, .json path or draft id." })

type FilePlace = Exclude<WorkflowPlace, { readonly kind: "n8n" }>

const snapshotsOfFile = Effect.fnUntraced(function*({ path }: FilePlace) {
  const located = yield* WorkflowFiles.use((files) => files.locate(path))
  return yield* Snapshots.use((snapshots) => snapshots.list(Workflows.files, located))
})

/** n8n's own versions (2.x) and the snapshots of before our writes, in one list. */
export const workflowHistory = Tool.make({
  name: "workflow_history",
  title: "Workflow history",
  searchHint: "versions, snapshots, who changed it, undo",
  description:
    "Versions of a workflow, newest first: n8n's own and the snapshots kept before each write of this server, also of a deleted workflow. Next: workflow_restore.",
  annotations: Tool.readOnly,
  scopes: ["workflow:read"],
  input: Schema.Struct({ id: anyId, limit: parameters.limit }),
  output: Schema.Struct({
    id: Schema.String,
    versions: Schema.Array(Row),
    /** Where a person sees those of n8n. */
    url: Schema.optionalKey(Schema.String),
    ...truncated
  }),
  handler: ({ id }) =>
    Effect.gen(function*() {
      const place = placeOf(id)
      if (place.kind !== "n8n") return { kept: yield* snapshotsOfFile(place), versions: [], url: undefined }
      const n8n = yield* N8nClient
      const kept = yield* Snapshots.use((snapshots) => snapshots.list(n8n.instance, id))
      // A workflow that is gone still has its snapshots; without any, it is simply not found.
      const versions = yield* n8n.getWorkflow(id).pipe(
        Effect.andThen(n8n.workflowHistory(id)),
        Effect.catchTag("NotFoundError", (error) => kept.length > 0 ? Effect.succeed([]) : Effect.fail(error))
      )
      return {
        kept,
        versions: versions ?? [],
        url: versions === undefined || versions.length === 0 ? undefined : links.history(n8n.instance, id)
      }
    }),
  summarize: ({ kept, url, versions }, { id, limit }) => {
    const rows: ReadonlyArray<Row> = [
      ...versions.map(({ authors, createdAt, versionId }): Row =>
        defined({ version: versionId, source: "n8n" as const, createdAt, authors: authors ?? undefined })
      ),
      ...kept.map(({ createdAt, operation, version }): Row => ({
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

const isSnapshot = (version: string) => version.startsWith("snapshot-")

/** What a snapshot brings back; a PUT takes no more. */
const partsOf = (snapshot: unknown) => {
  const { connections, name, nodeGroups, nodes, pinData, settings, staticData } = obj(snapshot) ?? {}
  return defined({ name: str(name), nodes, connections, settings, pinData, staticData, nodeGroups })
}

const restoreAnew = Effect.fnUntraced(function*(id: string, snapshot: unknown) {
  const store = yield* WorkflowStore
  const written = yield* store.create(partsOf(snapshot), { source: "file", tags: tagsOf(snapshot) })
  return {
    ...written,
    warnings: [
      `'${id}' was deleted: it was created anew, unpublished, as '${written.workflow.id}'`,
      ...written.warnings
    ]
  }
})

const tagsOf = (snapshot: unknown): ReadonlyArray<string> => {
  const tags = obj(snapshot)?.["tags"]
  return Array.isArray(tags) ? tags.flatMap((tag) => str(obj(tag)?.["name"]) ?? []) : []
}

const restore = Effect.fnUntraced(function*(id: string, version: string, confirm: boolean) {
  const n8n = yield* N8nClient
  const store = yield* WorkflowStore
  const snapshot = isSnapshot(version)
    ? (yield* Snapshots.use((snapshots) => snapshots.read(n8n.instance, id, version))).workflow
    : undefined
  const current = yield* n8n.getWorkflow(id).pipe(
    Effect.catchTag("NotFoundError", (error) => snapshot === undefined ? Effect.fail(error) : Effect.succeed(undefined))
  )
  const name = current?.name ?? str(obj(snapshot)?.["name"]) ?? id
  yield* writing.confirmed(confirm, `Bring back version ${version} of the workflow '${name}' (${id})?`)
  if (current === undefined) return yield* restoreAnew(id, snapshot)
  const options = { operation: "workflow_restore", source: "file" } as const
  if (snapshot === undefined) {
    const { connections, nodeGroups, nodes } = yield* n8n.workflowVersion(id, version)
    return yield* store.update(id, defined({ nodes, connections, nodeGroups }), options)
  }
  const tags = tagsOf(snapshot)
  const isRetagged = tags.toSorted().join("\n") !== [...Workflow.tagNames(current)].toSorted().join("\n")
  const written = yield* store.update(id, partsOf(snapshot), { ...options, ...(isRetagged ? { tags } : {}) })
  const settings = obj(obj(snapshot)?.["settings"]) ?? {}
  const left = Object.keys(obj(written.workflow.settings) ?? {}).filter((key) => settings[key] === undefined)
  return left.length === 0
    ? written
    : {
      ...written,
      warnings: [...written.warnings, `n8n cannot take away these settings, they stay: ${left.join(", ")}`]
    }
})

const restoreOnN8n = (id: string, version: string, confirm: boolean) =>
  restore(id, version, confirm).pipe(
    Effect.catchIf(
      (error): error is N8nError.NotFound => error._tag === "NotFoundError" && error.resourceType === "Version",
      (error) => Effect.fail(new N8nError.NotFound({ ...error, hint: "workflow_history lists the versions." }))
    ),
    writing.withUrl,
    Effect.map((written) => writing.summarize(written, false))
  )

/** Brings a file back byte for byte. */
const restoreFile = Effect.fnUntraced(function*(id: string, { path }: FilePlace, version: string, confirm: boolean) {
  const files = yield* WorkflowFiles
  const located = yield* files.locate(path)
  const { workflow } = yield* Snapshots.use((snapshots) => snapshots.read(Workflows.files, located, version))
  const text = str(obj(workflow)?.["text"]) ?? ""
  yield* writing.confirmed(confirm, `Bring back version ${version} of the file ${located}?`)
  yield* files.save(path, () => Effect.succeed(text), Workflows.keepFile("workflow_restore"))
  const { value } = yield* files.read(path)
  const { active, name } = obj(value) ?? {}
  return { id, name: str(name) ?? id, active: active === true }
})

/** A write like any other, of what was there before. */
export const workflowRestore = Tool.make({
  name: "workflow_restore",
  title: "Restore workflow",
  searchHint: "undo, roll back, revert, bring back a deleted workflow",
  description:
    "Bring back a version from workflow_history. n8n's versions hold nodes and connections; snapshots hold everything, and bring back deleted workflows under a new id.",
  annotations: Tool.destructive,
  scopes: ["workflow:update", "workflow:create", "workflow:read"],
  input: Schema.Struct({
    id: anyId,
    version: Schema.String.check(Schema.isMinLength(1, { message: "Version is required" }))
      .annotate({ description: "A version from workflow_history." })
      .pipe(Schema.annotateKey({ messageMissingKey: "Version is required" })),
    confirm: writing.confirm
  }),
  output: writing.Output,
  handler: ({ confirm, id, version }) =>
    Effect.gen(function*() {
      const place = placeOf(id)
      return place.kind === "n8n"
        ? yield* restoreOnN8n(id, version, confirm)
        : yield* restoreFile(id, place, version, confirm)
    }),
  summarize: (restored) => restored,
  message: ({ id }) => ({ en: `Restored workflow '${id}'`, ja: "ワークフローを復元しました" })
})
