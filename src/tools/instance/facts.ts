/** What is asked of an n8n for its overview; what one part lacks becomes a note, and the rest is told all the same. */
import * as Effect from "effect/Effect"
import * as Tool from "../../answer/Tool.ts"
import * as Errors from "../../base/Errors.ts"
import type * as ExecutionHead from "../../n8n/model/ExecutionHead.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { isUnsupported, isV1, N8nClient } from "../../n8n/N8nClient.ts"

/** The most executions that are counted, and how many at once. */
const maxExecutions = 2_000
const page = 250

/** The most that n8n shows of those that run now. */
const maxRunning = 100

/** What of the workflows is counted. */
export interface WorkflowFacts {
  readonly published: number
  readonly unpublished: number
  readonly archived: number
  readonly names: ReadonlyMap<string, string>
  readonly tags: ReadonlyMap<string, number>
  /** Whether these are all. */
  readonly isAll: boolean
}

/** Counts the workflows: a filter that keeps none of them sees all, up to its bounds. */
export const workflows: Effect.Effect<WorkflowFacts, Errors.RequestError, N8nClient> = Effect.gen(function*() {
  const n8n = yield* N8nClient
  const names = new Map<string, string>()
  const tags = new Map<string, number>()
  const counts = { published: 0, unpublished: 0, archived: 0 }
  const { nextCursor } = yield* n8n.listWorkflows({
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

/** The executions that began since then, newest first, up to a bound. */
export const executions = Effect.fnUntraced(function*(startedAfter: string) {
  const n8n = yield* N8nClient
  const found: Array<ExecutionHead.Listed> = []
  let cursor: string | undefined
  do {
    const listed = yield* n8n.listExecutions({ startedAfter, limit: page, cursor })
    found.push(...listed.executions)
    cursor = listed.nextCursor
  } while (cursor !== undefined && found.length < maxExecutions)
  return { executions: found, isAll: cursor === undefined }
})

/** Executions in a state, and whether there are more. */
export const inState = Effect.fnUntraced(function*(status: string) {
  const n8n = yield* N8nClient
  const listed = yield* n8n.listExecutions({ status, limit: maxRunning })
  return { executions: listed.executions, isAll: listed.nextCursor === undefined }
})

/** The scopes that the tools served here need and the key lacks. */
const lacking = (scopes: ReadonlyArray<string>) =>
  Effect.map(Tool.CurrentTools, (tools) => {
    const needed = new Set(tools.flatMap((tool) => [...tool.scopes, ...Object.keys(tool.partialScopes)]))
    return [...needed].filter((scope) => !scopes.includes(scope)).toSorted()
  })

/** n8n's version, and what the key may do as far as n8n tells it. */
export const about = Effect.gen(function*() {
  const { scopes, version } = yield* N8nClient.use((n8n) => n8n.about)
  return {
    version,
    isV1: isV1(version),
    key: scopes === undefined ? undefined : { scopes: scopes.length, lacks: yield* lacking(scopes) }
  }
})

/** The installed community packages; `undefined` where this n8n does not tell. */
export const packages = N8nClient.use((n8n) => n8n.listCommunityPackages).pipe(
  Effect.catchIf(isUnsupported, () => Effect.undefined)
)

/** What a part told, or a note why it did not; what no part of n8n can be without fails. */
export const orNote = <A, R>(
  part: string,
  notes: Array<string>,
  effect: Effect.Effect<A, Errors.N8nError, R>
): Effect.Effect<A | undefined, Errors.N8nError, R> =>
  Effect.catch(effect, (error) => {
    if (error._tag !== "ApiError" || error.reason !== "Status") return Effect.fail(error)
    if (error.statusCode === 401) return Effect.fail(error)
    const { context, message } = Errors.report(error)
    notes.push(`No ${part}: ${context["errorDetails"] ?? message} (HTTP ${error.statusCode}).`)
    return Effect.undefined
  })
