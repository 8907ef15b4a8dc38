/** Facts about an n8n for its overview; a part that fails becomes a note, and the others are still reported. */
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Errors from "../base/Errors.ts"
import type * as ExecutionHead from "./model/ExecutionHead.ts"
import * as Workflow from "./model/Workflow.ts"
import { isUnsupported, N8nClient } from "./N8nClient.ts"

/** Maximum number of executions counted. */
const maxExecutions = 2_000

/** Maximum number of running executions that n8n lists. */
const maxRunning = 100

/** Counts the workflows with a filter that accepts none and so sees all, up to n8n's bounds. */
export const workflows = Effect.gen(function*() {
  const names = new Map<string, string>()
  const tags = new Map<string, number>()
  const counts = { published: 0, unpublished: 0, archived: 0 }
  const { nextCursor } = yield* (yield* N8nClient).listWorkflows({
    archived: true,
    limit: 1,
    filter: (workflow) => {
      names.set(workflow.id, workflow.name)
      counts[workflow.isArchived === true ? "archived" : workflow.active ? "published" : "unpublished"]++
      if (workflow.isArchived !== true) {
        for (const tag of Workflow.tagNames(workflow)) tags.set(tag, (tags.get(tag) ?? 0) + 1)
      }
      return false
    }
  })
  return { ...counts, names, tags, isAll: nextCursor === undefined }
})

export const executions = Effect.fnUntraced(function*(startedAfter: DateTime.DateTime) {
  const all = yield* Stream.runCollect(
    Stream.take((yield* N8nClient).streamExecutions({ startedAfter }), maxExecutions + 1)
  )
  return { executions: all.slice(0, maxExecutions), isAll: all.length <= maxExecutions }
})

export const inState = Effect.fnUntraced(function*(status: ExecutionHead.Status) {
  const listed = yield* (yield* N8nClient).listExecutions({ status, limit: maxRunning })
  return { executions: listed.executions, isAll: listed.nextCursor === undefined }
})

/** Installed community packages; `undefined` if this n8n does not report them. */
export const packages = N8nClient.use((n8n) => n8n.listCommunityPackages).pipe(
  Effect.catchIf(isUnsupported, () => Effect.undefined)
)

/** Result of a part, or a note why n8n refused it; other errors fail. */
export const orNote = <A, R>(
  part: string,
  notes: Array<string>,
  effect: Effect.Effect<A, Errors.N8nError, R>
): Effect.Effect<A | undefined, Errors.N8nError, R> =>
  Effect.catch(effect, (error) => {
    const status = Errors.statusOf(error)
    if (status === undefined || status === 401) return Effect.fail(error)
    notes.push(`No ${part}: ${Errors.report(error).context["errorDetails"]} (HTTP ${status}).`)
    return Effect.undefined
  })
