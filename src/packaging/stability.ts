/** Stability and first version of exports, which are derived instead of being written at each; docs/stability.md says what it promises. */

/** Modules below `src` whose exports change only with a major version. */
const stable = [
  // The client and its errors, tools, servers, and the fake.
  /^(base\/(Advice|CallContext|Errors|Redact)|answer\/\w+|mcp\/.+|n8n\/.+|tools\/(index|[a-z]+\/\w+))$/,
  /^testing\/(FakeN8n|TestTime|runs|n8nApi\/N8nApi)$/,
  // Services.
  /^(app\/Services|base\/Documents|executions\/(Executions|FailureGroups|RetryLog|Selection|Triage))$/,
  // Writes, of one workflow and of many.
  /^workflows\/(WorkflowEdit|Reference|store\/(Outcome|Snapshots|Versions|WorkflowStore))$/,
  /^(workflow\/(edit\/WorkflowEdit|repair\/WorkflowInput)|fleet\/(Fleet|Operations|Plans|WorkflowSelection|batchState|undo))$/
]

/** Modules that came after the first version; an export that came later than its module says `@since` itself. */
const later: { readonly [version: string]: RegExp } = {
  "0.2.0": /^(fleet\/Fleet|workflows\/(policy\/Policy|WorkflowEdit)|n8n\/WriteGuard)$/
}

/** Tags of a module's exports; its path is the one below `src`, without an extension. */
export const tagsOf = (module: string): { readonly "@stability": string; readonly "@since": string } => ({
  "@stability": stable.some((pattern) => pattern.test(module)) ? "stable" : "unstable",
  "@since": Object.entries(later).find(([, pattern]) => pattern.test(module))?.[0] ?? "0.1.0"
})
