/** Problems with calls of other workflows. */
import * as Effect from "effect/Effect"
import { defined, type Obj, str } from "../base/Json.ts"
import type { Problem } from "../base/Problem.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"
import { calledBy, caller } from "./Calls.ts"

/** Finds calls of workflows that do not exist or, on n8n 2, are not published; the caller may be a draft. */
export const problems = Effect.fn("Callees.problems")(function*(workflow: Obj, release: string) {
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
      path: `nodes[${at}].parameters.workflowId`,
      message: `It calls the workflow ${fault.what}.`,
      fix: fault.isThere ? "Publish it first." : "Use the id of a workflow that exists on this n8n."
    })]
  })
})
