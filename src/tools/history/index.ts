/** Tools for versions of workflows. */
export { workflowDiff } from "./workflowDiff.ts"
export { workflowHistory } from "./workflowHistory.ts"
export { workflowRestore } from "./workflowRestore.ts"
