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
import * as Schedule from "effect/Schedule"
import { randomUUID } from "node:crypto"
import { isDeepStrictEqual } from "node:util"
import * as Changes from "./domain/Changes.ts"
import { type Obj, obj, str } from "./domain/Json.ts"
import * as Refusal from "./domain/Refusal.ts"
import * as Workflow from "./domain/Workflow.ts"
import * as WorkflowInput from "./domain/WorkflowInput.ts"
import * as Locks from "./Locks.ts"
import { N8nClient } from "./N8nClient.ts"
import * as N8nError from "./N8nError.ts"
import { suggestion } from "./Nearest.ts"
import * as Placeholders from "./Placeholders.ts"
import { Snapshots } from "./Snapshots.ts"

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

/** How long publishing and unpublishing may take to have effect: mostly under a second. */
const settleTimes = 40
const settleEvery = "250 millis"
/** So often a body is sent again without the keys that n8n refuses; it names one place at a time. */
const maxRounds = 30

const badRequest = (error: N8nError.N8nError): error is N8nError.Api =>
  error._tag === "ApiError" && error.statusCode === 400

/** The answer was lost on the way: the write may have happened. */
const isUncertain = (error: N8nError.N8nError): error is N8nError.Api =>
  error._tag === "ApiError" && (error.statusCode === undefined || error.statusCode >= 500)

const problem = ({ candidates, message, name, path }: WorkflowInput.Problem) =>
  new N8nError.Validation({
    reason: message,
    field: path,
    hint: name === undefined || candidates === undefined
      ? "Nothing was written. Put it right and call again."
      : `Nothing was written. ${suggestion(name, candidates)}`
  })

/** Placeholders of our answers become what they stand for; one that stands for nothing stored is refused. */
const resolved = (given: Obj, stored: unknown) =>
  Effect.fromResult(Placeholders.resolve(given, stored)).pipe(
    Effect.map((value) => obj(value) ?? {}),
    Effect.mapError(({ path, what }) =>
      new N8nError.Validation({
        reason: `${path === "" ? "The workflow" : path}: ${what}`,
        field: path,
        hint:
          "Nothing was written. Leave out what you do not change, or read it whole first: get_workflow(id, nodes: [\"Name\"])."
      })
    )
  )

const prepare = (input: unknown, source: "caller" | "file") =>
  Effect.mapError(
    Effect.fromResult(WorkflowInput.prepare(input, { source, newId: randomUUID })),
    problem
  )

/** Sends a body; when n8n refuses keys of it, sends it without them and names them. */
const withoutRefused = (
  body: Obj,
  send: (body: Obj) => Effect.Effect<Workflow.Workflow, N8nError.N8nError>,
  dropped: ReadonlyArray<ReadonlyArray<Refusal.Path>> = []
): Effect.Effect<{ workflow: Workflow.Workflow; warnings: ReadonlyArray<string> }, N8nError.N8nError> =>
  send(body).pipe(
    Effect.map((workflow) => ({ workflow, warnings: leftOut(dropped.flat()) })),
    Effect.catchIf(badRequest, (error) => {
      const refused = Refusal.toDrop(error.errorDetails ?? "", body)
      return refused.length === 0 || dropped.length >= maxRounds
        ? Effect.fail(error)
        : withoutRefused(refused.reduce(Refusal.drop, body), send, [...dropped, refused])
    })
  )

/** `n8n does not take settings.maxExecutions, color of 60 nodes: left out`. */
const leftOut = (paths: ReadonlyArray<Refusal.Path>): ReadonlyArray<string> => {
  if (paths.length === 0) return []
  const byKey = Map.groupBy(
    paths,
    (path) => path[0] === "nodes" ? `${path.slice(2).join(".")} of nodes` : path.join(".")
  )
  const named = [...byKey].map(([key, all]) =>
    all.length === 1 ? key : key.replace(/ of nodes$/, ` of ${all.length} nodes`)
  )
  return [`n8n does not take ${named.join(", ")}: left out`]
}

