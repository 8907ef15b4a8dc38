/** What the checks of workflows are told, from n8n's packages. */
import * as Effect from "effect/Effect"
import { parser } from "../../../src/base/JavaScript.ts"
import { nearest, suggestion } from "../../../src/base/Nearest.ts"
import * as Ports from "../../../src/catalogue/types/Ports.ts"
import * as ToolVariant from "../../../src/catalogue/types/ToolVariant.ts"
import type { Lookups } from "../../../src/workflow/check/WorkflowProblems.ts"
import { all } from "../../support/nodeTypes.ts"

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
  evaluate: await Effect.runPromise(Ports.evaluator),
  parse: await Effect.runPromise(parser)
}
