/** All tools, in the order clients see them. */
import * as credentials from "./credentials/index.ts"
import * as editing from "./editing/index.ts"
import * as executions from "./executions/index.ts"
import * as files from "./files/index.ts"
import * as history from "./history/index.ts"
import * as instance from "./instance/index.ts"
import * as nodes from "./nodes/index.ts"
import * as projects from "./projects/index.ts"
import * as security from "./security/index.ts"
import * as sync from "./sync/index.ts"
import * as tables from "./tables/index.ts"
import * as testing from "./testing/index.ts"
import * as workflows from "./workflows/index.ts"

export * from "./credentials/index.ts"
export * from "./editing/index.ts"
export * from "./executions/index.ts"
export * from "./files/index.ts"
export * from "./history/index.ts"
export * from "./instance/index.ts"
export * from "./nodes/index.ts"
export * from "./projects/index.ts"
export * from "./security/index.ts"
export * from "./sync/index.ts"
export * from "./tables/index.ts"
export * from "./testing/index.ts"
export * from "./workflows/index.ts"

/** Tools by purpose, in the order clients see them; `--toolsets` accepts these names. */
export const toolsets = {
  workflows: [
    workflows.listWorkflows,
    workflows.getWorkflow,
    workflows.getWorkflowConnections,
    workflows.createWorkflow,
    workflows.updateWorkflow,
    workflows.deleteWorkflow,
    workflows.activateWorkflow,
    workflows.deactivateWorkflow,
    workflows.workflowMap
  ],
  files: [
    files.createWorkflowFromFile,
    files.replaceWorkflowFromFile,
    files.workflowCreate,
    files.workflowList,
    files.workflowLoad,
    files.workflowSave
  ],
  history: [history.workflowHistory, history.workflowDiff, history.workflowRestore],
  executions: [
    executions.listExecutions,
    executions.getExecution,
    executions.getExecutionByNode,
    executions.searchExecution,
    executions.compareItems,
    executions.retryExecution,
    executions.stopExecution
  ],
  credentials: [credentials.listCredentials, credentials.credentialTest, credentials.credentialCreate],
  nodes: [nodes.nodeSearch, nodes.nodeGet],
  editing: [
    editing.nodeAdd,
    editing.nodeReplace,
    editing.connectionCreate,
    editing.workflowEdit,
    editing.bulkEdit,
    editing.validateWorkflow
  ],
  testing: [testing.testWorkflow, testing.workflowProve],
  instance: [instance.instanceOverview],
  security: [security.audit],
  tables: [tables.tableRead, tables.tableWrite],
  projects: [projects.projectList],
  sync: [sync.syncStatus, sync.syncPull, sync.syncPush]
} as const

/** Toolsets that are served only on request. */
export const optional: ReadonlyArray<keyof typeof toolsets> = ["tables", "projects", "sync"]

/** Tools that the program serves by default, in the order clients see them; those of files need `filesRoots`. */
export const standard = [
  ...toolsets.workflows,
  ...toolsets.files,
  ...toolsets.history,
  ...toolsets.executions,
  credentials.listCredentials,
  credentials.credentialTest,
  ...toolsets.nodes,
  ...toolsets.editing,
  ...toolsets.testing,
  ...toolsets.instance,
  ...toolsets.security
] as const

/** All tools, in the order clients see them; `credential_create` needs variables that the operator lists. */
export const all = [
  ...standard,
  credentials.credentialCreate,
  ...toolsets.tables,
  ...toolsets.projects,
  ...toolsets.sync
] as const
