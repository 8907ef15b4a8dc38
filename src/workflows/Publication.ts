/** Publishing a version that a reference names, and the published workflows that need an unpublished one. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Errors from "../base/Errors.ts"
import { obj } from "../base/Json.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { isV1, N8nClient, type VersionLabels, writesDrafts } from "../n8n/N8nClient.ts"
import * as References from "../workflow/References.ts"
import * as Schedules from "../workflow/Schedules.ts"
import * as Reference from "./Reference.ts"
import * as ReferenceProblems from "./ReferenceProblems.ts"
import { scheduleWarnings } from "./store/Publishing.ts"
import { Versions } from "./store/Versions.ts"
import { type Outcome, WorkflowStore } from "./store/WorkflowStore.ts"

const nextStarts = 3

/** A publication. */
export interface Published extends Outcome {
  readonly hasDraft: boolean
  readonly upcoming?: Schedules.Upcoming
}

/** Fails unless this n8n can publish any version, and label it. */
const checkVersions = Effect.fnUntraced(function*(id: string, field: string, version: string | undefined) {
  const n8n = yield* N8nClient
  const release = yield* n8n.release
  const can = release === undefined
    ? (yield* n8n.workflowHistory(id, { limit: 1 })) !== undefined
    : writesDrafts(release)
  if (can) return
  if (version === Reference.published && isV1(release)) {
    return yield* Errors.invalid(field, "n8n 1 has no versions: what is active is the workflow itself", {
      _tag: "PublishFirst",
      id
    })
  }
  return yield* version === undefined
    ? Errors.invalid(
      field,
      "This n8n's versions have no name or description",
      "Leave it out; n8n 2.40 and later take it."
    )
    : Errors.invalid(field, "This n8n publishes only the current state; n8n 2.40 and later publish any version", {
      _tag: "RestoreToPublish",
      workflowId: id,
      version
    })
})

const chosen = Effect.fnUntraced(function*(id: string, version: string) {
  if (version === "") {
    return yield* Errors.invalid("id", `'${id}@' has no version after the @`, "Write ID@VERSION, or the id alone.")
  }
  if (Reference.isSnapshot(version)) {
    return yield* Errors.invalid("id", `'${version}' is a snapshot of this server, which n8n cannot publish`, {
      _tag: "RestoreToPublish",
      workflowId: id,
      version
    })
  }
  yield* checkVersions(id, "id", version)
  const { workflow } = yield* Versions.use((versions) => versions.read(id, version)).pipe(
    Effect.mapError((error) =>
      error._tag === "ValidationError" ? new Errors.ValidationError({ ...error, field: "id" }) : error
    )
  )
  return workflow.versionId ?? undefined
})

/** Publishes the current state (`ID`) or a version (`ID@VERSION`), and computes its next starts. */
export const publish = Effect.fn("Publication.publish")(function*(reference: string, labels: VersionLabels) {
  const { place, version } = Reference.parse(reference)
  if (place.kind !== "n8n") {
    return yield* Errors.invalid("id", "A file is not published", { _tag: "ListWorkflows" })
  }
  const { id } = place
  const store = yield* WorkflowStore
  const n8n = yield* N8nClient
  if (version === undefined && Object.keys(labels).length > 0) yield* checkVersions(id, "name", undefined)
  const versionId = version === undefined ? undefined : yield* chosen(id, version)
  const written = yield* store.write({ kind: "n8n", id }, {}, {
    operation: "activate_workflow",
    publish: "now",
    publication: { ...labels, versionId },
    problems: "none"
  })
  const { workflow } = written
  const running = Workflow.running(workflow) ?? workflow
  const runs = workflow.activeVersionId ?? undefined
  const [faults = []] = yield* ReferenceProblems.warnings([running], true)
  const after = yield* Clock.currentTimeMillis
  const upcoming = Schedules.upcoming(running, {
    after,
    count: nextStarts,
    isV1: isV1(yield* n8n.release)
  })
  return {
    ...written,
    warnings: [...written.warnings, ...written.isWritten ? [] : scheduleWarnings(workflow, after), ...faults],
    workflow: runs === undefined ? workflow : { ...workflow, versionId: runs },
    hasDraft: Workflow.hasDraft(workflow),
    ...(upcoming === undefined ? {} : { upcoming })
  } satisfies Published as Published
})

/** Published workflow that needs another one. */
export interface Dependent {
  readonly id: string
  readonly name: string
  readonly as: "caller" | "error workflow"
}

/** Time for the list of workflows, which is only for a hint. */
const lookTime = "5 seconds"

/** Published workflows that call a workflow, or name it as their error workflow; `undefined` if n8n lists too slowly. */
export const dependents = (id: string) =>
  N8nClient.use((n8n) =>
    Stream.runCollect(
      n8n.streamWorkflows({ active: true }).pipe(Stream.flatMap((workflow) => {
        const { name, settings } = workflow
        const nodes = obj(workflow.activeVersion)?.["nodes"] ?? workflow.nodes
        const uses = References.of({ nodes, settings }).filter((each) => each.id === id && each.unused === undefined)
        const as = uses.some(References.isCall)
          ? "caller"
          : uses.some(({ kind }) => kind === "error")
          ? "error workflow"
          : undefined
        return as === undefined || workflow.id === id
          ? Stream.empty
          : Stream.make<[Dependent]>({ id: workflow.id, name, as })
      }))
    )
  ).pipe(
    Effect.map((all): ReadonlyArray<Dependent> | undefined => [...all]),
    Effect.timeoutOrElse({ duration: lookTime, orElse: () => Effect.undefined }),
    Effect.orElseSucceed(() => undefined)
  )

/** Unpublishes a workflow; n8n 1 also runs an inactive one for its callers. */
export const unpublish = Effect.fn("Publication.unpublish")(function*(id: string) {
  const written = yield* WorkflowStore.use((store) =>
    store.write({ kind: "n8n", id }, {}, { operation: "deactivate_workflow", publish: "never", problems: "none" })
  )
  const release = yield* N8nClient.use((n8n) => n8n.release)
  return { ...written, dependents: isV1(release) ? [] : yield* dependents(id) }
})
