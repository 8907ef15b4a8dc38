/** Data of `--demo`: six workflows of a small shop, and last night's executions, one of which failed. */
import { obj } from "../base/Json.ts"
import type * as N8nApi from "../testing/n8nApi/N8nApi.ts"
import json from "./seed.json" with { type: "json" }

/** Credentials, workflows and executions as n8n has stored them. */
interface Recording {
  readonly credentials: ReadonlyArray<N8nApi.Credential>
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

/** Six workflows and twelve executions as they were recorded; 239 failed for want of a customer's email. */
export const seed: Recording = {
  credentials: recording.credentials,
  workflows: recording.workflows.map(withVersion),
  executions: recording.executions.map(withWorkflow)
}

const day = 86_400_000

const times = new Set(["createdAt", "updatedAt", "startedAt", "stoppedAt", "startTime"])

/** The same value with n8n's own times, but not those in items, moved by this many milliseconds. */
const moved = (value: unknown, by: number): unknown => {
  if (Array.isArray(value)) return value.map((item) => moved(item, by))
  const object = obj(value)
  if (object === undefined) return value
  return Object.fromEntries(
    Object.entries(object).map(([key, inner]) => {
      if (key === "json") return [key, inner]
      if (!times.has(key)) return [key, moved(inner, by)]
      if (typeof inner === "number") return [key, inner + by]
      return [key, typeof inner === "string" ? new Date(Date.parse(inner) + by).toISOString() : inner]
    })
  )
}

const newest = Math.max(...recording.executions.map(({ startedAt }) => Date.parse(String(startedAt))))

/** {@link seed} moved by whole days, so that its last execution has started in the day before `now` (milliseconds). */
export const asOf = (now: number): Recording =>
  // oxlint-disable-next-line no-unsafe-type-assertion -- only times differ
  moved(seed, Math.floor((now - newest) / day) * day) as Recording
