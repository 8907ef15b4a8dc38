/** Every tool, in the order clients see them. */
import * as Resource from "../Resource.ts"
import type * as Tool from "../Tool.ts"
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

/** All of them. */
export const all = [
  listWorkflows,
  getWorkflow,
  getWorkflowConnections,
  createWorkflow,
  updateWorkflow,
  deleteWorkflow,
  createWorkflowFromFile,
  replaceWorkflowFromFile,
  activateWorkflow,
  deactivateWorkflow,
  workflowHistory,
  workflowRestore,
  listExecutions,
  getExecution,
  getExecutionByNode,
  retryExecution,
  stopExecution,
  listCredentials,
  nodeSearch,
  nodeGet,
  validateWorkflow,
  workflowCreate,
  workflowList,
  workflowLoad,
  workflowSave,
  nodeAdd,
  nodeReplace,
  connectionCreate,
  workflowEdit,
  testWorkflow
] as const

/** What some of them answer, under a URI. */
export const resources = [Resource.ofTool("n8n://node/{type}", nodeGet)] as const

/** Those that are of no use where no folder is served. */
const ofFiles: ReadonlySet<Tool.Any> = new Set([
  createWorkflowFromFile,
  replaceWorkflowFromFile,
  workflowCreate,
  workflowList,
  workflowLoad,
  workflowSave
])

/** Those that are served: all, or all but the file tools. */
export const served = (options: { readonly files: boolean }) =>
  options.files ? all : all.filter((tool) => !ofFiles.has(tool))
