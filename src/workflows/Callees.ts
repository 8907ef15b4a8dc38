/** Problems with other workflows and data tables that nodes use. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { defined, type Obj, str } from "../base/Json.ts"
import { print } from "../base/JsonPath.ts"
import type { Problem } from "../base/Problem.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"
import { calledBy, caller } from "../workflow/Calls.ts"
import { tableOf } from "../workflow/TableUses.ts"

/** Finds uses of data tables that n8n does not list for this key. */
const missingTables = Effect.fnUntraced(function*(workflow: Obj) {
  const uses = Workflow.nodes(workflow).flatMap((node, at) => {
    const use = node["disabled"] === true ? undefined : tableOf(node)
    return use === undefined || "decidedBy" in use ? [] : [{ at, node, table: "to" in use ? use.to : use.toName }]
  })
  if (uses.length === 0) return []
  const n8n = yield* N8nClient
  const tables = yield* Stream.runCollect(n8n.streamDataTables)
  return uses.filter(({ table }) => !tables.some(({ id, name }) => id === table || name === table)).map(
    ({ at, node, table }): Problem =>
      defined({
        severity: "warning" as const,
        node: str(node["name"]),
        nodeId: str(node["id"]),
        path: print(["nodes", at, "parameters", "dataTableId"]),
        message: `n8n has no data table '${table}', or the API key may not see it.`,
        fix: "Use a data table of this n8n, or create it."
      })
  )
})

/** Finds calls of workflows that do not exist or, on n8n 2, are not published; the caller may be a draft. */
const faultyCalls = Effect.fnUntraced(function*(workflow: Obj, release: string) {
  const calls = Workflow.nodes(workflow).flatMap((node, at) => {
    const id = calledBy(node)
    return id === undefined || id === workflow["id"] ? [] : [{ at, node, id }]
  })
  const n8n = yield* N8nClient
  const faultOf = (id: string) =>
    n8n.getWorkflow(id).pipe(
      Effect.map(({ active, name }) =>
        active || isV1(release) ? undefined : { what: `'${name}' (${id}), which is not published`, isThere: true }
      ),
      Effect.catchTag("NotFoundError", () => Effect.succeed({ what: `'${id}', which does not exist`, isThere: false })),
      // A workflow that the key may not read may still be callable.
      Effect.orElseSucceed(() => undefined),
      Effect.map((fault) => [id, fault] as const)
    )
  const faults = new Map(yield* Effect.forEach(new Set(calls.map(({ id }) => id)), faultOf, { concurrency: 4 }))
  return calls.flatMap(({ at, id, node }): ReadonlyArray<Problem> => {
    const fault = faults.get(id)
    return fault === undefined ? [] : [defined({
      severity: fault.isThere && node["type"] !== caller ? "warning" as const : "error" as const,
      node: str(node["name"]),
      nodeId: str(node["id"]),
      path: print(["nodes", at, "parameters", "workflowId"]),
      message: `It calls the workflow ${fault.what}.`,
      fix: fault.isThere ? "Publish it first." : "Use the id of a workflow that exists on this n8n."
    })]
  })
})

/** Finds what the nodes of a workflow use and the connected n8n does not have, or has not published. */
export const problems = (workflow: Obj, release: string) =>
  Effect.zipWith(
    faultyCalls(workflow, release),
    // This n8n may have no data tables, or not list them for this key.
    Effect.orElseSucceed(missingTables(workflow), () => []),
    (calls, tables) => [...calls, ...tables],
    { concurrent: true }
  )
