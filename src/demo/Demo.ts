/** Data of `--demo`: six workflows of a small shop, and last night's executions, one of which failed. */
import type * as N8nApi from "../testing/n8nApi/N8nApi.ts"
import json from "./seed.json" with { type: "json" }

/** Workflows and executions as n8n has stored them. */
interface Recording {
  readonly workflows: ReadonlyArray<N8nApi.Workflow>
  readonly executions: ReadonlyArray<N8nApi.Execution>
}

const recording: Recording = json

const pick = (object: N8nApi.Workflow, keys: ReadonlyArray<string>) =>
  Object.fromEntries(keys.map((key) => [key, object[key]]))

const withVersion = (workflow: N8nApi.Workflow): N8nApi.Workflow => {
  const { activeVersion = null, activeVersionId, id } = workflow
  const content = pick(workflow, ["nodes", "connections", "nodeGroups"])
  return {
    ...workflow,
    activeVersion: activeVersion && { ...content, ...activeVersion, versionId: activeVersionId, workflowId: id }
  }
}

const withWorkflow = (execution: N8nApi.Execution): N8nApi.Execution => {
  const workflow = recording.workflows.find(({ id }) => id === execution.workflowId)
  const keys = ["id", "name", "nodes", "connections", "settings", "nodeGroups"]
  return { ...execution, workflowData: workflow && pick(workflow, keys) }
}

/** Six workflows and twelve executions, the same at every start; 239 failed for want of a customer's email. */
export const seed: Recording = {
  workflows: recording.workflows.map(withVersion),
  executions: recording.executions.map(withWorkflow)
}
