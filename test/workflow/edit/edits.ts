/** Workflows to edit, and edits of them. */
import * as Result from "effect/Result"
import * as Hints from "../../../src/answer/Hints.ts"
import { type Obj, obj } from "../../../src/base/Json.ts"
import * as NodeType from "../../../src/catalogue/types/NodeType.ts"
import * as WorkflowEdit from "../../../src/workflow/edit/WorkflowEdit.ts"
import { lookups as known } from "../check/lookups.ts"

export const base = "n8n-nodes-base."
export const ai = "@n8n/n8n-nodes-langchain."

const cached = new Map<string, NodeType.NodeType | undefined>()
const find: WorkflowEdit.Lookups["find"] = (type) => {
  if (!cached.has(type)) cached.set(type, known.find(type))
  return cached.get(type)
}

export const lookups = (): WorkflowEdit.Lookups => {
  let made = 0
  return {
    ...known,
    find,
    newId: () => `new-${++made}`,
    newest: (type) => {
      const nodeType = find(type)
      return nodeType === undefined ? undefined : NodeType.defaultVersion(nodeType)
    }
  }
}

export const node = (name: string, type: string, typeVersion: number, parameters: Obj = {}, more: Obj = {}): Obj => ({
  parameters,
  type,
  typeVersion,
  position: [0, 0],
  id: `id of ${name}`,
  name,
  ...more
})
export const hook = node("Hook", `${base}webhook`, 2, { path: "x" }, { webhookId: "w" })
export const set = (name: string, more: Obj = {}) => node(name, `${base}set`, 3.4, {}, more)
export const agent = (more: Obj = {}) => node("Agent", `${ai}agent`, 2, { promptType: "define", text: "hi" }, more)
export const model = (name: string, more: Obj = {}) => node(name, `${ai}lmChatOpenAi`, 1.2, {}, more)

export const flow = (nodes: ReadonlyArray<unknown>, connections: unknown = {}, more: Obj = {}): Obj => ({
  name: "Flow",
  nodes,
  connections,
  settings: { executionOrder: "v1" },
  ...more
})

type Operations = ReadonlyArray<WorkflowEdit.Operation>

export const attempt = (workflow: Obj, ...operations: Operations) => WorkflowEdit.apply(workflow, operations, lookups())

/** What the operations make of the workflow. */
export const edit = (workflow: Obj, ...operations: Operations): WorkflowEdit.Edited =>
  Result.getOrThrowWith(attempt(workflow, ...operations), (refused) => new Error(JSON.stringify(refused)))

/** Why they make nothing of it, the hint in words. */
export const refusal = (workflow: Obj, ...operations: Operations) => {
  const result = attempt(workflow, ...operations)
  if (Result.isSuccess(result)) throw new Error(JSON.stringify(result.success.changes))
  return { ...result.failure, hint: Hints.text(result.failure.hint) }
}

/** The node of that name. */
export const nodeOf = (workflow: Obj, name: string): Obj => {
  const nodes = workflow["nodes"]
  const found = Array.isArray(nodes) ? nodes.find((each) => obj(each)?.["name"] === name) : undefined
  return obj(found) ?? {}
}
