/** Nodes that reach outside, and calls of sub-workflows that only compute, which a replay without their recorded items may run. */
import * as Effect from "effect/Effect"
import { parser } from "../base/JavaScript.ts"
import { type Obj, obj, str } from "../base/Json.ts"
import * as Turn from "../base/Turn.ts"
import { fence } from "../catalogue/code/Fence.ts"
import type * as NodeType from "../catalogue/types/NodeType.ts"
import { reachesOutside } from "../catalogue/types/Outside.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"
import type * as Checked from "../workflow/check/CheckedWorkflow.ts"
import { calledBy, caller } from "../workflow/References.ts"
import * as NodeLookups from "../workflows/NodeLookups.ts"
import * as TestCopies from "./TestCopies.ts"

/** Node that reaches outside; an unknown type does. */
export interface Outside {
  readonly node: Workflow.Node
  readonly type: NodeType.NodeType | undefined
}

export const isTriggerOf = ({ find }: Checked.NodeLookups) => ({ type }: Workflow.Node) =>
  find(type)?.descriptions.some(({ group }) => group.includes("trigger")) ??
    (/trigger$/i.test(type) || type === "n8n-nodes-base.start")

/** Nodes other than triggers that reach outside. */
export const outsideOf = (
  nodes: ReadonlyArray<Workflow.Node>,
  lookups: Checked.NodeLookups
): Effect.Effect<ReadonlyArray<Outside>> => {
  const isTrigger = isTriggerOf(lookups)
  return Turn.run(() =>
    Turn.flatMap(nodes, (node) => {
      const type = lookups.find(node.type)
      return isTrigger(node) || Workflow.isNote(node) || !reachesOutside(type, node, lookups.parse)
        ? []
        : [{ node, type }]
    })
  )
}

/** Sub-workflow as it runs for its callers. */
type Callee = Pick<Workflow.Workflow, "connections" | "id" | "name" | "nodes" | "settings">

/** Whether any workflow of the same owner may call it. */
const isOpen = (settings: unknown) =>
  ["any", "workflowsFromSameOwner", undefined].includes(str(obj(settings)?.["callerPolicy"]))

/** Workflow that runs for its callers, reaches nothing outside, and alerts no one when it fails. */
const computing = Effect.fnUntraced(function*(id: string, release: string | undefined) {
  const workflow = yield* N8nClient.use((n8n) => n8n.getWorkflow(id))
  const runs = workflow.active || release !== undefined && isV1(release)
  if (!runs || Workflow.errorWorkflowId(workflow) !== undefined || !isOpen(workflow.settings)) return undefined
  const callee = Workflow.running(workflow) ?? workflow
  const nodes = Workflow.enabledNodes(callee) as ReadonlyArray<Workflow.Node>
  const lookups = yield* NodeLookups.make(nodes.map(({ type }) => type), release)
  const parse = yield* parser
  const isInside = (yield* outsideOf(nodes, lookups)).length === 0 &&
    nodes.every((node) => fence(node, parse) !== undefined)
  return isInside ? callee : undefined
})

/** Sub-workflows that only compute, by the names of the nodes that call them. */
export const insideCalls = Effect.fnUntraced(function*(nodes: ReadonlyArray<Workflow.Node>) {
  const release = yield* N8nClient.use((n8n) => n8n.release)
  const callees = yield* Effect.forEach(nodes, (node) => {
    const id = node.type === caller ? calledBy(node) : undefined
    return id === undefined ? Effect.succeed([]) : computing(id, release).pipe(
      // Without a look at it, it counts as outside.
      Effect.orElseSucceed(() => undefined),
      Effect.map((callee) => callee === undefined ? [] : [[node.name, callee] as const])
    )
  }, { concurrency: 4 })
  return new Map<string, Callee>(callees.flat())
})

/** Copy of a sub-workflow with its code in a fence; `undefined` if it has no code. */
const copyOf = Effect.fnUntraced(
  function*({ connections, name, nodes, settings }: Callee, projectId: string | undefined) {
    const parse = yield* parser
    const fenced = nodes.map((node) => fence(node, parse) ?? node)
    if (fenced.every((node, index) => node === nodes[index])) return undefined
    const mark = TestCopies.markOf(name)
    const body = { name: mark.name, nodes: [...fenced, mark.node], connections, settings: settings ?? {} }
    const { id } = yield* TestCopies.held(TestCopies.create(body, projectId), () => false)
    const release = yield* N8nClient.use((n8n) => n8n.release)
    if (release === undefined || !isV1(release)) yield* TestCopies.publish(id)
    return id
  }
)

/** Nodes of a copy in which those that run code of sub-workflows call fenced copies of these; `copies` has their ids. */
export const fencedCalls = Effect.fnUntraced(function*<N extends Obj>(
  nodes: ReadonlyArray<N>,
  callees: ReadonlyMap<string, Callee>,
  { copies, projectId }: { readonly copies: Map<string, string | undefined>; readonly projectId: string | undefined }
) {
  return yield* Effect.forEach(nodes, (node) =>
    Effect.gen(function*() {
      const callee = node["type"] === caller ? callees.get(Workflow.nameOf(node)) : undefined
      if (callee === undefined) return node
      if (!copies.has(callee.id)) copies.set(callee.id, yield* copyOf(callee, projectId))
      const id = copies.get(callee.id)
      const parameters = Workflow.parametersOf(node)
      const { workflowId } = parameters
      return id === undefined ? node : {
        ...node,
        parameters: {
          ...parameters,
          workflowId: obj(workflowId) === undefined ? id : { ...obj(workflowId), value: id }
        }
      }
    }))
})
