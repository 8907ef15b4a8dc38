/** How often properties are tried where they do not say so themselves; `N8N_MCP_ROUNDS` makes it more. */
import * as Arbitrary from "effect/Arbitrary"

Arbitrary.configureGlobal({ check: { runs: 20 * Number(process.env["N8N_MCP_ROUNDS"] ?? 2) } })
