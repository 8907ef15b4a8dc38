/** Tools for executions. */
export { compareItems } from "./compareItems.ts"
export { getExecution } from "./getExecution.ts"
export { getExecutionByNode } from "./getExecutionByNode.ts"
export { listExecutions } from "./listExecutions.ts"
export { retryExecution } from "./retryExecution.ts"
export { searchExecution } from "./searchExecution.ts"
export { stopExecution } from "./stopExecution.ts"
