/** Tools for versions of workflows, in the order clients see them. */
import { workflowHistory } from "./workflowHistory.ts"
import { workflowRestore } from "./workflowRestore.ts"

export { workflowHistory, workflowRestore }

export default [workflowHistory, workflowRestore] as const
