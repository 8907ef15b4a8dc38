/** Tools for workflows on n8n, in the order clients see them. */
import { activateWorkflow } from "./activateWorkflow.ts"
import { createWorkflow } from "./createWorkflow.ts"
import { deactivateWorkflow } from "./deactivateWorkflow.ts"
import { deleteWorkflow } from "./deleteWorkflow.ts"
import { getWorkflow } from "./getWorkflow.ts"
import { getWorkflowConnections } from "./getWorkflowConnections.ts"
import { listWorkflows } from "./listWorkflows.ts"
import { updateWorkflow } from "./updateWorkflow.ts"

export {
  activateWorkflow,
  createWorkflow,
  deactivateWorkflow,
  deleteWorkflow,
  getWorkflow,
  getWorkflowConnections,
  listWorkflows,
  updateWorkflow
}

export default [
  listWorkflows,
  getWorkflow,
  getWorkflowConnections,
  createWorkflow,
  updateWorkflow,
  deleteWorkflow,
  activateWorkflow,
  deactivateWorkflow
] as const
