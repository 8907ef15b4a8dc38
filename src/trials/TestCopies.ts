/** Test copies on n8n: their creation and removal, including copies abandoned by other processes. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { readlinkSync } from "node:fs"
import { hostname } from "node:os"
import * as Errors from "../base/Errors.ts"
import { sha256 } from "../base/Hash.ts"
import type { Obj } from "../base/Json.ts"
import * as Deprecated from "../n8n/Deprecated.ts"
import * as TestMark from "../n8n/model/TestMark.ts"
import type * as Workflow from "../n8n/model/Workflow.ts"
import { hasStatus, N8nClient } from "../n8n/N8nClient.ts"
import { IsTestCopy } from "../n8n/WriteGuard.ts"
import { deleteUnpublished } from "../workflows/store/Publishing.ts"
import { Snapshots } from "../workflows/store/Snapshots.ts"
import { withoutRefused } from "../workflows/store/WorkflowBody.ts"

/** PID namespace: containers have their own process ids. */
const namespace = () => {
  try {
    return readlinkSync("/proc/self/ns/pid")
  } catch {
    return ""
  }
}

let machine: string | undefined

export const currentOwner = (): TestMark.Owner => {
  machine ??= sha256(`${hostname()} ${namespace()}`).slice(0, 8)
  return { machine, pid: process.pid }
}

const isGone = (owner: TestMark.Owner): boolean => {
  if (owner.machine !== currentOwner().machine) return false
  try {
    process.kill(owner.pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH"
  }
}

export const list = N8nClient.use((n8n) =>
  n8n.listWorkflows({ name: TestMark.mark, archived: true, copies: true, limit: 100 })
).pipe(
  Effect.map(({ workflows }) => workflows.filter(TestMark.isCopy))
)

/** Unpublishes and deletes a copy, unless it is already gone. */
export const remove = Effect.fn("WorkflowTesting.remove")(function*(id: string) {
  const n8n = yield* N8nClient
  const unpublish = Effect.ignore(n8n.unpublishWorkflow(id))
  yield* unpublish
  // If a test is interrupted while n8n publishes its copy, n8n may publish it only after this.
  yield* Effect.catchTag(deleteUnpublished(id, unpublish), "NotFoundError", () => Effect.void)
})

/** Stops the unfinished executions of a copy. n8n 1.x cannot: there the copy's own timeout ends them. */
export const stopAll = Effect.fn("WorkflowTesting.stopAll")(function*(workflowId: string) {
  const n8n = yield* N8nClient
  for (const status of ["running", "waiting"] as const) {
    const { executions } = yield* n8n.listExecutions({ workflowId, status, limit: 20 })
    yield* Effect.forEach(executions, ({ id }) => Effect.ignore(n8n.stopExecution(String(id))), { discard: true })
  }
})

/** Removes an abandoned copy after saving a snapshot of it. */
const sweepOne = Effect.fnUntraced(function*(id: string) {
  const n8n = yield* N8nClient
  const snapshots = yield* Snapshots
  const workflow = yield* n8n.getWorkflow(id)
  if (!TestMark.isCopy(workflow)) return
  yield* snapshots.save(n8n.instance, workflow, "test_workflow")
  yield* Effect.ignore(stopAll(id))
  yield* remove(id)
})

export const sweep = Effect.gen(function*() {
  const now = yield* Clock.currentTimeMillis
  const left = (yield* list).filter((workflow) => TestMark.isLeftover(workflow, now, isGone))
  yield* Effect.forEach(left, ({ id }) => Effect.ignore(sweepOne(id)), { discard: true })
  return left.length
}).pipe(Effect.withSpan("WorkflowTesting.sweep"))

const isRefused = (error: Errors.N8nError) =>
  error._tag === "NotFoundError" ||
  hasStatus(400, 403, 404)(error) && !Deprecated.isRefusal(error)

/** Creates a copy, in the project if n8n allows it; if n8n does not answer, the copy is looked up by name. */
export const create = Effect.fn("WorkflowTesting.create")(function*(
  body: Obj & { readonly name: string },
  projectId: string | undefined
) {
  const n8n = yield* N8nClient
  const post = (body: Obj) => Effect.map(withoutRefused(body, n8n.createWorkflow), ({ workflow }) => workflow)
  const posted = projectId === undefined
    ? post(body)
    : Effect.catchIf(post({ ...body, projectId }), isRefused, () => post(body))
  return yield* posted.pipe(
    Effect.catchIf(Errors.isUncertain, (error) =>
      Effect.gen(function*() {
        const copy: Pick<Workflow.Workflow, "id" | "name"> | undefined = (yield* list).find(({ name }) =>
          name === body.name
        )
        return copy ?? (yield* error)
      }))
  )
}, Effect.provideService(IsTestCopy, true))

/** Publishes a copy; if n8n does not answer, publishes it again unless it is already active. */
export const publish = (id: string) =>
  N8nClient.use((n8n) =>
    Effect.catchIf(
      n8n.publishWorkflow(id),
      Errors.isUncertain,
      () => Effect.flatMap(n8n.getWorkflow(id), (now) => now.active ? Effect.succeed(now) : n8n.publishWorkflow(id))
    )
  ).pipe(Effect.provideService(IsTestCopy, true))
