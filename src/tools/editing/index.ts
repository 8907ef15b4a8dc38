/** Tools that build, change and check workflows. */
export { bulkEdit } from "./bulkEdit.ts"
export { connectionCreate } from "./connectionCreate.ts"
export { nodeAdd } from "./nodeAdd.ts"
export { nodeReplace } from "./nodeReplace.ts"
export { validateWorkflow } from "./validateWorkflow.ts"
export { workflowEdit } from "./workflowEdit.ts"
