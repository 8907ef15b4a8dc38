/** Comparisons of a workflow with the state that a write has read, since n8n's `PUT` has no precondition. */
import * as Effect from "effect/Effect"
import * as Errors from "../../base/Errors.ts"
import { defined, equals, type Obj, obj } from "../../base/Json.ts"
import type * as Workflow from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as WorkflowDiff from "../../workflow/diff/WorkflowDiff.ts"
import type * as Snapshots from "./Snapshots.ts"

/** Whether both are the same version and have equal values for these keys: some changes of settings make no version. */
export const isSameVersion = (a: Workflow.Workflow, b: Workflow.Workflow, keys: ReadonlyArray<string>) =>
  (a.versionId ?? "") === (b.versionId ?? "") && a.updatedAt === b.updatedAt &&
  keys.every((key) => equals(a[key], b[key]))

/** Whether someone else has written, and we have not. */
export const isConflict = (error: Errors.N8nError) =>
  error._tag === "ApiError" && error.reason._tag === "VersionConflict" || Errors.statusOf(error) === 409

export const isWritten = (workflow: Workflow.Workflow, body: Obj) =>
  workflow.name === body["name"] && equals(workflow.connections, body["connections"]) &&
  equals(essentials(workflow.nodes), essentials(body["nodes"]))

/** The parts of nodes that n8n stores as they are sent. */
const essentials = (nodes: unknown) =>
  (Array.isArray(nodes) ? nodes : []).map((node) => {
    const { disabled, name, parameters, type } = obj(node) ?? {}
    return { name, type, parameters, disabled: disabled === true }
  })

const recent = 10

const versionsOf = Effect.fnUntraced(function*(id: string) {
  const n8n = yield* N8nClient
  return (yield* n8n.workflowHistory(id, { limit: recent }).pipe(Effect.orElseSucceed(() => undefined))) ?? []
})

/** Warnings about versions that someone else saved between the one that was read and ours. */
export const overwritten = Effect.fnUntraced(function*(before: Workflow.Workflow, after: Workflow.Workflow) {
  const versions = yield* versionsOf(after.id)
  const ours = versions.findIndex((version) => version.versionId === after.versionId)
  const read = versions.findIndex((version) => version.versionId === before.versionId)
  return ours === -1 || read === -1 ?
    [] :
    versions.slice(ours + 1, read).map((version) =>
      `version ${version.versionId} of ${
        version.authors ?? "someone else"
      } (${version.createdAt}) was saved in between and overwritten: restore version '${version.versionId}' of '${after.id}' to bring it back`
    )
})

/** Workflow in an earlier version: our snapshot, which is complete, or n8n's version (2.x). */
const versionOf = Effect.fnUntraced(function*(snapshots: Snapshots.Service, now: Workflow.Workflow, version: string) {
  const n8n = yield* N8nClient
  const stored = yield* snapshots.list(n8n.instance, now.id).pipe(Effect.orElseSucceed(() => []))
  // The oldest of several: the name and settings may have changed later within the version.
  const snapshot = stored.findLast(({ versionId }) => versionId === version)
  if (snapshot !== undefined) {
    const state = yield* snapshots.read(n8n.instance, now.id, snapshot.version).pipe(Effect.option)
    if (state._tag === "Some") return obj(state.value.workflow)
  }
  return yield* n8n.workflowVersion(now.id, version).pipe(
    Effect.map(({ connections, nodes }): Obj => ({ ...now, nodes, connections })),
    Effect.orElseSucceed(() => undefined)
  )
})

/**
 * Fails with the current version instead of the expected one, its author, time and changes as far as n8n and the
 * snapshots have them. `before` is the expected state, if available.
 */
export const moved = Effect.fnUntraced(function*(
  snapshots: Snapshots.Service,
  seen: string,
  now: Workflow.Workflow,
  before?: Workflow.Workflow
) {
  const versions = yield* versionsOf(now.id)
  const author = versions.find(({ versionId }) => versionId === now.versionId)?.authors
  const then = before ?? (yield* versionOf(snapshots, now, seen))
  const details = [
    seen === now.versionId
      ? "it was changed meanwhile, in parts that a version does not hold"
      : `it is no longer in version ${seen}, but in ${now.versionId ?? "another"}`,
    ...(author ? [`by ${author}`] : []),
    ...(now.updatedAt === undefined ? [] : [now.updatedAt]),
    ...(then === undefined ? [] : [`changed: ${WorkflowDiff.summary(then, now)}`])
  ]
  return yield* new Errors.ApiError({
    operation: "update workflow",
    resourceType: "Workflow",
    resourceId: now.id,
    reason: new Errors.VersionConflict({
      details: details.join(", "),
      expectedVersionId: seen,
      ...defined({ currentVersionId: now.versionId ?? undefined })
    }),
    hint: ["Nothing was written.", { _tag: "ReadAgain" }]
  })
})
