/** Mappings of services and databases. */
import { type StepData, type Steps, steps as ofData, type Successors } from "./mapping.ts"
import data from "./services.json" with { type: "json" }
import { sheets } from "./sheets.ts"
import { mySql, postgres } from "./sql.ts"

export const steps: Steps = {
  ...ofData(data as { readonly [type: string]: ReadonlyArray<StepData> }),
  "n8n-nodes-base.googleSheets": sheets,
  "n8n-nodes-base.mySql": mySql,
  "n8n-nodes-base.postgres": postgres
}

export const successors: Successors = {}
