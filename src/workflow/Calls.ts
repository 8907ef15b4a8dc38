/** Calls of other workflows by nodes. Pure. */
import { type Obj, obj, str } from "../base/Json.ts"

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
