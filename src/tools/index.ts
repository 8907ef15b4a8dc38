/** Every tool, in the order clients see them. */
import { getExecution } from "./getExecution.ts"
import { getExecutionByNode } from "./getExecutionByNode.ts"
import { getWorkflow } from "./getWorkflow.ts"
import { getWorkflowConnections } from "./getWorkflowConnections.ts"
import { listExecutions } from "./listExecutions.ts"
import { listWorkflows } from "./listWorkflows.ts"

export { getExecution, getExecutionByNode, getWorkflow, getWorkflowConnections, listExecutions, listWorkflows }

/** All of them. */
export const all = [
  listWorkflows,
  getWorkflow,
  getWorkflowConnections,
  listExecutions,
  getExecution,
  getExecutionByNode
] as const
