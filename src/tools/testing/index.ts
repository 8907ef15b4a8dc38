/** Tools that run workflows. */
export { testWorkflow } from "./testWorkflow.ts"
export { workflowProve } from "./workflowProve.ts"
