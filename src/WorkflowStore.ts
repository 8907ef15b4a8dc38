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
import * as Changes from "./domain/Changes.ts"
import type { Obj } from "./domain/Json.ts"
import * as Workflow from "./domain/Workflow.ts"
import * as Locks from "./Locks.ts"
import { N8nClient } from "./N8nClient.ts"
import * as N8nError from "./N8nError.ts"
import { NodeCatalogue } from "./NodeCatalogue.ts"
import { Snapshots } from "./Snapshots.ts"
import { badRequest, isThere, merge, notKept, prepare, resolved, withoutRefused } from "./WorkflowStore/body.ts"
import { holds, isSameVersion, moved, slippedIn } from "./WorkflowStore/conflicts.ts"
import {
  isUncertain,
  published,
  publishOrPutBack,
  settling,
  takeBack,
  unpublished
} from "./WorkflowStore/publishing.ts"

/** What a write came to. */
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

/** The parts of a workflow that a change names; the rest keeps its value. */
export type Patch = Partial<Pick<Workflow.Workflow, "name">> & Obj

/** What an update may be told besides the change. */
export interface UpdateOptions {
  /** For the snapshot: which tool. */
  readonly operation: string
  /** Who wrote the change: in a file, connections to nodes that do not exist are left out; a caller can put them right. */
  readonly source: "caller" | "file"
  /** The version that the caller has seen. */
  readonly expectedVersionId?: string | undefined
  readonly tags?: ReadonlyArray<string> | undefined
  readonly active?: boolean | undefined
  /** Never publishes what is written, where n8n has drafts (2.x). */
  readonly isDraft?: boolean | undefined
}

type Writing = Effect.Effect<Written, N8nError.N8nError, N8nClient>

/** Writes to n8n. */
export interface Service {
  /** Creates a workflow; what fails after it exists is a warning that says what exists. */
  readonly create: (
    input: unknown,
    options: Pick<UpdateOptions, "source" | "tags" | "active">
  ) => Writing
  /** Changes what `patch` names; a published workflow is published again, unless somebody's draft was waiting. */
  readonly update: (id: string, patch: Patch, options: UpdateOptions) => Writing
  /** Deletes; a published workflow is unpublished first, and published again when deleting then fails. */
  readonly remove: (id: string) => Effect.Effect<void, N8nError.N8nError, N8nClient>
  /** Publishes what is there now, or unpublishes; answers once it has taken effect. */
  readonly setActive: (id: string, active: boolean) => Writing
}

/** The way to write a workflow. Which n8n is the call's business. */
export class WorkflowStore extends Context.Service<WorkflowStore, Service>()("effect-n8n-mcp/WorkflowStore") {}

