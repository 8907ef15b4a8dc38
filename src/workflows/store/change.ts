/** A change before it is written: the current workflow, its new state, and whether it may be written. */
import * as Effect from "effect/Effect"
import * as Errors from "../../base/Errors.ts"
import { defined, equals, type Obj, obj } from "../../base/Json.ts"
import { NodeCatalogue } from "../../catalogue/NodeCatalogue.ts"
import * as TestMark from "../../n8n/model/TestMark.ts"
import type * as Workflow from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as WorkflowDiff from "../../workflow/diff/WorkflowDiff.ts"
import type * as Snapshots from "./Snapshots.ts"
import { hasValue, merge } from "./WorkflowBody.ts"

/** Result of a write. */
export interface Written {
  /** The workflow as read back. */
  readonly workflow: Workflow.Workflow
  readonly changed?: string
  /** Repairs, omissions and failures of later steps. */
  readonly warnings: ReadonlyArray<string>
  /** Version that ran before a publication. */
  readonly former?: string
  /** Whether the written version runs: `false` for a draft, absent if nothing is published. */
  readonly published?: boolean
  /** Whether a draft was reset to the published version, which runs as before; `published` is then absent. */
  readonly isReset?: boolean
}

/** Parts of a workflow to change; the rest is unchanged, and of settings those that are not named. */
export interface Patch {
  readonly name?: string
  readonly nodes?: ReadonlyArray<object>
  readonly connections?: object
  readonly settings?: object
  readonly description?: string
  readonly nodeGroups?: ReadonlyArray<object>
  readonly pinData?: object
  readonly staticData?: unknown
}

/** Options of a write. */
export interface UpdateOptions {
  /** Name of the tool, for the snapshot. */
  readonly operation: string
  /**
   * Source of the change: ambiguities (two nodes of one name, a connection to a node that does not exist) are reported
   * to a caller, who can fix them, and repaired in a file. Parts that n8n has or had are `stored`: they stay as they
   * are.
   */
  readonly source: "caller" | "file" | "stored"
  readonly expectedVersionId?: string | undefined
  readonly tags?: ReadonlyArray<string> | undefined
  readonly active?: boolean | undefined
  /** With `active: true`: if n8n refuses to publish the change, it is put back. */
  readonly isAllOrNothing?: boolean | undefined
  /** Leaves the change as a draft, if n8n's API writes drafts (2.40 and later). */
  readonly isDraft?: boolean | undefined
}

/** Changed parts of a workflow, and a result for the caller. */
export interface Modification<A> {
  readonly patch: Patch
  readonly result: A
}

/** Result of a change; `before` is the workflow that was changed. */
export interface Modified<A> extends Written {
  readonly before: Workflow.Workflow
  readonly result: A
}

export interface Means {
  readonly snapshots: Snapshots.Service
  readonly catalogue: typeof NodeCatalogue.Service
}

export type Change<A, R> = (before: Workflow.Workflow) => Effect.Effect<Modification<A>, Errors.N8nError, R>

/** Whether both are the same version and have equal values for these keys: some changes of settings make no version. */
export const isSameVersion = (a: Workflow.Workflow, b: Workflow.Workflow, keys: ReadonlyArray<string>) =>
  (a.versionId ?? "") === (b.versionId ?? "") && a.updatedAt === b.updatedAt &&
  keys.every((key) => equals(a[key], b[key]))

/** Whether someone else has written, and we have not. */
const isConflict = (error: Errors.N8nError) =>
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
      } (${version.createdAt}) was saved in between and overwritten: workflow_restore(id: '${after.id}', version: '${version.versionId}') brings it back`
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
    `it is no longer in version ${seen}, but in ${now.versionId ?? "another"}`,
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

/** Reads the workflow to write; fails for the temporary copy of a test. */
export const target = Effect.fnUntraced(function*(id: string) {
  const workflow = yield* N8nClient.use((n8n) => n8n.getWorkflow(id))
  if (!TestMark.isCopy(workflow)) return workflow
  return yield* Errors.invalid(
    "id",
    `Workflow '${id}' is a temporary copy that a test runs`,
    "Nothing was written. The test removes its copy when it ends: write to the tested workflow."
  )
})

/** Fails for the name of a test's copy: a workflow of that name would be removed. */
export const checkName = (name: unknown): Effect.Effect<void, Errors.ValidationError> =>
  typeof name === "string" && TestMark.isTaken(name)
    ? Errors.invalid(
      "name",
      `A name that begins with '${TestMark.mark}' is reserved for temporary copies of tests`,
      "Nothing was written. Use another name."
    )
    : Effect.void

export const keep = Effect.fnUntraced(function*({ snapshots }: Means, workflow: Workflow.Workflow, operation: string) {
  const n8n = yield* N8nClient
  yield* snapshots.save(n8n.instance, workflow, operation)
})

export const prepared = Effect.fnUntraced(function*<A, R>(
  { catalogue, snapshots }: Means,
  id: string,
  make: Change<A, R>,
  { expectedVersionId, source }: UpdateOptions
) {
  const before = yield* target(id)
  if (before.isArchived === true) {
    return yield* Errors.invalid(
      "id",
      `Workflow '${id}' is archived`,
      "Nothing was written. Unarchive it in n8n first."
    )
  }
  if (expectedVersionId !== undefined && expectedVersionId !== before.versionId) {
    return yield* moved(snapshots, expectedVersionId, before)
  }
  const { patch: parts, result } = yield* make(before)
  if (parts.name !== before.name) yield* checkName(parts.name)
  const patch: Obj = { ...parts }
  const { body, warnings } = yield* Effect.provideService(merge(before, patch, source), NodeCatalogue, catalogue)
  const changedKeys = Object.keys(patch).filter((key) => !hasValue(before[key], body[key], key === "settings"))
  return { before, patch, result, body, warnings, changedKeys }
})

const decideOnce = Effect.fnUntraced(function*<A, R>(
  means: Means,
  id: string,
  make: Change<A, R>,
  options: UpdateOptions
) {
  const n8n = yield* N8nClient
  const { active, operation, tags } = options
  const { before, body, changedKeys, patch, result, warnings } = yield* prepared(means, id, make, options)
  const isPut = changedKeys.length > 0
  if (isPut || tags !== undefined || active !== undefined) yield* keep(means, before, operation)
  if (isPut) {
    // The lock is for our own writers only, and n8n's PUT has no precondition: only a second look, after looking up
    // nodes and storing the snapshot, protects the changes of others.
    const now = yield* n8n.getWorkflow(id)
    if (!isSameVersion(now, before, Object.keys(patch))) {
      return yield* moved(means.snapshots, before.versionId ?? "?", now, before)
    }
  }
  return { before, patch, result, body, isPut, warnings }
})

/** Prepares a change and stores a snapshot; fails if someone else writes in the meantime. */
export const decided = <A, R>(means: Means, id: string, make: Change<A, R>, options: UpdateOptions, retries: number) =>
  decideOnce(means, id, make, options).pipe(
    Effect.retry({ times: options.expectedVersionId === undefined ? retries : 0, while: isConflict })
  )
