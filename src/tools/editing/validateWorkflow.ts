import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { obj } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import type { Problem } from "../../base/Problem.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import { Outdated } from "../../workflow/Outdated.ts"
import * as Breaks from "../../workflow/upgrade/Breaks.ts"
import * as Workflows from "../../workflows/Workflows.ts"
import * as WorkflowValidation from "../../workflows/WorkflowValidation.ts"
import * as editing from "../shared/Editing.ts"
import * as parameters from "../shared/Parameters.ts"
import * as page from "../shared/WorkflowPage.ts"
import * as writing from "../shared/Writing.ts"

const source = (workflowId: string | undefined, workflow: object | undefined) => {
  if (workflow !== undefined && workflowId === undefined) {
    return Effect.succeed({ place: { kind: "given" as const }, value: workflow, repairs: [], notes: [] })
  }
  if (workflow === undefined && workflowId !== undefined) return Workflows.open(workflowId)
  return parameters.invalid(
    "workflowId",
    "Pass either workflowId or workflow",
    "workflowId is an n8n id, the path of a .json file or a draft's id; workflow is the JSON itself."
  )
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
  description: "Check a workflow before writing or publishing. Set missingCredentials first.",
  annotations: Tool.readOnly,
  // Only a workflow with hundreds of problems has more than a page.
  unlisted: { offset: "never" },
  scopes: ["workflow:read"],
  input: Schema.Struct({
    workflowId: Schema.optionalKey(parameters.reference),
    workflow: parameters.optional(Schema.Record(Schema.String, Schema.Unknown), "Or the workflow itself."),
    to: parameters.optional(Schema.String, "n8n to upgrade to (3.0): adds breaks."),
    offset: parameters.offset("offset", "Problems to skip.")
  }),
  output: Schema.Struct({
    valid: Schema.Boolean,
    /** Kind of place that workflowId refers to. */
    source: Schema.Literals(["n8n", "file", "draft", "given"]),
    note: Schema.optionalKey(Schema.String),
    counts: Schema.Struct({ errors: Schema.Int, warnings: Schema.Int }),
    ...writing.findingsFields,
    /** Nodes with a newer version or of a deprecated type, which are not problems. */
    outdated: Schema.optionalKey(Schema.Array(Outdated)),
    /** Breaking changes up to the target release that affect the workflow; present with `to`. */
    breaks: Schema.optionalKey(Schema.Array(Breaks.Brief))
  }),
  handler: ({ to, workflow, workflowId }) =>
    Effect.gen(function*() {
      const target = to === undefined ? undefined : yield* Effect.fromResult(Breaks.parseTarget(to))
      const { notes, place, repairs, value } = yield* source(workflowId, workflow)
      const validation = yield* WorkflowValidation.validateConnected(value, {
        isStored: place.kind === "n8n",
        to: target
      })
      const from = yield* N8nClient.use((n8n) => n8n.release)
      const remarks = target === undefined ? [] : [
        Breaks.remark({ from, to: target }) ?? [],
        validation.outdated.length === 0
          ? []
          : "workflow_edit with {op: 'upgrade'} upgrades the outdated nodes with the same meaning."
      ].flat()
      const problems = [...validation.problems, ...WorkflowValidation.warnings(repairs)]
      return {
        ...validation,
        breaks: target === undefined ? undefined : validation.breaks,
        value,
        place,
        notes: [...notes, ...remarks],
        problems
      }
    }),
  paged: ["problems", "outdated", "breaks"],
  summarize: ({ breaks, notes, outdated, place, valid, ...findings }) => ({
    valid,
    source: place.kind,
    ...(notes.length === 0 ? {} : { note: notes.join(" ") }),
    counts: counts(findings.problems),
    ...editing.findings(findings),
    ...(outdated.length === 0 ? {} : { outdated }),
    ...(breaks === undefined ? {} : { breaks: Breaks.brief(breaks) })
  }),
  view: ({ breaks = [], missingCredentials, problems, value }) =>
    page.view(obj(value) ?? {}, {
      _tag: "Problems",
      problems: [...problems, ...breaks.map(Breaks.problem)],
      missingCredentials
    }),
  message: ({ breaks, counts: { errors, warnings }, missingCredentials, valid }) => ({
    en: `${valid ? "Valid" : `Not valid: ${counted(errors, "error")}`}, ${counted(warnings, "warning")}${
      editing.missing(missingCredentials)
    }${breaks === undefined ? "" : `; ${counted(breaks.length, "break")}`}`,
    ja: valid ? "ワークフローに問題はありません" : "ワークフローに問題があります"
  })
})
