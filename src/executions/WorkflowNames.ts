/** Which workflows executions are of, by name: n8n's lists of executions know only ids. */
import * as Effect from "effect/Effect"
import type * as Errors from "../base/Errors.ts"
import type * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import * as NameSearch from "../n8n/model/NameSearch.ts"
import * as TestMark from "../n8n/model/TestMark.ts"
import { deletedWorkflow, N8nClient } from "../n8n/N8nClient.ts"

/** The name of a workflow whose name could not be read. */
export const unknown = "Unknown Workflow"

/** How many names are asked for at once. */
const concurrency = 4

type Listed = ReadonlyArray<ExecutionHead.Listed>

const idsOf = (executions: Listed) => [
  ...new Set(executions.flatMap(({ workflowId }) => typeof workflowId === "string" ? [workflowId] : []))
]

/** The names of the executions' workflows, by id: of a test's copy, the name of the original; else {@link unknown}. */
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

/** What narrows a list of executions to workflows of a name. */
export interface Narrowed {
  /** The only workflow of that name. */
  readonly workflowId?: string
  /** Keeps the executions of such workflows; absent where `workflowId` says it all. */
  readonly filter?: (executions: Listed) => Effect.Effect<Listed, Errors.RequestError>
}

/** The most workflows of a name that are asked for at once. */
const maxWorkflows = 100

/**
 * The workflows whose name contains `text`, ignoring case and accents; `undefined` where there are none.
 *
 * **Details**
 *
 * One search by name finds the workflows that there are. Where it cannot have found all (there are too many, or the
 * name may be that of a deleted one), the workflows of listed executions are asked for, each once.
 */
export const matching = Effect.fn("WorkflowNames.matching")(
  function*(text: string): Effect.fn.Return<Narrowed | undefined, Errors.RequestError, N8nClient> {
    const n8n = yield* N8nClient
    const contains = NameSearch.contains(text)
    const { nextCursor, workflows } = yield* n8n.listWorkflows({ name: text, archived: true, limit: maxWorkflows })
    const found = new Set(workflows.map(({ id }) => id))
    const isAll = nextCursor === undefined && !contains(deletedWorkflow)
    const [only] = found
    if (isAll && found.size < 2) return only === undefined ? undefined : { workflowId: only }
    const filter = Effect.fnUntraced(function*(executions: Listed) {
      const others = isAll ? [] : idsOf(executions).filter((id) => !found.has(id))
      const matched = yield* Effect.filter(others, (id) => Effect.map(n8n.workflowName(id), contains), { concurrency })
      const wanted = new Set([...found, ...matched])
      return executions.filter(({ workflowId }) => typeof workflowId === "string" && wanted.has(workflowId))
    })
    return { filter }
  }
)
