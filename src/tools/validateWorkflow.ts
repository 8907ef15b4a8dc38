import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Problem } from "../domain/problems/Problem.ts"
import { truncated } from "../domain/Truncated.ts"
import { N8nClient } from "../N8nClient.ts"
import * as N8nError from "../N8nError.ts"
import * as Tool from "../Tool.ts"
import * as Workflows from "../Workflows.ts"
import * as WorkflowValidation from "../WorkflowValidation.ts"

const input = {
  workflowId: Schema.optionalKey(
    Schema.String.annotate({ description: "n8n id, .json path or draft id." })
  ),
  workflow: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.Unknown).annotate({
      description: "Instead: the workflow itself, {name, nodes, connections, settings}."
    })
  )
}

const oneOf = new N8nError.Validation({
  reason: "Give either workflowId or workflow",
  field: "workflowId",
  hint: "workflowId is an n8n id, the path of a .json file or a draft's id; workflow is the JSON itself."
})

const source = (workflowId: string | undefined, workflow: object | undefined) => {
  if (workflow !== undefined && workflowId === undefined) {
    return Effect.succeed({ place: { kind: "given" as const }, value: workflow, repairs: [] })
  }
  return workflow !== undefined || workflowId === undefined || workflowId === ""
    ? Effect.fail(oneOf)
    : Workflows.open(workflowId)
}

const counts = (problems: ReadonlyArray<Problem>) => {
  const errors = problems.filter(({ severity }) => severity === "error").length
  return { errors, warnings: problems.length - errors }
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`

/** What n8n would say of a workflow, and what it would not. */
export const validateWorkflow = Tool.make({
  name: "validate_workflow",
  title: "Validate workflow",
  searchHint: "check, lint, find mistakes, errors before running",
  description:
    "Check a workflow before it is written or published, as n8n judges: node types, versions, parameters, connections, AI sub-nodes, expressions, credentials. Errors are what n8n refuses; each problem says how to fix it (equal fixes once).",
  annotations: Tool.readOnly,
  scopes: ["workflow:read"],
  input: Schema.Struct(input),
  output: Schema.Struct({
    valid: Schema.Boolean,
    /** What workflowId was taken for. */
    source: Schema.Literals(["n8n", "file", "draft", "given"]),
    counts: Schema.Struct({ errors: Schema.Int, warnings: Schema.Int }),
    problems: Schema.Array(Schema.Struct({ ...Problem.fields, ...truncated })),
    ...truncated
  }),
  handler: ({ workflow, workflowId }) =>
    Effect.gen(function*() {
      const [{ place, repairs, value }, release] = yield* Effect.all([
        source(workflowId, workflow),
        N8nClient.use((n8n) => n8n.release)
      ], {
        concurrency: 2
      })
      const found = yield* WorkflowValidation.validate(value, release)
      return { ...found, place, problems: [...found.problems, ...WorkflowValidation.warnings(repairs)] }
    }),
  summarize: ({ place, problems, valid }) => ({ valid, source: place.kind, counts: counts(problems), problems }),
  message: ({ counts: { errors, warnings }, valid }) => ({
    en: `${valid ? "Valid" : `Not valid: ${counted(errors, "error")}`}, ${counted(warnings, "warning")}`,
    ja: valid ? "ワークフローに問題はありません" : "ワークフローに問題があります"
  })
})
