import { existsSync } from "node:fs"
import { defineConfig } from "vitest/config"
import { instrument } from "./test/mutants/instrument.ts"
import { inOrder } from "./test/support/InOrder.ts"

/** Rooms whose tests are of single modules come first: they kill the most mutants in the least time. */
const rooms = "base workflow catalogue executions workflows answer fleet sync trials".split(" ")
  .map((room) => `/test/${room}/`)

/** Files of the suite `n8n`, the longest first, so that no worker is left with one at the end. */
const longest = ["v2.writing", "v2.proving", "v2.reading", "v2.running", "v1."]

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
        sequence: { sequencer: inOrder(rooms) },
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
          sequence: { sequencer: inOrder(longest) },
          // A file has folders, ports and n8ns of its own, each of which uses one processor at most.
          maxWorkers: ["process", "n8n"].includes(suite) ? 2 : 1,
          testTimeout: 120_000,
          hookTimeout: 1_200_000
        }
    }
  }
})
