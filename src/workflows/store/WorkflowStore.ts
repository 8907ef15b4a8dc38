/**
 * Writing workflows so that nothing is lost: read, merge, keep a snapshot, look again, write, look what came of it.
 *
 * **Details**
 *
 * n8n's `PUT` has no precondition. Our own writers take turns, workflow by workflow; against others the version is
 * compared right before the `PUT`, and what slipped in all the same is found in the history and named.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Errors from "../../base/Errors.ts"
import type { Obj } from "../../base/Json.ts"
import * as Locks from "../../base/KeyedMutex.ts"
import { NodeCatalogue } from "../../catalogue/NodeCatalogue.ts"
import * as TestMark from "../../n8n/model/TestMark.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { isUnsupported, N8nClient } from "../../n8n/N8nClient.ts"
import { puttingBack } from "../../n8n/WriteGuard.ts"
import * as WorkflowDiff from "../diff/WorkflowDiff.ts"
import * as Placeholders from "../Placeholders.ts"
import { holds, isConflict, isSameVersion, moved, slippedIn } from "./conflicts.ts"
import {
  afterUncertain,
  deleteUnpublished,
  isUncertain,
  published,
  publishOrPutBack,
  takeBack,
  unpublished
} from "./Publishing.ts"
import { Snapshots } from "./Snapshots.ts"
import { badRequest, isThere, merge, notKept, prepare, withoutRefused } from "./WorkflowBody.ts"

/**
 * What a write came to.
 *
 * @category models
 * @since 0.1.0
 */
export interface Written {
  /** As read back. */
  readonly workflow: Workflow.Workflow
  /** What changed, in one line. */
  readonly changed?: string
  /** What was repaired, left out, or went differently than asked. */
  readonly warnings: ReadonlyArray<string>
  /** What runs is what was written: `false` where it stayed a draft, absent where nothing is published. */
  readonly published?: boolean
}

/**
 * The parts of a workflow that a change names; the rest keeps its value.
 *
 * @category models
 * @since 0.1.0
 */
export interface Patch {
  readonly name?: string
  readonly [key: string]: unknown
}

/**
 * How a workflow is written.
 *
 * @category models
 * @since 0.1.0
 */
export interface UpdateOptions {
  /** For the snapshot: which tool. */
  readonly operation: string
  /**
   * Who wrote the change: a caller can put right what is ambiguous (two nodes of one name, a link to a node that does
   * not exist), and is told; in what is brought back from a file or a version it is repaired.
   */
  readonly source: "caller" | "file"
  /** The version that the caller has seen. */
  readonly expectedVersionId?: string | undefined
  readonly tags?: ReadonlyArray<string> | undefined
  readonly active?: boolean | undefined
  /** Never publishes what is written, where n8n's API writes drafts (2.40 and later). */
  readonly isDraft?: boolean | undefined
}

/**
 * What was made of a workflow: the parts that become different, and anything else for the caller.
 *
 * @category models
 * @since 0.1.0
 */
export interface Modification<A> {
  readonly patch: Patch
  readonly result: A
}

/**
 * A change that was written; `before` is the workflow that it was made to.
 *
 * @category models
 * @since 0.1.0
 */
export interface Modified<A> extends Written {
  readonly before: Workflow.Workflow
  readonly result: A
}

/**
 * An update that is not written yet: what it will change, to show to a person or to decide by.
 *
 * @category models
 * @since 0.1.0
 */
export interface Plan {
  /** The workflow that it is planned for, as it was read. */
  readonly before: Workflow.Workflow
  /** The parts that will be sent, repaired and with what `…` stood for; empty if n8n has them all. */
  readonly patch: Patch
  /** What changes; nothing in it is cut, and nothing is redacted. */
  readonly diff: WorkflowDiff.WorkflowDiff
  /** The same in one line: `nothing` if all is there already. */
  readonly changed: string
  /** What was repaired. */
  readonly warnings: ReadonlyArray<string>
  readonly options: UpdateOptions
}

