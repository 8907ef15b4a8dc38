/** Every tool, in the order clients see them. */
import { createWorkflow } from "./createWorkflow.ts"
import { deleteWorkflow } from "./deleteWorkflow.ts"
import { createWorkflowFromFile, replaceWorkflowFromFile } from "./fromFile.ts"
import { getExecution } from "./getExecution.ts"
import { getExecutionByNode } from "./getExecutionByNode.ts"
import { getWorkflow } from "./getWorkflow.ts"
import { getWorkflowConnections } from "./getWorkflowConnections.ts"
import { listCredentials } from "./listCredentials.ts"
import { listExecutions } from "./listExecutions.ts"
import { listWorkflows } from "./listWorkflows.ts"
import { connectionCreate, nodeAdd, nodeReplace } from "./nodeEdits.ts"
import { nodeGet } from "./nodeGet.ts"
import { nodeSearch } from "./nodeSearch.ts"
import { retryExecution, stopExecution } from "./runControl.ts"
import { activateWorkflow, deactivateWorkflow } from "./setActive.ts"
import { testWorkflow } from "./testWorkflow.ts"
import { updateWorkflow } from "./updateWorkflow.ts"
import { validateWorkflow } from "./validateWorkflow.ts"
import { workflowHistory, workflowRestore } from "./versions.ts"
import { workflowEdit } from "./workflowEdit.ts"
import { workflowCreate, workflowList, workflowLoad, workflowSave } from "./workflowFiles.ts"

export {
  activateWorkflow,
  connectionCreate,
  createWorkflow,
  createWorkflowFromFile,
  deactivateWorkflow,
  deleteWorkflow,
  getExecution,
  getExecutionByNode,
  getWorkflow,
  getWorkflowConnections,
  listCredentials,
  listExecutions,
  listWorkflows,
  nodeAdd,
  nodeGet,
  nodeReplace,
  nodeSearch,
  replaceWorkflowFromFile,
  retryExecution,
  stopExecution,
  testWorkflow,
  updateWorkflow,
  validateWorkflow,
  workflowCreate,
  workflowEdit,
  workflowHistory,
  workflowList,
  workflowLoad,
  workflowRestore,
  workflowSave
}

/** The tools by what they are for; `--toolsets` takes these names. */
export const toolsets = {
  workflows: [
    listWorkflows,
    getWorkflow,
    getWorkflowConnections,
    createWorkflow,
    updateWorkflow,
    deleteWorkflow,
    activateWorkflow,
    deactivateWorkflow
  ],
  files: [
    createWorkflowFromFile,
    replaceWorkflowFromFile,
    workflowCreate,
    workflowList,
    workflowLoad,
    workflowSave
  ],
  history: [workflowHistory, workflowRestore],
  executions: [listExecutions, getExecution, getExecutionByNode, retryExecution, stopExecution],
  credentials: [listCredentials],
  nodes: [nodeSearch, nodeGet],
  editing: [nodeAdd, nodeReplace, connectionCreate, workflowEdit, validateWorkflow],
  testing: [testWorkflow]
} as const

/** All of them, in the order in which clients see them. */
export const all = [
  ...toolsets.workflows,
  ...toolsets.files,
  ...toolsets.history,
  ...toolsets.executions,
  ...toolsets.credentials,
  ...toolsets.nodes,
  ...toolsets.editing,
  ...toolsets.testing
] as const
