import { defineConfig } from "vitest/config"

/** `pnpm test` runs the fast tests; `pnpm test:n8n` and `pnpm test:pack` set N8N_MCP_SUITE and run only theirs. */
const suite = process.env["N8N_MCP_SUITE"]

export default defineConfig({
  test: suite === undefined
    ? {
      include: ["test/**/*.test.ts"],
      exclude: ["test/n8n/**", "test/pack/**"],
      globalSetup: "test/setup.ts",
      testTimeout: 15_000
    }
    : { include: [`test/${suite}/**/*.test.ts`], fileParallelism: false, testTimeout: 120_000, hookTimeout: 1_200_000 }
})
