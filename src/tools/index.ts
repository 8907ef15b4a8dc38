/** All tools, in the order clients see them. */
import credentials, { credentialCreate, credentialTest, listCredentials } from "./credentials/index.ts"
import editing from "./editing/index.ts"
import executions from "./executions/index.ts"
import files from "./files/index.ts"
import history from "./history/index.ts"
import instance from "./instance/index.ts"
import nodes from "./nodes/index.ts"
import projects from "./projects/index.ts"
import security from "./security/index.ts"
import sync from "./sync/index.ts"
import tables from "./tables/index.ts"
import testing from "./testing/index.ts"
import workflows from "./workflows/index.ts"

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

/** Tools by purpose; `--toolsets` accepts these names. */
export const toolsets = {
  workflows,
  files,
  history,
  executions,
  credentials,
  nodes,
  editing,
  testing,
  instance,
  security,
  tables,
  projects,
  sync
} as const

/** Toolsets that are served only on request. */
export const optional: ReadonlyArray<keyof typeof toolsets> = ["tables", "projects", "sync"]

/** Tools that are served by default, in the order clients see them. */
export const byDefault = [
  ...toolsets.workflows,
  ...toolsets.files,
  ...toolsets.history,
  ...toolsets.executions,
  listCredentials,
  credentialTest,
  ...toolsets.nodes,
  ...toolsets.editing,
  ...toolsets.testing,
  ...toolsets.instance,
  ...toolsets.security
] as const

/** All tools, in the order clients see them; `credential_create` needs variables that the operator lists. */
export const all = [...byDefault, credentialCreate, ...toolsets.tables, ...toolsets.projects, ...toolsets.sync] as const