/** Writes workflows; needs the snapshots of what was before, and the versions that new nodes get. */
export const layer: Layer.Layer<WorkflowStore, never, Snapshots | NodeCatalogue> = Layer.effect(
  WorkflowStore,
  Effect.gen(function*() {
    const snapshots = yield* Snapshots
    const withCatalogue = Effect.provideService(NodeCatalogue, yield* NodeCatalogue)
    const oneAtATime = Locks.make()

    const inTurn = (id: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.flatMap(N8nClient, ({ instance }) => oneAtATime(`${instance.key}/${id}`)(effect))

    const keep = Effect.fnUntraced(function*(workflow: Workflow.Workflow, operation: string) {
      const n8n = yield* N8nClient
      yield* snapshots.save(n8n.instance, workflow, operation)
    })

    /** What happens after the workflow exists is told, not failed: the caller must know that it exists. */
    const told = <R>(
      what: string,
      effect: Effect.Effect<ReadonlyArray<string>, N8nError.N8nError, R>
    ): Effect.Effect<ReadonlyArray<string>, never, R> =>
      Effect.catch(effect, (error) => {
        const { context, message } = N8nError.toEnvelope(error)
        return Effect.succeed([`${what}: ${context["errorDetails"] ?? message}`])
      })

    const create: Service["create"] = Effect.fn("WorkflowStore.create")(function*(input, { active, source, tags }) {
      const n8n = yield* N8nClient
      const { warnings, workflow: body } = yield* withCatalogue(
        prepare((yield* resolved({ input }, undefined))["input"], source)
      )
      const { warnings: refused, workflow } = yield* withoutRefused(body, n8n.createWorkflow).pipe(
        Effect.catchIf(isUncertain, (error) =>
          new N8nError.Api({
            ...error,
            hint:
              `It may have been created all the same: look with list_workflows(name: '${body.name}') before you call again.`
          }))
      )
      const tagging = tags === undefined || tags.length === 0 ? [] : yield* told(
        "created, but its tags could not be set",
        Effect.as(n8n.setWorkflowTags(workflow.id, tags), [])
      )
      const publishing = active === true
        ? yield* told("created, but it could not be published", published(workflow))
        : []
      const stored = yield* n8n.getWorkflow(workflow.id).pipe(Effect.orElseSucceed(() => workflow))
      return {
        workflow: stored,
        warnings: [...warnings, ...refused, ...notKept(body, stored), ...tagging, ...publishing]
      }
    })

    const put = Effect.fnUntraced(function*(before: Workflow.Workflow, body: Obj) {
      const n8n = yield* N8nClient
      return yield* withoutRefused(body, (body) => n8n.putWorkflow(before.id, body)).pipe(
        Effect.catchIf(isUncertain, (error) =>
          Effect.flatMap(n8n.getWorkflow(before.id), (now) => {
            if (holds(now, body)) return Effect.succeed({ workflow: now, warnings: [] })
            return isSameVersion(now, before) ? Effect.fail(error) : moved(before.versionId ?? "?", now, before)
          }))
      )
    })

    const update: Service["update"] = (id, patch, options) =>
      Effect.gen(function*() {
        const n8n = yield* N8nClient
        const before = yield* n8n.getWorkflow(id)
        if (before.isArchived === true) {
          return yield* new N8nError.Validation({
            reason: `Workflow '${id}' is archived`,
            field: "id",
            hint: "Nothing was written. Unarchive it in n8n first."
          })
        }
        const { active, expectedVersionId, operation, source, tags } = options
        if (expectedVersionId !== undefined && expectedVersionId !== before.versionId) {
          return yield* moved(expectedVersionId, before)
        }
        const { body, warnings } = yield* withCatalogue(merge(before, patch, source))
        const isPut = Object.keys(patch).some((key) => !isThere(body[key], before[key], key === "settings"))
        const notes: Array<string> = [...warnings]
        let isDraft: boolean | undefined
        let versionId: string | null | undefined
        if (isPut || tags !== undefined || active !== undefined) yield* keep(before, operation)
        if (isPut) {
          const now = yield* n8n.getWorkflow(id)
          if (!isSameVersion(now, before)) return yield* moved(before.versionId ?? "?", now, before)
          const { warnings: refused, workflow: after } = yield* put(before, body).pipe(
            Effect.catchIf(badRequest, (error) => before.active ? takeBack(before, patch, error) : Effect.fail(error))
          )
          versionId = after.versionId
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
          notes.push(...yield* told("the tags could not be set", Effect.as(n8n.setWorkflowTags(id, tags), [])))
        }
        if (active === false && before.active) yield* unpublished(id)
        if (active === true && !before.active) {
          notes.push(...yield* told("written, but it could not be published", published(before)))
        }
        const workflow = yield* n8n.getWorkflow(id)
        if (isPut) notes.push(...notKept(body, workflow))
        return {
          // Somebody may have written right after: the version that the caller knows is the one it wrote.
          workflow: versionId === undefined ? workflow : { ...workflow, versionId },
          changed: Changes.describe(before, workflow),
          warnings: notes,
          ...(isDraft === undefined || !workflow.active ? {} : { published: !isDraft })
        }
      }).pipe(inTurn(id), Effect.withSpan("WorkflowStore.update"))

    const remove: Service["remove"] = (id) =>
      Effect.gen(function*() {
        const n8n = yield* N8nClient
        const before = yield* n8n.getWorkflow(id)
        yield* keep(before, "delete_workflow")
        if (before.active) yield* unpublished(id)
        // "still being unpublished. Please try again in a few moments", and now and then a 500.
        const isUnderWay = (error: N8nError.N8nError) =>
          before.active && error._tag === "ApiError" && (error.statusCode === 409 || error.statusCode === 500)
        yield* n8n.deleteWorkflow(id).pipe(
          Effect.retry({ ...settling, while: isUnderWay }),
          Effect.catch((error) =>
            before.active && error._tag !== "NotFoundError"
              ? Effect.andThen(
                Effect.ignore(n8n.publishWorkflow(id, before.activeVersionId ?? undefined)),
                Effect.fail(error)
              )
              : Effect.fail(error)
          )
        )
      }).pipe(inTurn(id), Effect.withSpan("WorkflowStore.remove"))

    const setActive: Service["setActive"] = (id, active) =>
      Effect.gen(function*() {
        const n8n = yield* N8nClient
        const warnings = active
          ? yield* Effect.flatMap(n8n.getWorkflow(id), (before) => published(before))
          : yield* Effect.as(unpublished(id), [])
        return { workflow: yield* n8n.getWorkflow(id), warnings }
      }).pipe(inTurn(id), Effect.withSpan("WorkflowStore.setActive"))

    return WorkflowStore.of({ create, update, remove, setActive })
  })
)