const at = (workflow: Workflow.Workflow) => ({ versionId: workflow.versionId ?? "", updatedAt: workflow.updatedAt })

const isSameVersion = (a: Workflow.Workflow, b: Workflow.Workflow) => isDeepStrictEqual(at(a), at(b))

/** What a write has to bring about, to tell whether one whose answer was lost did. */
const holds = (workflow: Workflow.Workflow, body: Obj) =>
  workflow.name === body["name"] && isDeepStrictEqual(workflow.connections, body["connections"]) &&
  isDeepStrictEqual(workflow.nodes.map((node) => [node.name, node.parameters]), namesAndParameters(body["nodes"]))

const namesAndParameters = (nodes: unknown) =>
  (Array.isArray(nodes) ? nodes : []).map((node) => [obj(node)?.["name"], obj(node)?.["parameters"]])

/** Whether a part has its value already; settings are merged, so those that are not named do not matter. */
const isThere = (wanted: unknown, there: unknown, isMerged: boolean) =>
  isMerged
    ? Object.entries(obj(wanted) ?? {}).every(([key, value]) => isDeepStrictEqual(value, obj(there)?.[key]))
    : isDeepStrictEqual(wanted, there)

/** Where a production webhook of the workflow answers. */
const webhooks = (workflow: Workflow.Workflow) =>
  workflow.nodes.flatMap((node) => {
    const path = str(obj(node.parameters)?.["path"])
    const isWebhook = node.type === "n8n-nodes-base.webhook" && node.disabled !== true
    return isWebhook && path !== undefined && !path.includes(":")
      ? [{ path, method: str(obj(node.parameters)?.["httpMethod"]) ?? "GET" }]
      : []
  })

const waitUntil = <E, R>(done: Effect.Effect<boolean, E, R>) =>
  Effect.repeat(done, {
    schedule: Schedule.spaced(settleEvery),
    until: (isDone) => isDone,
    times: settleTimes
  })

/** A switch whose answer was lost may have been thrown: n8n knows. */
const orAlready = (
  id: string,
  isDone: (now: Workflow.Workflow) => boolean,
  switching: Effect.Effect<Workflow.Workflow, N8nError.N8nError>
) =>
  Effect.catchIf(switching, isUncertain, (error) =>
    Effect.gen(function*() {
      const now = yield* (yield* N8nClient).getWorkflow(id)
      return isDone(now) ? now : yield* error
    }))

/** Takes effect on 2.x only some time after n8n has answered: the webhook tells, without running anything. */
const published = Effect.fnUntraced(function*(id: string, versionId?: string) {
  const n8n = yield* N8nClient
  const answer = yield* orAlready(
    id,
    (now) => now.active && (versionId === undefined ? !Workflow.hasDraft(now) : now.activeVersionId === versionId),
    n8n.publishWorkflow(id, versionId)
  )
  const isUp = yield* waitUntil(
    Effect.map(
      Effect.forEach(
        webhooks(answer),
        ({ method, path }) => Effect.map(n8n.webhookMethods(path), (methods) => methods.includes(method))
      ),
      (up) => up.every(Boolean)
    )
  )
  return isUp ? [] : ["published, but n8n has not registered its webhook yet: it may take some seconds more"]
})

