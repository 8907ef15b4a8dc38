/** Opens and changes workflows on n8n, in files and in drafts. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Hint } from "../base/Advice.ts"
import * as Errors from "../base/Errors.ts"
import { type Obj, obj, str } from "../base/Json.ts"
import { mapStrings } from "../base/JsonPath.ts"
import * as Rows from "../base/Rows.ts"
import type { NodeCatalogue } from "../catalogue/NodeCatalogue.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { isV1, N8nClient, writesDrafts } from "../n8n/N8nClient.ts"
import { preview, puttingBack } from "../n8n/WriteGuard.ts"
import * as Contents from "../workflow/Contents.ts"
import type { Created } from "../workflow/edit/WorkflowEdit.ts"
import * as Placeholders from "../workflow/Placeholders.ts"
import * as WorkflowInput from "../workflow/repair/WorkflowInput.ts"
import { WorkflowFiles } from "./files/WorkflowFiles.ts"
import * as NodeLookups from "./NodeLookups.ts"
import * as Reference from "./Reference.ts"
import { Snapshots } from "./store/Snapshots.ts"
import { Versions } from "./store/Versions.ts"
import { WorkflowStore, type Written } from "./store/WorkflowStore.ts"
import { patchOf } from "./WorkflowEdit.ts"
import { placeOf, selectorOf, type WorkflowPlace } from "./WorkflowPlace.ts"
import * as WorkflowValidation from "./WorkflowValidation.ts"

export interface Made {
  readonly id: string
  readonly name: string
  readonly active: boolean
  readonly warnings: ReadonlyArray<string>
}

export const withIds = (workflow: Obj, ids: ReadonlyMap<string, string>): Obj =>
  ids.size === 0 ? workflow : {
    ...workflow,
    nodes: mapStrings(
      workflow["nodes"],
      (text) => [...ids].reduce((result, [before, after]) => result.replaceAll(before, after), text)
    )
  }

/** Creates workflows; n8n 2 runs them for a published caller only if they are published. */
export const create = Effect.fnUntraced(function*(
  created: ReadonlyArray<Created>,
  mustPublish: boolean,
  made: Array<Made>
) {
  const release = yield* N8nClient.use((n8n) => n8n.release)
  const ids = new Map<string, string>()
  for (const { id, workflow } of created) {
    const { warnings, workflow: stored } = yield* WorkflowStore.use((store) =>
      store.create(withIds(workflow, ids), { source: "stored", active: !isV1(release) })
    )
    made.push({ id: stored.id, name: stored.name, active: stored.active, warnings })
    ids.set(id, stored.id)
    if (mustPublish && !stored.active && !isV1(release)) {
      return yield* Errors.invalid(
        "publish",
        `The new workflow '${stored.name}' cannot be published: ${warnings.join("; ")}`,
        "Nothing was changed. Correct this in the same operations, or leave out publish."
      )
    }
  }
  return ids
})

const withHint = (error: Errors.N8nError, hint: Hint): Errors.N8nError => {
  const all = [error.hint ?? [], hint].flat()
  return error._tag === "ApiError"
    ? new Errors.ApiError({ ...error, hint: all })
    : error._tag === "NotFoundError"
    ? new Errors.NotFoundError({ ...error, hint: all })
    : error._tag === "ValidationError"
    ? new Errors.ValidationError({ ...error, hint: all })
    : error
}

/** Removes created workflows that the caller does not name; returns those that are still there. */
export const discard = Effect.fnUntraced(function*(callerId: string, made: Array<Made>) {
  if (made.length === 0) return []
  const caller = yield* N8nClient.use((n8n) => n8n.getWorkflow(callerId)).pipe(Effect.option)
  const text = caller._tag === "None" ? undefined : JSON.stringify(caller.value)
  const left = yield* Effect.forEach(made.splice(0), (each) =>
    text === undefined || text.includes(`"${each.id}"`)
      ? Effect.succeed([each])
      : puttingBack(WorkflowStore.use((store) => store.remove(each.id))).pipe(
        Effect.as([]),
        Effect.orElseSucceed(() => [each])
      ))
  return left.flat()
})

