/**
 * Functions of workflows and executions that need no n8n: pure, without a module of Node, for browsers as well.
 *
 * **Example** (What changed, and the workflow without secrets)
 *
 * ```ts
 * import { Redact, Workflow, WorkflowDiff } from "effect-n8n-mcp/domain"
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 *
 * const read = Schema.decodeUnknownSync(Workflow.Workflow)
 *
 * export const review = (before: unknown, after: unknown) => ({
 *   changes: WorkflowDiff.summary(read(before), read(after)),
 *   shareable: Redact.redact(after)
 * })
 *
 * const workflow = { id: "1", name: "Orders", active: false, nodes: [], connections: {} }
 *
 * export const test = Effect.sync(() => review(workflow, { ...workflow, name: "Orders (old)" }))
 * ```
 */
export * as Redact from "./base/Redact.ts"
export * as Execution from "./executions/Execution.ts"
export * as ExecutionSummary from "./executions/ExecutionSummary.ts"
export * as ItemComparison from "./executions/ItemComparison.ts"
export * as NodeExecution from "./executions/NodeExecution.ts"
export * as Connections from "./n8n/model/Connections.ts"
export * as ExecutionHead from "./n8n/model/ExecutionHead.ts"
export * as Workflow from "./n8n/model/Workflow.ts"
export * as Picture from "./pictures/Picture.ts"
export * as Svg from "./pictures/Svg.ts"
export * as WorkflowProblems from "./workflow/check/WorkflowProblems.ts"
export * as WorkflowDiff from "./workflow/diff/WorkflowDiff.ts"
export * as Graph from "./workflow/Graph.ts"
export * as Mermaid from "./workflow/Mermaid.ts"
