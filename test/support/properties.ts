/** The default number of runs of a property test, a multiple of `N8N_MCP_ROUNDS`. */
import * as Arbitrary from "effect/Arbitrary"

Arbitrary.configureGlobal({ check: { runs: 20 * Number(process.env["N8N_MCP_ROUNDS"] ?? 2) } })
