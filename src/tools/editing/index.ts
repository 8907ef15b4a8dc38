/** Tools that build, change and check workflows, in the order clients see them. */
import { connectionCreate } from "./connectionCreate.ts"
import { nodeAdd } from "./nodeAdd.ts"
import { nodeReplace } from "./nodeReplace.ts"
import { validateWorkflow } from "./validateWorkflow.ts"
import { workflowEdit } from "./workflowEdit.ts"

export { connectionCreate, nodeAdd, nodeReplace, validateWorkflow, workflowEdit }

export default [nodeAdd, nodeReplace, connectionCreate, workflowEdit, validateWorkflow] as const
