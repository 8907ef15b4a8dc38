/**
 * The default number of runs of a property test, a multiple of `N8N_MCP_ROUNDS`, and their seed: a failure prints it, and
 * `N8N_MCP_SEED` takes it.
 */
import * as Arbitrary from "effect/Arbitrary"
import { seed } from "./seed.ts"

Arbitrary.configureGlobal({
  check: {
    runs: 20 * Number(process.env["N8N_MCP_ROUNDS"] ?? 2),
    seed: seed(20_261_122),
    ...process.env["N8N_MCP_SHRINKS"] === undefined ? {} : { maxShrinks: Number(process.env["N8N_MCP_SHRINKS"]) }
  }
})
