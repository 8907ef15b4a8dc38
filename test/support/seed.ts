/** The seed of everything random in the tests: always the same values, or those of `N8N_MCP_SEED`. */
export const seed = (usual = 0): number => Number(process.env["N8N_MCP_SEED"] ?? usual)
