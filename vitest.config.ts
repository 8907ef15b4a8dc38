import { existsSync } from "node:fs"
import { defineConfig } from "vitest/config"
import { InOrder } from "./test/mutants/InOrder.ts"
import { instrument } from "./test/mutants/instrument.ts"

/**
 * `pnpm test` runs the fast tests; `pnpm test:suite NAME` runs those of `test/suites/NAME` alone; `pnpm test:suite mutants`
 * the fast ones with mistakes in `src`, to see which of these no test notices.
 */
export default defineConfig(({ mode }) => {
  if (mode === "mutants") {
    return {
      plugins: [instrument()],
      test: {
        env: { XDG_CONFIG_HOME: "/nonexistent", N8N_MCP_ROUNDS: "1", N8N_MCP_SHRINKS: "0" },
        globalSetup: ["test/support/setup.ts", "test/mutants/setup.ts"],
        include: ["test/**/*.test.ts"],
        exclude: ["test/suites/**"],
        setupFiles: "test/support/properties.ts",
        maxWorkers: "100%",
        // Which mutants a module has depends on the run.
        fsModuleCache: false,
        // A mutant can spoil what modules remember.
        isolate: true,
        runner: "test/mutants/runner.ts",
        sequence: { sequencer: InOrder },
        update: false,
        testTimeout: 6_000_000
      }
    }
  }
  const suite = mode === "test" ? process.env["N8N_MCP_SUITE"] : mode
  const setup = `test/suites/${suite}/setup.ts`
  return {
    test: {
      // Not the configuration of the person who runs the tests.
      env: { XDG_CONFIG_HOME: "/nonexistent" },
      globalSetup: existsSync(setup) ? setup : "test/support/setup.ts",
      ...suite === undefined
        ? {
          include: ["test/**/*.test.ts"],
          exclude: ["test/suites/**"],
          setupFiles: "test/support/properties.ts",
          // All processors: by default one is left idle.
          maxWorkers: "100%",
          // One process for many files: otherwise each loads n8n's catalogue and Effect again, a quarter of all time.
          isolate: false,
          // Several times what the slowest test takes; whatever grows with the square of its input does not end in it.
          testTimeout: 15_000
        }
        : {
          include: [`test/suites/${suite}/**/*.test.ts`],
          // A file has folders, ports and n8ns of its own, each of which uses one processor at most.
          maxWorkers: ["process", "n8n"].includes(suite) ? 2 : 1,
          testTimeout: 120_000,
          hookTimeout: 1_200_000
        }
    }
  }
})
