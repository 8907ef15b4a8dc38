/** Calls of sub-workflows that only compute, which a replay without their recorded items may run. */
import * as Effect from "effect/Effect"
import { obj, str } from "../base/Json.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"
import { calledBy, caller } from "../workflows/Calls.ts"
import * as NodeLookups from "../workflows/NodeLookups.ts"
import * as live from "./live.ts"
import { outsideOf } from "./outside.ts"

/** Whether any workflow of the same owner may call it. */
const isOpen = (settings: unknown) =>
  ["any", "workflowsFromSameOwner", undefined].includes(str(obj(settings)?.["callerPolicy"]))

/** Whether a workflow runs for its callers, reaches nothing outside, and alerts no one when it fails. */
const onlyComputes = Effect.fnUntraced(function*(id: string, release: string | undefined) {
  const workflow = yield* N8nClient.use((n8n) => n8n.getWorkflow(id))
  const runs = workflow.active || release !== undefined && isV1(release)
  if (!runs || Workflow.errorWorkflowId(workflow) !== undefined || !isOpen(workflow.settings)) return false
  const nodes = live.publishedNodes(workflow)
  const lookups = yield* NodeLookups.make(nodes.map(({ type }) => type), release)
  return (yield* outsideOf(nodes.filter(({ disabled }) => disabled !== true), lookups)).length === 0
})

/** Names of the nodes that call such a workflow. */
export const insideCalls = Effect.fnUntraced(function*(nodes: ReadonlyArray<Workflow.Node>) {
  const release = yield* N8nClient.use((n8n) => n8n.release)
  const names = yield* Effect.forEach(nodes, (node) => {
    const id = node.type === caller ? calledBy(node) : undefined
    return id === undefined ? Effect.succeed([]) : onlyComputes(id, release).pipe(
      // Without a look at it, it counts as outside.
      Effect.orElseSucceed(() => false),
      Effect.map((isInside) => isInside ? [node.name] : [])
    )
  }, { concurrency: 4 })
  return new Set(names.flat()) as ReadonlySet<string>
})
