/** Names of the workflows of executions: n8n's lists of executions contain only ids. */
import * as Effect from "effect/Effect"
import type * as Errors from "../base/Errors.ts"
import type * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import * as NameSearch from "../n8n/model/NameSearch.ts"
import * as TestMark from "../n8n/model/TestMark.ts"
import { deletedWorkflow, N8nClient } from "../n8n/N8nClient.ts"

export const unknown = "Unknown Workflow"

const concurrency = 4

type Listed = ReadonlyArray<ExecutionHead.Listed>

const idsOf = (executions: Listed) => [
  ...new Set(executions.flatMap(({ workflowId }) => typeof workflowId === "string" ? [workflowId] : []))
]

/**
 * Names of the executions' workflows by id: the original's name for a test copy, {@link unknown} if it cannot be read.
 */
export const read = Effect.fn("WorkflowNames.read")(function*(executions: Listed) {
  const n8n = yield* N8nClient
  const names = yield* Effect.forEach(
    idsOf(executions),
    (id) =>
      n8n.workflowName(id).pipe(
        Effect.orElseSucceed(() => unknown),
        Effect.map((name) => [id, TestMark.originalName(name)] as const)
      ),
    { concurrency }
  )
  return new Map(names)
})

/** Restriction of a list of executions to workflows by name. */
export interface Narrowed {
  /** Id of the only workflow with that name. */
  readonly workflowId?: string
  /** Filter for executions of such workflows; absent if `workflowId` is sufficient. */
  readonly filter?: (executions: Listed) => Effect.Effect<Listed, Errors.RequestError>
}

const maxWorkflows = 100

/**
 * Restriction to workflows whose name contains `text`, ignoring case and accents; `undefined` if there are none.
 *
 * One search by name finds existing workflows. If its result may be incomplete (too many, or the text also matches the
 * name of deleted ones), the name of each listed execution's workflow is read once.
 */
export const matching = Effect.fn("WorkflowNames.matching")(
  function*(text: string): Effect.fn.Return<Narrowed | undefined, Errors.RequestError, N8nClient> {
    const n8n = yield* N8nClient
    const contains = NameSearch.contains(text)
    const { nextCursor, workflows } = yield* n8n.listWorkflows({ name: text, archived: true, limit: maxWorkflows })
    const live = new Set(workflows.map(({ id }) => id))
    const isAll = nextCursor === undefined && !contains(deletedWorkflow)
    const [only] = live
    if (isAll && live.size < 2) return only === undefined ? undefined : { workflowId: only }
    const filter = Effect.fnUntraced(function*(executions: Listed) {
      const others = isAll ? [] : idsOf(executions).filter((id) => !live.has(id))
      const matched = yield* Effect.filter(others, (id) => Effect.map(n8n.workflowName(id), contains), { concurrency })
      const ids = new Set([...live, ...matched])
      return executions.filter(({ workflowId }) => typeof workflowId === "string" && ids.has(workflowId))
    })
    return { filter }
  }
)
