/** Calls of every tool that reads, to show that none of them writes; by default its example for people. */
import { examples } from "../../src/app/commands/tools.ts"
import * as tools from "../../src/tools/index.ts"

/** What there is to read. */
export interface Subject {
  readonly id: string
  /** n8n's versions and snapshots of it. */
  readonly versions: ReadonlyArray<string>
  /** A file or draft, and a snapshot of it. */
  readonly file: string
  readonly fileVersion: string
  readonly executionId: string
  readonly credentialId: string
  /** Two nodes that ran. */
  readonly nodes: readonly [string, string]
}

/** The arguments of each call, by tool. */
export const calls = (
  { credentialId, executionId, file, fileVersion, id, nodes: [from, to], versions }: Subject
): Readonly<Record<string, ReadonlyArray<object>>> => {
  const states = [
    id,
    `${id}@published`,
    ...versions.map((version) => `${id}@${version}`),
    file,
    `${file}@${fileVersion}`
  ]
  const own: Readonly<Record<string, ReadonlyArray<object>>> = {
    list_workflows: [{}, { raw: true }],
    get_workflow: states.flatMap((id) => [{ id }, { id, raw: true, nodes: ["*"] }]),
    get_workflow_connections: states.flatMap((id) => [{ id, raw: true }, { id, format: "mermaid" }]),
    workflow_load: states.map((workflowIdOrPath) => ({ workflowIdOrPath })),
    workflow_history: [{ id }, { id: file }],
    workflow_diff: states.flatMap((a) => [{ a, b: id }, { a, b: file, node: from }]),
    validate_workflow: states.map((workflowId) => ({ workflowId })),
    workflow_map: [{}, { id }, { id, format: "mermaid" }, { kind: "unresolved" }],
    list_executions: [{}, { groupBy: "failure" }, { groupBy: "workflow", workflowId: id }],
    get_execution: [{ id: executionId }],
    get_execution_by_node: [{ id: executionId, nodeName: from }],
    search_execution: [{ id: executionId, text: "a" }],
    compare_items: [{ id: executionId, from, to }],
    credential_test: [{ id: credentialId }],
    instance_overview: [{}, { since: "2026-01-01T00:00:00Z" }],
    audit: [{}, { workflowId: id }],
    // What only shows what it would do reads, too.
    workflow_edit: [id, file].map((workflowId) => ({
      workflowId,
      operations: [{ op: "tidy" }, { op: "name", name: "Other" }],
      dryRun: true
    })),
    workflow_restore: [
      ...versions.map((version) => ({ id, version, dryRun: true })),
      { id: file, version: fileVersion, dryRun: true }
    ],
    sync_pull: [{ dryRun: true }],
    sync_push: [{ dryRun: true }]
  }
  return { ...Object.fromEntries(readers.map((name) => [name, [examples[name] ?? {}]])), ...own }
}

/** The tools that only read. */
const readers = tools.all.filter(({ annotations }) => annotations.readOnlyHint).map(({ name }) => name)