/** Removes created workflows if the effect fails or is interrupted; names those that could not be removed. */
export const discarding =
  (callerId: string, made: Array<Made>) => <A, R>(effect: Effect.Effect<A, Errors.N8nError, R>) =>
    effect.pipe(
      Effect.catch((error) =>
        Effect.flatMap(Effect.uninterruptible(discard(callerId, made)), (left) =>
          Effect.fail(
            left.length === 0 ? error : withHint(
              error,
              `The new workflow ${left.map(({ id, name }) => `'${name}' (${id})`).join(", ")} is still there: ` +
                `if workflow '${callerId}' does not call it, delete it.`
            )
          ))
      ),
      Effect.onInterrupt(() => Effect.ignore(discard(callerId, made)))
    )

const ofWorkflowId = (place: WorkflowPlace, field = "workflowId") => (error: Errors.ValidationError) =>
  new Errors.ValidationError({
    ...error,
    field,
    ...(place.kind !== "draft" ? {} : {
      reason: `Draft '${place.id}' cannot be opened: ${error.reason}`,
      hint: [error.hint, { _tag: "ListFiles" } as const].flat()
    })
  })

const openFileVersion = Effect.fnUntraced(function*(place: WorkflowPlace & { readonly path: string }, version: string) {
  const files = yield* WorkflowFiles
  const path = yield* files.locate(place.path)
  if (version === Reference.published) {
    return yield* Errors.invalid("version", "A file is not published", "Leave out @published to read the file.")
  }
  const { workflow } = yield* Snapshots.use((snapshots) => snapshots.read(files.instance, path, version))
  const contents = Contents.read(str(obj(workflow)?.["text"]) ?? "")
  const inside = yield* Effect.mapError(
    Effect.fromResult(Contents.one(contents, selectorOf(place.path))),
    (why) =>
      Errors.invalid("version", `Snapshot '${version}' is not a workflow: ${why}`, { _tag: "ListRestorableVersions" })
  )
  return { value: inside.workflow, repairs: [] }
})

/**
 * Opens the workflow that a reference names (see {@link Reference.parse}); `field` is the argument with the reference.
 * The value is the response of `GET /workflows/{id}`, also for an earlier version, or the workflow in a file, which
 * may be far from right; `repairs` are those of its syntax and form, `notes` are about the version, and `current` is the
 * workflow now, if the version has no settings of its own.
 */
export const open = Effect.fn("Workflows.open")(function*(reference: string, field = "workflowId") {
  const { place, version } = Reference.parse(reference)
  const inField = (error: Errors.N8nError) =>
    error._tag === "ValidationError" && error.field === "version"
      ? new Errors.ValidationError({ ...error, field })
      : error
  if (place.kind === "n8n" && place.id === "") {
    return yield* Errors.invalid(field, "Workflow ID is required", { _tag: "ListWorkflows" })
  }
  if (version === "") {
    return yield* Errors.invalid(
      field,
      `'${reference}' has no version after the @`,
      "Write ID@published or ID@VERSION, or leave out the @."
    )
  }
  const from = { place, ...(version === undefined ? {} : { version }), repairs: [], notes: [], current: undefined }
  if (place.kind !== "n8n") {
    const { repairs, value } = yield* version === undefined
      ? WorkflowFiles.use((files) => files.workflow(place.path)).pipe(Effect.mapError(ofWorkflowId(place, field)))
      : Effect.mapError(openFileVersion(place, version), inField)
    return { ...from, value, repairs }
  }
  if (version === undefined) {
    return { ...from, value: yield* N8nClient.use((n8n) => n8n.getWorkflow(place.id)) }
  }
  const { workflow, ...rest } = yield* Versions.use((versions) => versions.read(place.id, version)).pipe(
    Effect.mapError(inField)
  )
  return { ...from, value: workflow, ...rest }
})

const decode = Schema.decodeUnknownEffect(Workflow.Workflow)

const noGraph = (reason: string, field: string) =>
  Errors.invalid(field, reason, { _tag: "ValidateWorkflow", detail: "Everything" })

