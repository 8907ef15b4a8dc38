/** Mappings of services and databases. */
import { left, type Step, type StepData, type Steps, steps as ofData, type Successors } from "./mapping.ts"
import data from "./services.json" with { type: "json" }
import { sheets } from "./sheets.ts"
import { mySql, postgres } from "./sql.ts"

/** Step to a version with other operations, parameters and output. */
const rewritten = (to: number): Step => ({
  to,
  change: () =>
    left(
      `Version ${to} is a new node: operations, parameters and output differ.`,
      "Create the node again in its newest version."
    )
})

const ofServices = ofData(data.steps as { readonly [type: string]: ReadonlyArray<StepData> })

export const steps: Steps = {
  ...ofServices,
  ...Object.fromEntries(
    Object.entries(data.rewritten).map(([type, to]) => [type, [rewritten(to), ...(ofServices[type] ?? [])]])
  ),
  "n8n-nodes-base.googleSheets": sheets,
  "n8n-nodes-base.mySql": [rewritten(2), ...mySql],
  "n8n-nodes-base.postgres": [rewritten(2), ...postgres]
}

export const successors: Successors = {}
