/** Validates workflows with the node catalogue: offline, by n8n's rules. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { prepare } from "./domain/input/WorkflowInput.ts"
import { arr, type Obj, obj, str } from "./domain/Json.ts"
import type { Problem } from "./domain/problems/Problem.ts"
import { problems } from "./domain/problems/WorkflowProblems.ts"
import * as N8nError from "./N8nError.ts"
import * as NodeLookups from "./NodeLookups.ts"

/** What is wrong, where something is. */
export interface Found {
  /** Whether there are no errors. */
  readonly valid: boolean
  readonly problems: ReadonlyArray<Problem>
}

/**
 * The workflow in what a caller or a file gives, as it is.
 *
 * **Details**
 *
 * Out of a wrapper it comes repaired, with what was repaired as warnings.
 */
const unwrapped = (given: unknown): Effect.Effect<readonly [Obj, ReadonlyArray<Problem>], N8nError.Validation> => {
  const workflow = obj(given)
  if (workflow !== undefined && "nodes" in workflow) return Effect.succeed([workflow, []])
  const prepared = prepare(given, { source: "file", newId: () => "" })
  return Result.isSuccess(prepared)
    ? Effect.succeed([prepared.success.workflow, warnings(prepared.success.warnings)])
    : Effect.fail(
      new N8nError.Validation({
        reason: prepared.failure.message,
        field: prepared.failure.path === "" ? "workflow" : prepared.failure.path,
        hint: "A workflow is {name, nodes: […], connections: {…}, settings: {…}}, as n8n exports it."
      })
    )
}

/** Remarks on the whole. */
export const warnings = (messages: ReadonlyArray<string>): ReadonlyArray<Problem> =>
  messages.map((message) => ({ severity: "warning", path: "", message }))

/** Everything that is wrong with a workflow; `connected` is the release of the n8n it is for. */
export const validate = Effect.fn("WorkflowValidation.validate")(function*(
  given: unknown,
  connected?: string
) {
  const [workflow, remarks] = yield* unwrapped(given)
  const types = arr(workflow["nodes"]).flatMap((node) => str(obj(node)?.["type"]) ?? [])
  const all = problems(workflow, yield* NodeLookups.make(types, connected))
  return { valid: all.every(({ severity }) => severity !== "error"), problems: [...all, ...remarks] } satisfies Found
})