/**
 * A write, and why it may fail.
 *
 * @category models
 * @since 0.1.0
 */
export type Writing = Effect.Effect<Written, Errors.N8nError, N8nClient>

/**
 * Writes to n8n.
 *
 * **Details**
 *
 * Every method asks for the `N8nClient` when it is called: one process serves several n8n, with one set of locks and
 * snapshots, and which n8n a write goes to is known only by its call.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /** Creates a workflow; what fails after it exists is a warning that says what exists. */
  readonly create: (
    input: unknown,
    options: Pick<UpdateOptions, "source" | "tags" | "active"> & {
      /** Where on n8n, with the licence for it. Default: at the top of the key's own project. */
      readonly place?: { readonly projectId?: string; readonly parentFolderId?: string }
    }
  ) => Writing
  /** Changes what `patch` names; a published workflow is published again, unless somebody's draft was waiting. */
  readonly update: (id: string, patch: Patch, options: UpdateOptions) => Writing
  /**
   * What `update` would do, without writing anything: show it, then `apply` it.
   *
   * **Example** (Asking before a change)
   *
   * ```ts
   * import { Services, WorkflowStore } from "effect-n8n-mcp"
   * import { FakeN8n } from "effect-n8n-mcp/testing"
   * import * as Effect from "effect/Effect"
   * import * as Layer from "effect/Layer"
   *
   * const rename = (id: string, name: string, confirm: (change: string) => Effect.Effect<boolean>) =>
   *   Effect.gen(function*() {
   *     const store = yield* WorkflowStore.WorkflowStore
   *     const plan = yield* store.plan(id, { name }, { operation: "rename", source: "caller" })
   *     if (!(yield* confirm(plan.changed))) return plan.before.name
   *     return (yield* store.apply(plan)).workflow.name
   *   })
   *
   * const workflow = { id: "1", name: "Orders", nodes: [], connections: {} }
   *
   * export const test = rename("1", "Orders (old)", (change) => Effect.succeed(change.includes("name"))).pipe(
   *   Effect.provide(Layer.merge(FakeN8n.layer({ workflows: [workflow], executions: [] }), Services.layerMemory))
   * )
   * ```
   */
  readonly plan: (id: string, patch: Patch, options: UpdateOptions) => Effect.Effect<Plan, Errors.N8nError, N8nClient>
  /** Writes a plan; a `VersionConflict`, and nothing written, if the workflow has changed since. */
  readonly apply: (plan: Plan) => Writing
  /**
   * Changes a workflow by what `change` makes of it.
   *
   * **Details**
   *
   * Reading, changing and writing are one turn: no other writer of this process comes between. When somebody else
   * does, `change` is run again on what is there then, up to three times, unless `expectedVersionId` names a version.
   *
   * **Gotchas**
   *
   * A write of the same workflow within `change` waits for ever.
   */
  readonly modify: <A, R>(
    id: string,
    change: (before: Workflow.Workflow) => Effect.Effect<Modification<A>, Errors.N8nError, R>,
    options: UpdateOptions
  ) => Effect.Effect<Modified<A>, Errors.N8nError, N8nClient | R>
  /** Deletes; a published workflow is unpublished first, and published again when deleting then fails. */
  readonly remove: (id: string) => Effect.Effect<void, Errors.N8nError, N8nClient>
  /** Archives (2.x): it is unpublished and kept; on 1.x it fails, and nothing is done. */
  readonly archive: (id: string) => Effect.Effect<void, Errors.N8nError, N8nClient>
  /** Publishes what is there now, or unpublishes; answers once it has taken effect. */
  readonly setActive: (id: string, active: boolean) => Writing
}

/**
 * The way to write a workflow.
 *
 * @category services
 * @since 0.1.0
 */
export class WorkflowStore extends Context.Service<WorkflowStore, Service>()("effect-n8n-mcp/WorkflowStore") {}

