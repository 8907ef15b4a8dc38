import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { obj } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import type { Problem } from "../../base/Problem.ts"
import { Outdated } from "../../workflows/Outdated.ts"
import * as Workflows from "../../workflows/Workflows.ts"
import * as WorkflowValidation from "../../workflows/WorkflowValidation.ts"
import * as editing from "../shared/Editing.ts"
import * as parameters from "../shared/Parameters.ts"
import * as page from "../shared/WorkflowPage.ts"

const input = {
  workflowId: Schema.optionalKey(Schema.String.annotate({ description: parameters.referenceForms })),
  workflow: parameters.optional(Schema.Record(Schema.String, Schema.Unknown), "Or the whole workflow itself.")
}

const oneOf = parameters.invalid(
  "workflowId",
  "Pass either workflowId or workflow",
  "workflowId is an n8n id, the path of a .json file or a draft's id; workflow is the JSON itself."
)

const source = (workflowId: string | undefined, workflow: object | undefined) => {
  if (workflow !== undefined && workflowId === undefined) {
    return Effect.succeed({ place: { kind: "given" as const }, value: workflow, repairs: [], notes: [] })
  }
  return workflow !== undefined || workflowId === undefined || workflowId === ""
    ? Effect.fail(oneOf)
    : Workflows.open(workflowId)
}

const counts = (problems: ReadonlyArray<Problem>) => {
  const errors = problems.filter(({ severity }) => severity === "error").length
  return { errors, warnings: problems.length - errors }
}

/** Checks a workflow as n8n does, and more. */
export const validateWorkflow = Tool.make({
  name: "validate_workflow",
  title: "Validate workflow",
  app: page.app,
  searchHint: "check, lint, find mistakes, errors before running",
  description: "Check a workflow before writing or publishing it. Set missingCredentials before publishing.",
  annotations: Tool.readOnly,
  scopes: ["workflow:read"],
  input: Schema.Struct(input),
  output: Schema.Struct({
    valid: Schema.Boolean,
    /** Kind of place that workflowId refers to. */
    source: Schema.Literals(["n8n", "file", "draft", "given"]),
    note: Schema.optionalKey(Schema.String),
    counts: Schema.Struct({ errors: Schema.Int, warnings: Schema.Int }),
    ...editing.findingsFields,
    /** Nodes with a newer version or of a deprecated type, which are not problems. */
    outdated: Schema.optionalKey(Schema.Array(Outdated))
  }),
  handler: ({ workflow, workflowId }) =>
    Effect.gen(function*() {
      const { notes, place, repairs, value } = yield* source(workflowId, workflow)
      const validation = yield* WorkflowValidation.validateConnected(value)
      return {
        ...validation,
        value,
        place,
        notes,
        problems: [...validation.problems, ...WorkflowValidation.warnings(repairs)]
      }
    }),
  summarize: ({ notes, outdated, place, valid, ...findings }) => ({
    valid,
    source: place.kind,
    ...(notes.length === 0 ? {} : { note: notes.join(" ") }),
    counts: counts(findings.problems),
    ...editing.findings(findings),
    ...(outdated.length === 0 ? {} : { outdated })
  }),
  view: ({ missingCredentials, problems, value }) =>
    page.view(obj(value) ?? {}, { _tag: "Problems", problems, missingCredentials }),
  message: ({ counts: { errors, warnings }, missingCredentials, valid }) => ({
    en: `${valid ? "Valid" : `Not valid: ${counted(errors, "error")}`}, ${counted(warnings, "warning")}${
      editing.missing(missingCredentials)
    }`,
    ja: valid ? "ワークフローに問題はありません" : "ワークフローに問題があります"
  })
})