/** Keeps what was written from being published when it is refused: the earlier draft comes back. */
const publishOrPutBack = Effect.fnUntraced(function*(
  before: Workflow.Workflow,
  after: Workflow.Workflow,
  patch: Obj
) {
  const n8n = yield* N8nClient
  return yield* published(after.id, after.versionId ?? undefined).pipe(
    Effect.catchIf((error) => error._tag === "ApiError", (error) => {
      const earlier = Object.keys(patch).filter((key) => before[key] !== undefined).map((key) => [key, before[key]])
      return n8n.putWorkflow(after.id, {
        settings: {},
        ...Object.fromEntries(earlier),
        name: before.name,
        nodes: before.nodes,
        connections: before.connections
      }).pipe(
        Effect.matchEffect({
          onSuccess: () =>
            new N8nError.Api({
              ...error,
              errorDetails: `${
                error.errorDetails ?? "publishing failed"
              }. The earlier draft was put back; what runs is unchanged`,
              hint: "Put right what errorDetails names, and write again."
            }),
          onFailure: (second) =>
            new N8nError.Api({
              ...error,
              errorDetails: `${
                error.errorDetails ?? "publishing failed"
              }. The new draft is still there: putting the earlier one back failed (${second.message})`,
              hint: `workflow_history(id: '${after.id}') has the earlier version; what runs is unchanged.`
            })
        })
      )
    })
  )
})

/** Versions that somebody else wrote between the one that was read and ours. */
const slippedIn = Effect.fnUntraced(function*(before: Workflow.Workflow, after: Workflow.Workflow) {
  const n8n = yield* N8nClient
  const versions = (yield* n8n.workflowHistory(after.id).pipe(Effect.orElseSucceed(() => undefined))) ?? []
  const ours = versions.findIndex((version) => version.versionId === after.versionId)
  const read = versions.findIndex((version) => version.versionId === before.versionId)
  return ours === -1 || read === -1 ?
    [] :
    versions.slice(ours + 1, read).map((version) =>
      `version ${version.versionId} of ${
        version.authors ?? "somebody"
      } (${version.createdAt}) slipped in and was overwritten: workflow_restore(id: '${after.id}', version: '${version.versionId}') brings it back`
    )
})

const moved = (id: string, seen: string, now: Workflow.Workflow, who: string) =>
  new N8nError.Api({
    operation: "update workflow",
    resourceType: "Workflow",
    resourceId: id,
    statusCode: 409,
    errorDetails: `it has changed since version ${seen}: now version ${now.versionId ?? "?"}, ${who}${
      now.updatedAt ?? ""
    }`,
    hint: "Nothing was written. Read it again with get_workflow, then make your change to what is there now."
  })

const whoMoved = Effect.fnUntraced(function*(now: Workflow.Workflow) {
  const n8n = yield* N8nClient
  const versions = (yield* n8n.workflowHistory(now.id).pipe(Effect.orElseSucceed(() => undefined))) ?? []
  const version = versions.find(({ versionId }) => versionId === now.versionId)
  return version?.authors ? `by ${version.authors}, ` : ""
})