/**
 * Writes workflows; needs the snapshots of what was before, and the versions that new nodes get.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<WorkflowStore, never, Snapshots | NodeCatalogue> = Layer.effect(
  WorkflowStore,
  Effect.gen(function*() {
    const snapshots = yield* Snapshots
    const withCatalogue = Effect.provideService(NodeCatalogue, yield* NodeCatalogue)
    const oneAtATime = Locks.make()

    const inTurn = (id: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.flatMap(N8nClient, ({ instance }) => oneAtATime(`${instance.key}/${id}`)(effect))

    const takeSnapshot = Effect.fnUntraced(function*(workflow: Workflow.Workflow, operation: string) {
      const n8n = yield* N8nClient
      yield* snapshots.save(n8n.instance, workflow, operation)
    })

    /** What fails once the workflow exists or is written becomes a warning: the caller must know that it is. */
    const orWarning = <R>(
      what: string,
      effect: Effect.Effect<ReadonlyArray<string>, Errors.N8nError, R>
    ): Effect.Effect<ReadonlyArray<string>, never, R> =>
      Effect.catch(effect, (error) => {
        const { context, message } = Errors.report(error)
        return Effect.succeed([`${what}: ${context["errorDetails"] ?? message}`])
      })

    /** What was written is written, also where n8n then fails to show it. */
    const readBack = (written: Workflow.Workflow, notes: Array<string>) =>
      Effect.flatMap(N8nClient, (n8n) =>
        Effect.catch(n8n.getWorkflow(written.id), (error) => {
          const { context, message } = Errors.report(error)
          notes.push(`done, but it could not be read back: ${context["errorDetails"] ?? message}`)
          return Effect.succeed(written)
        }))

    /** What is named as a test copy is removed as one. */
    const checkName = (name: unknown) =>
      typeof name === "string" && TestMark.isTaken(name)
        ? Effect.fail(
          new Errors.ValidationError({
            reason: `A name that begins with '${TestMark.mark}' is kept for copies that tests make, and remove`,
            field: "name",
            hint: "Nothing was written. Give another name."
          })
        )
        : Effect.void

    const create: Service["create"] = Effect.fn("WorkflowStore.create")(
      function*(input, { active, place, source, tags }) {
        const n8n = yield* N8nClient
        const { warnings, workflow: body } = yield* withCatalogue(
          prepare((yield* Placeholders.restore({ input }, undefined))["input"], source)
        )
        yield* checkName(body.name)
        const { warnings: refused, workflow } = yield* withoutRefused(
          body,
          (body) => n8n.createWorkflow({ ...body, ...place })
        ).pipe(
          Effect.catchIf(isUncertain, (error) =>
            new Errors.ApiError({
              ...error,
              hint: { _tag: "LookForCreated", name: body.name }
            }))
        )
        const tagging = tags === undefined || tags.length === 0 ? [] : yield* orWarning(
          "created, but its tags could not be set",
          Effect.as(n8n.setWorkflowTags(workflow.id, tags), [])
        )
        const publishing = active === true
          ? yield* orWarning("created, but it could not be published", published(workflow))
          : []
        const stored = yield* n8n.getWorkflow(workflow.id).pipe(Effect.orElseSucceed(() => workflow))
        return {
          workflow: stored,
          warnings: [...warnings, ...refused, ...notKept(body, stored), ...tagging, ...publishing]
        }
      }
    )

    const put = Effect.fnUntraced(function*(before: Workflow.Workflow, body: Obj, active: boolean | undefined) {
      const n8n = yield* N8nClient
      // Somebody's draft is theirs to publish.
      const publishes = active === true || !Workflow.hasDraft(before)
      return yield* withoutRefused(body, (body) => n8n.putWorkflow(before.id, body, { publishes })).pipe(
        Effect.catchIf(isUncertain, (error) =>
          Effect.flatMap(afterUncertain(before.id, error), (now) => {
            // First: what is looked for below may have been there before, with other settings or credentials.
            if (isSameVersion(now, before, Object.keys(body))) return Effect.fail(error)
            return holds(now, body)
              ? Effect.succeed({ workflow: now, warnings: [] })
              : moved(snapshots, before.versionId ?? "?", now, before)
          }))
      )
    })

    /** The workflow as it is, what `change` makes of it, and the body for that. */
    const prepareChange = Effect.fnUntraced(function*<A, R>(
      id: string,
      change: (before: Workflow.Workflow) => Effect.Effect<Modification<A>, Errors.N8nError, R>,
      { expectedVersionId, source }: UpdateOptions
    ) {
      const n8n = yield* N8nClient
      const before = yield* n8n.getWorkflow(id)
      if (before.isArchived === true) {
        return yield* new Errors.ValidationError({
          reason: `Workflow '${id}' is archived`,
          field: "id",
          hint: "Nothing was written. Unarchive it in n8n first."
        })
      }
      if (expectedVersionId !== undefined && expectedVersionId !== before.versionId) {
        return yield* moved(snapshots, expectedVersionId, before)
      }
      const { patch, result } = yield* change(before)
      if (patch.name !== before.name) yield* checkName(patch.name)
      const { body, warnings } = yield* withCatalogue(merge(before, patch, source))
      const keys = Object.keys(patch)
      const changedKeys = keys.filter((key) => !isThere(body[key], before[key], key === "settings"))
      return { before, patch, result, body, warnings, changedKeys }
    })

    /** A change of which nothing was written by others since it was prepared. */
    const makeChange = Effect.fnUntraced(function*<A, R>(
      id: string,
      change: (before: Workflow.Workflow) => Effect.Effect<Modification<A>, Errors.N8nError, R>,
      options: UpdateOptions
    ) {
      const n8n = yield* N8nClient
      const { active, operation, tags } = options
      const { before, body, changedKeys, patch, result, warnings } = yield* prepareChange(id, change, options)
      const isPut = changedKeys.length > 0
      if (isPut || tags !== undefined || active !== undefined) yield* takeSnapshot(before, operation)
      if (isPut) {
        // The lock holds off our own writers only. Looking up nodes and keeping the snapshot took their time, and n8n's
        // PUT has no precondition: a second look is all that keeps others' work from being overwritten.
        const now = yield* n8n.getWorkflow(id)
        if (!isSameVersion(now, before, Object.keys(patch))) {
          return yield* moved(snapshots, before.versionId ?? "?", now, before)
        }
      }
      return { before, patch, result, body, isPut, warnings }
    })

    const write = <A, R>(
      id: string,
      change: (before: Workflow.Workflow) => Effect.Effect<Modification<A>, Errors.N8nError, R>,
      options: UpdateOptions,
      retries: number
    ) =>
      Effect.gen(function*() {
        const n8n = yield* N8nClient
        const { active, tags } = options
        const { before, body, isPut, patch, result, warnings } = yield* makeChange(id, change, options).pipe(
          Effect.retry({ times: options.expectedVersionId === undefined ? retries : 0, while: isConflict })
        )
        const notes: Array<string> = [...warnings]
        let isDraft: boolean | undefined
        let versionId: string | null | undefined
        let written = before
        if (isPut) {
          const { warnings: refused, workflow: after } = yield* put(before, body, active).pipe(
            Effect.catchIf(badRequest, (error) => before.active ? takeBack(before, patch, error) : Effect.fail(error))
          )
          versionId = after.versionId
          written = after
          notes.push(...refused, ...yield* slippedIn(before, after))
          if (before.active && Workflow.hasDraft(after)) {
            // Somebody's draft that waited before is theirs to publish; with it goes what was just written.
            isDraft = options.isDraft === true || Workflow.hasDraft(before) && active !== true
            if (!isDraft) notes.push(...yield* publishOrPutBack(before, after, patch))
          } else if (before.active) {
            isDraft = false
          }
        }
        if (tags !== undefined) {
          const tagging = Effect.as(n8n.setWorkflowTags(id, tags), [])
          notes.push(...yield* isPut ? orWarning("the tags could not be set", tagging) : tagging)
        }
        if (active === false && before.active) {
          const off = Effect.as(unpublished(id), [])
          notes.push(
            ...yield* isPut || tags !== undefined ? orWarning("written, but it could not be unpublished", off) : off
          )
        }
        if (active === true && !before.active) {
          const on = published(before)
          notes.push(
            ...yield* isPut || tags !== undefined ? orWarning("written, but it could not be published", on) : on
          )
        }
        const workflow = yield* readBack(written, notes)
        if (isPut) notes.push(...notKept(body, workflow))
        return {
          before,
          result,
          // Somebody may have written right after: the version that the caller knows is the one it wrote.
          workflow: versionId === undefined ? workflow : { ...workflow, versionId },
          changed: WorkflowDiff.line(WorkflowDiff.make(before, workflow)),
          warnings: notes,
          ...(isDraft === undefined || !workflow.active ? {} : { published: !isDraft })
        }
      }).pipe(inTurn(id))

    const update: Service["update"] = (id, patch, options) =>
      // The same patch again would overwrite what its author has not seen.
      write(id, () => Effect.succeed({ patch, result: undefined }), options, 0).pipe(
        Effect.withSpan("WorkflowStore.update")
      )

    const plan: Service["plan"] = Effect.fn("WorkflowStore.plan")(function*(id, patch, options) {
      const change = Effect.succeed({ patch, result: undefined })
      const { before, body, changedKeys, warnings } = yield* prepareChange(id, () => change, options)
      const diff = WorkflowDiff.make(before, { ...before, ...body })
      return {
        before,
        patch: Object.fromEntries(changedKeys.map((key) => [key, body[key]])),
        diff,
        changed: WorkflowDiff.line(diff),
        warnings,
        options
      }
    })

    const apply: Service["apply"] = ({ before, options, patch }) =>
      write(
        before.id,
        (now) =>
          isSameVersion(now, before, Object.keys(patch))
            ? Effect.succeed({ patch, result: undefined })
            : moved(snapshots, before.versionId ?? "?", now, before),
        options,
        0
      ).pipe(Effect.withSpan("WorkflowStore.apply"))

    const modify: Service["modify"] = (id, change, options) =>
      Effect.withSpan(write(id, change, options, 3), "WorkflowStore.modify")

    const remove: Service["remove"] = (id) =>
      Effect.gen(function*() {
        const n8n = yield* N8nClient
        const before = yield* n8n.getWorkflow(id)
        yield* takeSnapshot(before, "delete_workflow")
        if (!before.active) return yield* n8n.deleteWorkflow(id)
        yield* unpublished(id)
        yield* deleteUnpublished(id).pipe(
          Effect.tapError((error) =>
            error._tag === "NotFoundError"
              ? Effect.void
              : Effect.ignore(puttingBack(n8n.publishWorkflow(id, before.activeVersionId ?? undefined)))
          )
        )
      }).pipe(inTurn(id), Effect.withSpan("WorkflowStore.remove"))

    const archive: Service["archive"] = (id) =>
      Effect.gen(function*() {
        const n8n = yield* N8nClient
        const before = yield* n8n.getWorkflow(id)
        if (before.isArchived === true) return
        yield* takeSnapshot(before, "delete_workflow")
        yield* n8n.archiveWorkflow(id).pipe(
          Effect.catchIf(isUnsupported, (error) =>
            Effect.fail(
              new Errors.ApiError({
                ...error,
                hint:
                  "Nothing was done: this n8n has no archive. Deactivate the workflow, or delete it without archive."
              })
            ))
        )
      }).pipe(inTurn(id), Effect.withSpan("WorkflowStore.archive"))

    const setActive: Service["setActive"] = (id, active) =>
      Effect.gen(function*() {
        const n8n = yield* N8nClient
        const before = yield* n8n.getWorkflow(id)
        const warnings = [...active ? yield* published(before) : yield* Effect.as(unpublished(id), [])]
        return { workflow: yield* readBack({ ...before, active }, warnings), warnings }
      }).pipe(inTurn(id), Effect.withSpan("WorkflowStore.setActive"))

    return WorkflowStore.of({ create, update, plan, apply, modify, remove, archive, setActive })
  })
)