/** Reads the workflow that a reference names; small mistakes in a file are repaired. */
export const read = Effect.fn("Workflows.read")(function*(reference: string, field = "id") {
  const { current, notes, place, value, version } = yield* open(reference, field)
  const from = { place, version, notes, current }
  const fault = ({ message }: Schema.SchemaError) => noGraph(`It is not a workflow: ${message}`, field)
  if (place.kind === "n8n") {
    return { ...from, workflow: yield* Effect.mapError(decode(value), fault) }
  }
  const lookups = yield* NodeLookups.make(Workflow.typesOf(obj(value) ?? {})).pipe(
    Effect.orElseSucceed(() => undefined)
  )
  const prepared = WorkflowInput.prepare(value, { source: "file", newId: () => "", versionOf: () => 1, lookups })
  if (Result.isFailure(prepared)) return yield* noGraph(prepared.failure.message, field)
  const workflow = {
    ...prepared.success.workflow,
    id: str(obj(value)?.["id"]) ?? reference,
    active: obj(value)?.["active"] === true,
    tags: Workflow.tagNames(obj(value) ?? {}).map((name) => ({ name }))
  }
  return { ...from, workflow: yield* Effect.mapError(decode(workflow), fault) }
})

const isByName = (workflow: Obj) => {
  const names = new Set<unknown>(Workflow.nodes(workflow).map(({ name }) => name))
  return obj(workflow["connections"]) !== undefined &&
    Object.keys(obj(workflow["connections"]) ?? {}).every((from) => names.has(from))
}

export const document = Effect.fn("Workflows.document")(function*(reference: string, field: string) {
  const { current, notes, value } = yield* open(reference, field)
  const workflow = obj(value)
  if (workflow !== undefined && Array.isArray(workflow["nodes"]) && isByName(workflow)) {
    return { workflow, notes, current }
  }
  return { workflow: (yield* read(reference, field)).workflow as Obj, notes, current }
})

export interface Change<A> {
  readonly workflow: Obj
  readonly result: A
  /** New workflows that this one calls; only for a workflow on n8n. */
  readonly created?: ReadonlyArray<Created>
}

/** State after a dry run, had it been written: whether the change would be live, for a workflow that would be published. */
export interface Outlook {
  readonly published?: boolean
  readonly hasDrafts: boolean
}

export interface Changed<A> extends Omit<Change<A>, "created"> {
  readonly place: WorkflowPlace
  readonly before: Obj
  readonly path?: string
  readonly written?: Written
  readonly outlook?: Outlook
  readonly made?: ReadonlyArray<Made>
}

export interface ChangeOptions {
  readonly operation: string
  /** Version that the caller has read; only for workflows on n8n. */
  readonly expectedVersionId?: string | undefined
  readonly dryRun?: boolean | undefined
  /** Publishes the result if it is valid, else writes nothing. */
  readonly publish?: boolean | undefined
}

const unpublishable = (reason: string, hint: Errors.ValidationError["hint"]) =>
  Errors.invalid("publish", reason, ["Nothing was written.", hint].flat())

/** Fails unless the changed workflow may be published: it is valid, and no draft of someone else waits. */
const checkPublishing = Effect.fnUntraced(
  function*(before: Workflow.Workflow, { created = [], workflow }: Change<unknown>) {
    if (Workflow.hasDraft(before)) {
      return yield* unpublishable("An unpublished draft waits, perhaps with someone else's changes", {
        _tag: "PublishDraft",
        workflowId: before.id
      })
    }
    // The new workflows do not exist yet.
    const own = withIds(workflow, new Map(created.map(({ id }) => [id, before.id])))
    const faults = yield* Effect.forEach(
      [own, ...created.map((each) => each.workflow)],
      (each) =>
        Effect.map(
          WorkflowValidation.validateConnected(each, { isStored: false }),
          ({ missingCredentials, problems }) => [
            ...problems.flatMap(({ message, node, severity }) =>
              severity === "error" ? [node === undefined ? message : `${node}: ${message}`] : []
            ),
            ...missingCredentials.map(({ node, type }) => `${node}: the credential ${type} is missing.`)
          ]
        )
    )
    const all = faults.flat()
    if (all.length === 0) return
    return yield* unpublishable(
      `The result is not valid: ${Rows.listed(all, 5, " ")}`,
      "Correct this in the same operations, or leave out publish."
    )
  }
)

