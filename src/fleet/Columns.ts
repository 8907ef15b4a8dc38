/** Columns of a list of workflows that n8n's own list lacks. */
import * as Effect from "effect/Effect"
import { str } from "../base/Json.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"
import type { Selected } from "./WorkflowSelection.ts"

export const columns = ["draft", "errorWorkflow", "triggers", "lastRun", "nodeCount", "updatedAt"] as const
type Column = typeof columns[number]

const lastRunOf = ({ lastRun }: Selected) => {
  if (lastRun == null) return lastRun === null ? { lastRun } : {}
  const { id, startedAt, status } = lastRun
  const at = typeof startedAt === "string" ? { at: startedAt.replace(/\.\d+Z$/, "Z") } : {}
  return { lastRun: { id: String(id), status: status ?? "unknown", ...at } }
}

const triggersOf = ({ workflow }: Selected) =>
  Workflow.enabledNodes(workflow).filter(Workflow.isTrigger).map((node) => {
    const path = str(Workflow.parametersOf(node)["path"])
    const type = Workflow.typeOf(node).replace(/^.*\./, "")
    return path === undefined ? type : `${type} /${path}`
  })

const draftsOf = Effect.fnUntraced(function*(selected: ReadonlyArray<Selected>) {
  const n8n = yield* N8nClient
  // n8n also counts a version with the same content, which takes the whole workflow to see.
  const candidates = selected.filter(({ workflow }) => workflow.active && Workflow.awaitsPublishing(workflow))
  const drafts = yield* Effect.filter(
    candidates,
    ({ workflow: { id } }) =>
      n8n.getWorkflow(id, { excludePinnedData: true }).pipe(
        Effect.map(Workflow.hasDraft),
        Effect.catchTag("NotFoundError", () => Effect.succeed(false))
      ),
    { concurrency: 4 }
  )
  return new Set(drafts.map(({ workflow }) => workflow.id))
})

/** Fills the columns for selected workflows, and names their error workflows by id; `note` says what this n8n lacks. */
export const fill = Effect.fn("Columns.fill")(function*(
  show: ReadonlyArray<Column>,
  selected: ReadonlyArray<Selected>
) {
  const n8n = yield* N8nClient
  const has = (column: Column) => show.includes(column)
  const isOld = (has("draft") || has("lastRun")) && isV1(yield* n8n.release)
  const drafts = has("draft") && !isOld ? yield* draftsOf(selected) : undefined
  const rows = selected.map((each) => {
    const { id, nodes, updatedAt } = each.workflow
    return {
      ...(drafts === undefined ? {} : { draft: drafts.has(id) }),
      ...(has("errorWorkflow") ? { errorWorkflow: Workflow.errorWorkflowId(each.workflow) ?? null } : {}),
      ...(has("triggers") ? { triggers: triggersOf(each) } : {}),
      ...(has("lastRun") ? lastRunOf(each) : {}),
      ...(has("nodeCount") ? { nodeCount: nodes.length } : {}),
      ...(has("updatedAt") && updatedAt !== undefined ? { updatedAt } : {})
    }
  })
  const ids = new Set(rows.flatMap(({ errorWorkflow }) => errorWorkflow ?? []))
  const names = yield* Effect.forEach(
    ids,
    (id) => Effect.map(n8n.workflowName(id), (name) => [id, name] as const),
    { concurrency: 4 }
  )
  const lacking = isOld
    ? [...has("draft") ? ["has no drafts"] : [], ...has("lastRun") ? ["does not list waiting runs"] : []]
    : []
  return {
    rows,
    names: ids.size === 0 ? undefined : Object.fromEntries(names),
    note: lacking.length === 0 ? undefined : `n8n 1 ${lacking.join(" and ")}.`
  }
})
