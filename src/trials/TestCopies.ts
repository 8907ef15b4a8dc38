/** Test copies on n8n: made, published, removed, and those that a process left behind. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { readlinkSync } from "node:fs"
import { hostname } from "node:os"
import type * as Errors from "../base/Errors.ts"
import type { Obj } from "../base/Json.ts"
import * as TestMark from "../n8n/model/TestMark.ts"
import type * as Workflow from "../n8n/model/Workflow.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import { deleteUnpublished, isUncertain } from "../workflows/store/Publishing.ts"
import { Snapshots } from "../workflows/store/Snapshots.ts"
import { withoutRefused } from "../workflows/store/WorkflowBody.ts"

/** Containers have process ids of their own. */
const namespace = () => {
  try {
    return readlinkSync("/proc/self/ns/pid")
  } catch {
    return ""
  }
}

let machine: string | undefined

/** This process. */
export const self = (): TestMark.Owner => {
  machine ??= createHash("sha256").update(`${hostname()} ${namespace()}`).digest("hex").slice(0, 8)
  return { machine, pid: process.pid }
}

const isGone = (owner: TestMark.Owner): boolean => {
  if (owner.machine !== self().machine) return false
  try {
    process.kill(owner.pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH"
  }
}

/** Copies of whatever process, as long as they are there. */
export const list = N8nClient.use((n8n) => n8n.listWorkflows({ name: TestMark.mark, archived: true, limit: 100 })).pipe(
  Effect.map(({ workflows }) => workflows.filter(TestMark.isCopy))
)

/** Unpublishes and deletes; what is gone already is fine. */
export const remove = Effect.fn("WorkflowTesting.remove")(function*(id: string) {
  const n8n = yield* N8nClient
  yield* Effect.ignore(n8n.unpublishWorkflow(id))
  yield* Effect.catchTag(deleteUnpublished(id), "NotFoundError", () => Effect.void)
})

/** Ends what still runs of a copy. 1.x cannot be told: there the copy's own time limit does it. */
export const stopAll = Effect.fn("WorkflowTesting.stopAll")(function*(workflowId: string) {
  const n8n = yield* N8nClient
  for (const status of ["running", "waiting"]) {
    const { executions } = yield* n8n.listExecutions({ workflowId, status, limit: 20 })
    yield* Effect.forEach(executions, ({ id }) => Effect.ignore(n8n.stopExecution(String(id))), { discard: true })
  }
})

/** Keeps it as it is, looks once more, and removes it: nothing goes that could not come back. */
const sweepOne = Effect.fnUntraced(function*(id: string) {
  const n8n = yield* N8nClient
  const snapshots = yield* Snapshots
  const workflow = yield* n8n.getWorkflow(id)
  if (!TestMark.isCopy(workflow)) return
  yield* snapshots.save(n8n.instance, workflow, "test_workflow")
  yield* Effect.ignore(stopAll(id))
  yield* remove(id)
})

/** Deletes abandoned test copies. */
export const sweep = Effect.gen(function*() {
  const now = yield* Clock.currentTimeMillis
  const left = (yield* list).filter((workflow) => TestMark.isLeftover(workflow, now, isGone))
  yield* Effect.forEach(left, ({ id }) => Effect.ignore(sweepOne(id)), { discard: true })
  return left.length
}).pipe(Effect.withSpan("WorkflowTesting.sweep"))

const isRefused = (error: Errors.N8nError) =>
  error._tag === "NotFoundError" ||
  error._tag === "ApiError" && error.statusCode !== undefined && [400, 403, 404].includes(error.statusCode)

/** Creates the copy in the project, where n8n lets us; a copy whose creation was not answered is looked up. */
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
    Effect.catchIf(isUncertain, (error) =>
      Effect.gen(function*() {
        const copy: Pick<Workflow.Workflow, "id" | "name"> | undefined = (yield* list).find(({ name }) =>
          name === body.name
        )
        return copy ?? (yield* error)
      }))
  )
})
