/** Calls of other workflows by nodes, and problems with them. */
import * as Effect from "effect/Effect"
import { defined, type Obj, obj, str } from "../base/Json.ts"
import type { Problem } from "../base/Problem.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"

export const caller = "n8n-nodes-base.executeWorkflow"
const tools: ReadonlySet<unknown> = new Set([
  "@n8n/n8n-nodes-langchain.toolWorkflow",
  "@n8n/n8n-nodes-langchain.retrieverWorkflow"
])

/** Whether nodes of a type run another workflow. */
export const isCaller = (type: unknown): boolean => type === caller || tools.has(type)

/** Call of a workflow by a node: its id, or the text that decides at run time which workflow it is. */
export type Call =
  & { readonly kind: "calls" | "tool" }
  & ({ readonly to: string } | { readonly to?: never; readonly decidedBy: string })

const textIn: { readonly [source: string]: string } = {
  parameter: "workflowJson",
  localFile: "workflowPath",
  url: "workflowUrl"
}

/** Call by a node, whether it is disabled or not; `undefined` for a node of another type or without a workflow. */
export const callOf = ({ parameters, type }: Obj): Call | undefined => {
  if (!isCaller(type)) return undefined
  const { source = "database", workflowId, ...others } = obj(parameters) ?? {}
  const kind = type === caller ? "calls" : "tool"
  if (source !== "database") {
    const value = str(others[textIn[String(source)] ?? ""]) ?? ""
    // JSON in the node is a workflow of its own, without an id.
    return { kind, decidedBy: `${String(source)}: ${source === "parameter" ? "JSON in the node" : value}` }
  }
  const id = (str(obj(workflowId)?.["value"]) ?? str(workflowId) ?? "").trim()
  return id === "" ? undefined : id.startsWith("=") ? { kind, decidedBy: id } : { kind, to: id }
}

/** Id of the workflow that a node calls, unless the node is disabled. */
export const calledBy = (node: Obj): string | undefined => node["disabled"] === true ? undefined : callOf(node)?.to

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
