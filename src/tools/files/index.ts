/** Tools for workflows in files, in the order clients see them. */
import { createWorkflowFromFile } from "./createWorkflowFromFile.ts"
import { replaceWorkflowFromFile } from "./replaceWorkflowFromFile.ts"
import { workflowCreate } from "./workflowCreate.ts"
import { workflowList } from "./workflowList.ts"
import { workflowLoad } from "./workflowLoad.ts"
import { workflowSave } from "./workflowSave.ts"

export { createWorkflowFromFile, replaceWorkflowFromFile, workflowCreate, workflowList, workflowLoad, workflowSave }

export default [
  createWorkflowFromFile,
  replaceWorkflowFromFile,
  workflowCreate,
  workflowList,
  workflowLoad,
  workflowSave
] as const
