/** The seed of everything random in the tests: always the same values, or those of `N8N_MCP_SEED`. */
export const seed = (usual = 0): number => Number(process.env["N8N_MCP_SEED"] ?? usual)

/** Number of runs of a property that needs another number than most, a multiple of `N8N_MCP_ROUNDS` as well. */
export const rounds = (usual: number): number => Math.ceil(usual * Number(process.env["N8N_MCP_ROUNDS"] ?? 2) / 2)
