/** Tools for workflows in files. */
export { createWorkflowFromFile } from "./createWorkflowFromFile.ts"
export { replaceWorkflowFromFile } from "./replaceWorkflowFromFile.ts"
export { workflowCreate } from "./workflowCreate.ts"
export { workflowList } from "./workflowList.ts"
export { workflowLoad } from "./workflowLoad.ts"
export { workflowSave } from "./workflowSave.ts"
