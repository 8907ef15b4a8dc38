/** Tools that run workflows. */
export { testWorkflow } from "./testWorkflow.ts"
