/** Mappings of nodes that shape and route data. */
import * as Result from "effect/Result"
import { moves } from "./binary.ts"
import data from "./core.json" with { type: "json" }
import { type New, type StepData, type Steps, steps as ofData, type Successors } from "./mapping.ts"
import { called, calledFields, loop, merge } from "./merge.ts"
import { filterNodes, ifs, switches } from "./routes.ts"
import { functionItems, functions, transforms } from "./scripts.ts"
import { set } from "./set.ts"
import { executionData, html, htmlExtract, itemLists, itemListTypes, summarize } from "./shapes.ts"

const base = "n8n-nodes-base."

export const steps: Steps = {
  ...ofData(data as { readonly [type: string]: ReadonlyArray<StepData> }),
  [`${base}set`]: set,
  [`${base}if`]: ifs,
  [`${base}filter`]: filterNodes,
  [`${base}switch`]: switches,
  [`${base}merge`]: merge,
  [`${base}splitInBatches`]: [{ to: 3, change: loop }],
  [`${base}executeWorkflow`]: [1.1, 1.2, 1.3, 1.4].map((to) => ({ to, change: called })),
  [`${base}executeWorkflowTrigger`]: [1.1, 1.2].map((to) => ({ to, change: calledFields })),
  [`${base}code`]: [{ to: 2 }],
  [`${base}wait`]: [{ to: 1.1 }],
  [`${base}html`]: [{ to: 1.1 }, { to: 1.2, change: html }],
  [`${base}summarize`]: [{ to: 1.1, change: summarize }],
  [`${base}executionData`]: [{ to: 1.1, change: executionData }],
  [`${base}removeDuplicates`]: [{ to: 1.1 }, { to: 2 }]
}

export const successors: Successors = {
  [`${base}function`]: functions,
  [`${base}functionItem`]: functionItems,
  [`${base}moveBinaryData`]: moves,
  [`${base}aiTransform`]: transforms,
  [`${base}itemLists`]: { to: itemListTypes, change: itemLists },
  [`${base}htmlExtract`]: { to: [`${base}html`], change: htmlExtract },
  [`${base}start`]: { to: [`${base}manualTrigger`], change: () => Result.succeed<New>({ parameters: {} }) }
}
