import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import * as Errors from "../../base/Errors.ts"
import { defined, obj, str } from "../../base/Json.ts"
import * as Visible from "../../base/Visible.ts"
import * as TestMark from "../../n8n/model/TestMark.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import { WorkflowFiles } from "../../workflows/files/WorkflowFiles.ts"
import { Snapshots } from "../../workflows/store/Snapshots.ts"
import { WorkflowStore } from "../../workflows/store/WorkflowStore.ts"
import { placeOf } from "../../workflows/WorkflowPlace.ts"
import * as Workflows from "../../workflows/Workflows.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

const isSnapshot = (version: string) => version.startsWith("snapshot-")

/** The parts of a snapshot that a PUT takes. */
const partsOf = (snapshot: unknown) => {
  const { connections, name, nodeGroups, nodes, pinData, settings, staticData } = obj(snapshot) ?? {}
  return defined({ name: str(name), nodes, connections, settings, pinData, staticData, nodeGroups })
}

const recreate = Effect.fnUntraced(function*(id: string, snapshot: unknown) {
  const store = yield* WorkflowStore
  const parts = partsOf(snapshot)
  const { name = id } = parts
  const written = yield* store.create(
    { ...parts, name: TestMark.isTaken(name) ? `Restored ${TestMark.original(name)}` : name },
    { source: "file", tags: tagsOf(snapshot) }
  )
  return {
    ...written,
    warnings: [
      `'${id}' was deleted; it was recreated, unpublished, as '${written.workflow.id}'`,
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
  yield* writing.requireConsent(confirm, `Restore version ${version} of workflow ${id} ('${Visible.label(name)}')?`)
  if (current === undefined) return yield* recreate(id, snapshot)
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
      warnings: [...written.warnings, `n8n cannot remove these settings; they stay: ${left.join(", ")}`]
    }
})

const restoreOnN8n = (id: string, version: string, confirm: boolean) =>
  restore(id, version, confirm).pipe(
    Effect.catchIf(
      (error): error is Errors.NotFoundError => error._tag === "NotFoundError" && error.resourceType === "Version",
      (error) => Effect.fail(new Errors.NotFoundError({ ...error, hint: "workflow_history lists the versions." }))
    ),
    writing.withUrl,
    Effect.map((written) => writing.summarize(written, false))
  )

/** Restores a file byte for byte. */
const restoreFile = Effect.fnUntraced(function*(id: string, path: string, version: string, confirm: boolean) {
  const files = yield* WorkflowFiles
  const located = yield* files.locate(path)
  const { workflow } = yield* Snapshots.use((snapshots) => snapshots.read(Workflows.files, located, version))
  const text = str(obj(workflow)?.["text"]) ?? ""
  yield* writing.requireConsent(confirm, `Restore version ${version} of the file ${located}?`)
  yield* files.save(path, () => Effect.succeed(text), Workflows.keepFile("workflow_restore"))
  const { value } = yield* files.read(path)
  const { active, name } = obj(value) ?? {}
  return { id, name: str(name) ?? id, active: active === true }
})

/** Writes an earlier version; what it overwrites is kept as any write's is. */
export const workflowRestore = Tool.make({
  name: "workflow_restore",
  title: "Restore workflow",
  searchHint: "undo, roll back, revert, bring back a deleted workflow",
  description:
    "Restore a version from workflow_history. n8n's versions hold nodes and connections; snapshots hold everything and recreate deleted workflows under a new id.",
  // A deleted workflow is created anew each time.
  annotations: { ...Tool.destructive, idempotentHint: false },
  scopes: ["workflow:update", "workflow:create", "workflow:read"],
  input: Schema.Struct({
    id: parameters.anyWorkflowId,
    version: parameters.required("Version", "A version from workflow_history."),
    confirm: writing.confirm
  }),
  output: writing.Output,
  handler: ({ confirm, id, version }) =>
    Effect.gen(function*() {
      const place = placeOf(id)
      return place.kind === "n8n"
        ? yield* restoreOnN8n(id, version, confirm)
        : yield* restoreFile(id, place.path, version, confirm)
    }),
  summarize: (workflow) => workflow,
  message: ({ id }) => ({ en: `Restored workflow '${id}'`, ja: "ワークフローを復元しました" })
})
