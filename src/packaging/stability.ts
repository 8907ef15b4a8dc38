/** Stability and first version of exports, which are derived instead of being written at each. */

/** Modules below `src` whose exports change only with a major version: the client, the tools, servers and the fake. */
const stable = [
  /^(base\/Errors|n8n\/\w+|answer\/(Tool|toolParts|jsonSchemas)|mcp\/McpServer|testing\/(FakeN8n|runs))$/,
  /^tools\/(index|[a-z]+\/\w+)$/
]

/** Modules that came after the first version; an export that came later than its module says `@since` itself. */
const later: { readonly [version: string]: RegExp } = {
  "0.2.0": /^(workflows\/(fleet\/Fleet|policy\/Policy|WorkflowEdit)|n8n\/WriteGuard)$/
}

/** Tags of a module's exports; its path is the one below `src`, without an extension. */
export const tagsOf = (module: string): { readonly "@stability": string; readonly "@since": string } => ({
  "@stability": stable.some((pattern) => pattern.test(module)) ? "stable" : "unstable",
  "@since": Object.entries(later).find(([, pattern]) => pattern.test(module))?.[0] ?? "0.1.0"
})
