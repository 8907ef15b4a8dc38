/** Tools for workflows on n8n. */
export { activateWorkflow } from "./activateWorkflow.ts"
export { createWorkflow } from "./createWorkflow.ts"
export { deactivateWorkflow } from "./deactivateWorkflow.ts"
export { deleteWorkflow } from "./deleteWorkflow.ts"
export { getWorkflow } from "./getWorkflow.ts"
export { getWorkflowConnections } from "./getWorkflowConnections.ts"
export { listWorkflows } from "./listWorkflows.ts"
export { updateWorkflow } from "./updateWorkflow.ts"