/** Writes workflows; needs the snapshots of what was before. */
export const layer: Layer.Layer<WorkflowStore, never, Snapshots> = Layer.effect(
  WorkflowStore,
  Effect.gen(function*() {
    const snapshots = yield* Snapshots
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
      const { warnings, workflow: body } = yield* prepare((yield* resolved({ input }, undefined))["input"], source)
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
        ? yield* told("created, but it could not be published", published(workflow.id))
        : []
      return {
        workflow: yield* n8n.getWorkflow(workflow.id).pipe(Effect.orElseSucceed(() => workflow)),
        warnings: [...warnings, ...refused, ...tagging, ...publishing]
      }
    })

    /**
     * The body for a change, and what had to be repaired in it. What the change does not name is sent as it is, faults
     * included: they are not the caller's.
     */
    const merge = Effect.fnUntraced(function*(before: Workflow.Workflow, given: Patch, source: "caller" | "file") {
      const patch = yield* resolved(given, before)
      const { connections, nodes } = patch
      const base = { name: before.name, nodes: [], connections: {}, settings: {} }
      if (nodes === undefined && connections === undefined) {
        const { warnings, workflow } = yield* prepare({ ...base, ...patch }, source)
        return { warnings, body: { ...workflow, nodes: before.nodes, connections: before.connections } as Obj }
      }
      if (nodes === undefined) {
        const asNow = before.nodes.map((node) => ({ typeVersion: 1, position: [0, 0], ...node }))
        const { warnings, workflow } = yield* prepare({ ...base, ...patch, nodes: asNow }, source)
        return { warnings, body: { ...workflow, nodes: before.nodes } as Obj }
      }
      const { warnings, workflow } = yield* prepare(
        {
          ...base,
          connections: before.connections,
          // n8n refuses a group that names a node which is gone.
          ...(Array.isArray(before["nodeGroups"]) && before["nodeGroups"].length > 0
            ? { nodeGroups: before["nodeGroups"] }
            : {}),
          ...patch,
          nodes: Array.isArray(nodes) ? WorkflowInput.inherit(nodes, before.nodes) : nodes
        },
        // Links that the caller did not write may lead to a node that the caller took away.
        connections === undefined ? "file" : source
      )
      return { warnings, body: workflow as Obj }
    })

    const put = Effect.fnUntraced(function*(before: Workflow.Workflow, body: Obj) {
      const n8n = yield* N8nClient
      return yield* withoutRefused(body, (body) => n8n.putWorkflow(before.id, body)).pipe(
        Effect.catchIf(isUncertain, (error) =>
          Effect.flatMap(n8n.getWorkflow(before.id), (now) => {
            if (holds(now, body)) return Effect.succeed({ workflow: now, warnings: [] })
            return isSameVersion(now, before) ? Effect.fail(error) : moved(before.id, before.versionId ?? "?", now, "")
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
          return yield* moved(id, expectedVersionId, before, yield* whoMoved(before))
        }
        const { body, warnings } = yield* merge(before, patch, source)
        const isPut = Object.keys(patch).some((key) => !isThere(body[key], before[key], key === "settings"))
        const notes: Array<string> = [...warnings]
        let isDraft: boolean | undefined
        if (isPut || tags !== undefined || active !== undefined) yield* keep(before, operation)
        if (isPut) {
          const now = yield* n8n.getWorkflow(id)
          if (!isSameVersion(now, before)) return yield* moved(id, before.versionId ?? "?", now, yield* whoMoved(now))
          const { warnings: refused, workflow: after } = yield* put(before, body)
          notes.push(...refused, ...yield* slippedIn(before, after))
          if (before.active && Workflow.hasDraft(after)) {
            // Somebody's draft that waited before is theirs to publish; with it goes what was just written.
            isDraft = Workflow.hasDraft(before) && active !== true
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
          notes.push(...yield* told("written, but it could not be published", published(id)))
        }
        const workflow = yield* n8n.getWorkflow(id)
        return {
          workflow,
          changed: Changes.describe(before, workflow),
          warnings: notes,
          ...(isDraft === undefined || !workflow.active ? {} : { published: !isDraft })
        }
      }).pipe(inTurn(id), Effect.withSpan("WorkflowStore.update"))

    const unpublished = Effect.fnUntraced(function*(id: string) {
      const n8n = yield* N8nClient
      const answer = yield* orAlready(id, (now) => !now.active, n8n.unpublishWorkflow(id))
      yield* waitUntil(
        Effect.map(
          Effect.forEach(
            webhooks(answer),
            ({ method, path }) => Effect.map(n8n.webhookMethods(path), (methods) => !methods.includes(method))
          ),
          (gone) => gone.every(Boolean)
        )
      )
      return answer
    })

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
          Effect.retry({ schedule: Schedule.spaced(settleEvery), times: settleTimes, while: isUnderWay }),
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
        const warnings = active ? yield* published(id) : yield* Effect.as(unpublished(id), [])
        return { workflow: yield* n8n.getWorkflow(id), warnings }
      }).pipe(inTurn(id), Effect.withSpan("WorkflowStore.setActive"))

    return WorkflowStore.of({ create, update, remove, setActive })
  })
)
