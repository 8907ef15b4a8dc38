/** Columns of a list of workflows that n8n's own list lacks. */
import * as Effect from "effect/Effect"
import type * as Errors from "../../base/Errors.ts"
import { str } from "../../base/Json.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { isV1, N8nClient } from "../../n8n/N8nClient.ts"
import { errorWorkflowId } from "../policy/Policy.ts"
import type { Selected } from "./Selection.ts"

export const columns = ["draft", "errorWorkflow", "triggers", "lastRun", "nodeCount", "updatedAt"] as const
export type Column = typeof columns[number]

export type LastRun = {
  readonly id: string
  readonly status: string
  readonly at?: string
}

/** Cells of one workflow: those of the chosen columns that n8n knows. */
export interface Cells {
  /** Whether a published workflow has a draft that differs from what runs. */
  readonly draft?: boolean
  /** Id; `null` without one. */
  readonly errorWorkflow?: string | null
  /** Types of enabled triggers without their package, webhooks with their path. */
  readonly triggers?: ReadonlyArray<string>
  readonly lastRun?: LastRun | null
  readonly nodeCount?: number
  readonly updatedAt?: string
}

const lastRunOf = ({ lastRun }: Selected): Pick<Cells, "lastRun"> => {
  if (lastRun === undefined) return {}
  if (lastRun === null) return { lastRun }
  const { id, startedAt, status } = lastRun
  const at = typeof startedAt === "string" ? { at: startedAt.replace(/\.\d+Z$/, "Z") } : {}
  return { lastRun: { id: String(id), status: status ?? "unknown", ...at } }
}

const triggersOf = ({ workflow }: Selected) =>
  Workflow.nodes(workflow).filter((node) => node["disabled"] !== true && Workflow.isTrigger(node)).map((node) => {
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

/** Fills the columns for selected workflows, and names their error workflows by id. */
export const fill = Effect.fn("Columns.fill")(function*(
  show: ReadonlyArray<Column>,
  selected: ReadonlyArray<Selected>
): Effect.fn.Return<
  {
    readonly rows: ReadonlyArray<Cells>
    readonly names: Readonly<Record<string, string>> | undefined
    /** Columns that this n8n does not know. */
    readonly note: string | undefined
  },
  Errors.RequestError | Errors.N8nError,
  N8nClient
> {
  const n8n = yield* N8nClient
  const has = (column: Column) => show.includes(column)
  const isOld = (has("draft") || has("lastRun")) && isV1(yield* n8n.release)
  const drafts = has("draft") && !isOld ? yield* draftsOf(selected) : undefined
  const rows = selected.map((each): Cells => {
    const { workflow } = each
    return {
      ...(drafts === undefined ? {} : { draft: drafts.has(workflow.id) }),
      ...(has("errorWorkflow") ? { errorWorkflow: errorWorkflowId({ ...workflow }) ?? null } : {}),
      ...(has("triggers") ? { triggers: triggersOf(each) } : {}),
      ...(has("lastRun") ? lastRunOf(each) : {}),
      ...(has("nodeCount") ? { nodeCount: workflow.nodes.length } : {}),
      ...(has("updatedAt") && workflow.updatedAt !== undefined ? { updatedAt: workflow.updatedAt } : {})
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
