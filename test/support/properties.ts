/**
 * The default number of runs of a property test, a multiple of `N8N_MCP_ROUNDS`.
 *
 * **Details**
 *
 * Without that variable every run tries the same values, so that what passed once passes again; with it new ones.
 */
import * as Arbitrary from "effect/Arbitrary"

const rounds = process.env["N8N_MCP_ROUNDS"]

Arbitrary.configureGlobal({
  check: { runs: 20 * Number(rounds ?? 2), ...(rounds === undefined ? { seed: 20_261_122 } : {}) }
})
