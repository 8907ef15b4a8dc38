/** What the checks of workflows are told, from n8n's packages. */
import * as Effect from "effect/Effect"
import * as ToolVariant from "../../../src/domain/nodes/ToolVariant.ts"
import type { Lookups } from "../../../src/domain/problems/WorkflowProblems.ts"
import { parser } from "../../../src/JavaScript.ts"
import { nearest, suggestion } from "../../../src/Nearest.ts"
import { evaluate } from "../../../src/NodeCatalogue/evaluate.ts"
import { all } from "../../nodeTypes.ts"

const find: Lookups["find"] = (type) => {
  const base = all.get(ToolVariant.baseOf(type) ?? "")
  return all.get(type) ?? (base === undefined ? undefined : ToolVariant.variant(type, base))
}

export const lookups: Lookups = {
  find,
  types: [...all.keys()],
  release: "2.41.1",
  nearest,
  suggest: suggestion,
  evaluate,
  parse: await Effect.runPromise(parser)
}
