/** Tools for versions of workflows, in the order clients see them. */
import { workflowDiff } from "./workflowDiff.ts"
import { workflowHistory } from "./workflowHistory.ts"
import { workflowRestore } from "./workflowRestore.ts"

export { workflowDiff, workflowHistory, workflowRestore }

export default [workflowHistory, workflowDiff, workflowRestore] as const