const changeLive = Effect.fnUntraced(function*<A, R>(
  place: WorkflowPlace & { readonly kind: "n8n" },
  { dryRun, expectedVersionId, operation, publish = false }: ChangeOptions,
  change: (workflow: Obj) => Effect.Effect<Change<A>, Errors.N8nError, R>
) {
  const checked = (before: Workflow.Workflow) =>
    Effect.tap(change(before), (changed) => publish ? checkPublishing(before, changed) : Effect.void)
  if (dryRun === true) {
    const n8n = yield* N8nClient
    const before = yield* n8n.getWorkflow(place.id)
    const { created = [], ...changed } = yield* checked(before)
    for (const { workflow } of created) {
      yield* Placeholders.restore(workflow, undefined)
      yield* preview({ after: workflow }, n8n.getWorkflow)
    }
    yield* Placeholders.restore({ ...patchOf(before, changed.workflow) }, before)
    yield* preview({ before, after: changed.workflow }, n8n.getWorkflow)
    const hasDrafts = writesDrafts(yield* n8n.release)
    const published = publish || !hasDrafts
    return { place, before, outlook: { hasDrafts, ...(before.active || publish ? { published } : {}) }, ...changed }
  }
  const made: Array<Made> = []
  const { before, result, ...written } = yield* (yield* WorkflowStore).modify(
    place.id,
    Effect.fnUntraced(function*(before) {
      const { created = [], result, workflow } = yield* checked(before)
      // Someone else has written since: this is a second attempt.
      yield* discard(place.id, made)
      const next = withIds(workflow, yield* create(created, publish, made))
      return { result, patch: patchOf(before, next) }
    }),
    // Existing problems are not the caller's.
    {
      operation,
      source: "stored",
      expectedVersionId,
      ...(publish ? { active: true, isAllOrNothing: true } : { isDraft: true })
    }
  ).pipe(discarding(place.id, made))
  return { place, before, workflow: written.workflow, result, written, made }
})

export const keepFile = (operation: string) =>
  Effect.fnUntraced(function*(text: string, path: string) {
    const { instance } = yield* WorkflowFiles
    yield* (yield* Snapshots).save(instance, { id: path, name: path.slice(path.lastIndexOf("/") + 1), text }, operation)
  })

const changeFile = Effect.fnUntraced(function*<A, R>(
  place: WorkflowPlace & { readonly path: string },
  { dryRun, expectedVersionId, operation, publish = false }: ChangeOptions,
  change: (workflow: Obj) => Effect.Effect<Change<A>, Errors.N8nError, R>
) {
  if (publish) return yield* unpublishable("A file is not published", "Leave out publish.")
  if (expectedVersionId !== undefined) {
    return yield* Errors.invalid(
      "expectedVersionId",
      "A file has no versionId",
      "Leave it out: concurrent changes of a file are never lost."
    )
  }
  let changed: (Change<A> & { readonly before: Obj }) | undefined
  const { path } = yield* WorkflowFiles.use((service) =>
    service.update(
      place.path,
      Effect.fnUntraced(function*({ inside, rewriting }) {
        const { workflow: before } = yield* inside
        const { created = [], result, workflow: after } = yield* change(before)
        if (created.length > 0) {
          return yield* Errors.invalid(
            "workflowId",
            "A file cannot call a new workflow, which gets its id on n8n",
            "Nothing was written. Extract in the workflow on n8n."
          )
        }
        const workflow = yield* Placeholders.restore(after, before)
        changed = { before, workflow, result }
        return dryRun === true ? undefined : yield* rewriting(workflow)
      }),
      keepFile(operation)
    )
  ).pipe(
    Effect.mapError((error) =>
      error._tag === "ValidationError" && error.field === "filePath" ? ofWorkflowId(place)(error) : error
    )
  )
  if (changed === undefined) {
    return yield* Effect.die(new Error("WorkflowFiles.update ended without calling its change"))
  }
  return { ...changed, place, path }
})

/**
 * Changes a workflow: reads it, applies the change, saves a snapshot and writes it. On n8n 2.x a change of a published
 * workflow stays a draft; on 1.x it takes effect immediately. The formatting of a file is preserved, and changes of one
 * file take turns, including those of other processes.
 */
export const change = <A, R>(
  workflowId: string,
  options: ChangeOptions,
  change: (workflow: Obj) => Effect.Effect<Change<A>, Errors.N8nError, R>
) => {
  const place = placeOf(workflowId)
  const changed: Effect.Effect<
    Changed<A>,
    Errors.N8nError,
    R | N8nClient | WorkflowStore | WorkflowFiles | Snapshots | NodeCatalogue
  > = place.kind === "n8n" ? changeLive(place, options, change) : changeFile(place, options, change)
  return changed
}
