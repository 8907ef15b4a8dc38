/** Tools that run workflows, in the order clients see them. */
import { testWorkflow } from "./testWorkflow.ts"

export { testWorkflow }

export default [testWorkflow] as const
