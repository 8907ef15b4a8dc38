/** Validates workflows with the node catalogue: offline, by n8n's rules. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Errors from "../base/Errors.ts"
import { arr, type Obj, obj, str } from "../base/Json.ts"
import type { Problem } from "../base/Problem.ts"
import { problems } from "./check/WorkflowProblems.ts"
import * as NodeLookups from "./NodeLookups.ts"
import { type Outdated, outdated } from "./Outdated.ts"
import { prepare } from "./repair/WorkflowInput.ts"

/**
 * What is wrong with a workflow.
 *
 * @category models
 * @since 0.1.0
 */
export interface Validation {
  /** Whether there are no errors. */
  readonly valid: boolean
  readonly problems: ReadonlyArray<Problem>
  readonly outdated: ReadonlyArray<Outdated>
}

/** The workflow in an input, as it is; one that had to be taken out of a wrapper is repaired, with warnings. */
const unwrapped = (input: unknown): Effect.Effect<readonly [Obj, ReadonlyArray<Problem>], Errors.ValidationError> => {
  const workflow = obj(input)
  if (workflow !== undefined && "nodes" in workflow) return Effect.succeed([workflow, []])
  const prepared = prepare(input, { source: "file", newId: () => "" })
  return Result.isSuccess(prepared)
    ? Effect.succeed([prepared.success.workflow, warnings(prepared.success.warnings)])
    : Effect.fail(
      new Errors.ValidationError({
        reason: prepared.failure.message,
        field: prepared.failure.path === "" ? "workflow" : prepared.failure.path,
        hint: "A workflow is {name, nodes: […], connections: {…}, settings: {…}}, as n8n exports it."
      })
    )
}

/**
 * Messages as warnings about the whole workflow.
 *
 * @category functions
 * @since 0.1.0
 */
export const warnings = (messages: ReadonlyArray<string>): ReadonlyArray<Problem> =>
  messages.map((message) => ({ severity: "warning", path: "", message }))

/**
 * Everything that is wrong with a workflow; `connected` is the release of the n8n it is for.
 *
 * @category functions
 * @since 0.1.0
 */
export const validate = Effect.fn("WorkflowValidation.validate")(function*(
  input: unknown,
  connected?: string
) {
  const [workflow, remarks] = yield* unwrapped(input)
  const types = arr(workflow["nodes"]).flatMap((node) => str(obj(node)?.["type"]) ?? [])
  const lookups = yield* NodeLookups.make(types, connected)
  const all = problems(workflow, lookups)
  return {
    valid: all.every(({ severity }) => severity !== "error"),
    problems: [...all, ...remarks],
    outdated: outdated(workflow, lookups)
  } satisfies Validation
})
