import { defineConfig } from "vitest/config"

/** `pnpm test` runs the fast tests; `pnpm test:n8n` and its like set N8N_MCP_SUITE and run only theirs. */
const suite = process.env["N8N_MCP_SUITE"]

export default defineConfig({
  test: {
    globalSetup: suite === "pack" ? "test/suites/pack/setup.ts" : "test/support/setup.ts",
    ...suite === undefined
      ? {
        include: ["test/**/*.test.ts"],
        exclude: ["test/suites/**"],
        setupFiles: "test/support/properties.ts",
        // All processors: by default one is left idle.
        maxWorkers: "100%",
        // One process for many files: else each loads n8n's catalogue and Effect anew, a quarter of all time.
        isolate: false,
        // On a busy machine the largest take a while.
        testTimeout: 180_000
      }
      : {
        include: [`test/suites/${suite}/**/*.test.ts`],
        fileParallelism: false,
        testTimeout: 120_000,
        hookTimeout: 1_200_000
      }
  }
})
