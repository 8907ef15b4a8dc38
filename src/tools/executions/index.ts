/** Tools for executions, in the order clients see them. */
import { compareItems } from "./compareItems.ts"
import { getExecution } from "./getExecution.ts"
import { getExecutionByNode } from "./getExecutionByNode.ts"
import { listExecutions } from "./listExecutions.ts"
import { retryExecution } from "./retryExecution.ts"
import { searchExecution } from "./searchExecution.ts"
import { stopExecution } from "./stopExecution.ts"

export {
  compareItems,
  getExecution,
  getExecutionByNode,
  listExecutions,
  retryExecution,
  searchExecution,
  stopExecution
}

export default [
  listExecutions,
  getExecution,
  getExecutionByNode,
  searchExecution,
  compareItems,
  retryExecution,
  stopExecution
] as const
