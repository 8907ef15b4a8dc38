/** Parameters, edits and outcomes shared by the editing tools. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { truncated } from "../../answer/Truncated.ts"
import { defined, type Obj } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import { MissingCredential, Problem } from "../../base/Problem.ts"
import type { Findings } from "../../workflow/check/WorkflowProblems.ts"
import * as WorkflowEdit from "../../workflows/WorkflowEdit.ts"
import * as Workflows from "../../workflows/Workflows.ts"
import * as parameters from "./Parameters.ts"
import * as writing from "./Writing.ts"

export const scopes = ["workflow:update", "workflow:read"]

export const nodeType = (name: string) => parameters.required(name, "From node_search.")

export const raw = parameters.flag("Adds workflowData.")

export const position = parameters.optional(
  Schema.Struct({ x: Schema.Finite, y: Schema.Finite }),
  "Default: a free one."
)

export const nodeParameters = (description: string) => Schema.optionalKey(writing.jsonObject(description))

export const findingsFields = {
  problems: Schema.Array(Schema.Struct({ ...Problem.fields, ...truncated })),
  /** Credentials that n8n needs before publishing; they are not problems. */
  missingCredentials: Schema.optionalKey(Schema.Array(Schema.Struct({ ...MissingCredential.fields, ...truncated })))
}

export const findings = ({ missingCredentials, problems }: Findings) => ({
  problems,
  ...(missingCredentials.length === 0 ? {} : { missingCredentials })
})

export const missing = (credentials: Findings["missingCredentials"] = []): string =>
  credentials.length === 0 ? "" : `; ${counted(credentials.length, "credential")} missing`

export const outcomeFields = {
  /** Kind of place that the workflow's id refers to. */
  source: Schema.Literals(["n8n", "file", "draft"]),
  filePath: Schema.optionalKey(Schema.String),
  versionId: Schema.optionalKey(Schema.String),
  /** Whether the change of a published workflow is live. */
  published: Schema.optionalKey(Schema.Boolean),
  hint: Schema.optionalKey(Schema.String),
  warnings: Schema.optionalKey(Schema.Array(Schema.String)),
  workflowData: Schema.optionalKey(Schema.Json)
}

/** Result of an edit, with the names of the tools that are offered to the caller. */
type Edited<A> = Workflows.Changed<A> & { readonly offered: ReadonlySet<string> }

/** Tools that prove a change before it takes effect, on an n8n whose API has no drafts. */
const provingFirst = ["workflow_save", "workflow_edit", "workflow_prove", "replace_workflow_from_file"] as const

const outlookHint = ({ hasDrafts, published }: Workflows.Outlook, offered: ReadonlySet<string>) =>
  published === undefined
    ? "The workflow is not published: nothing would run."
    : published
    ? `The change would take effect immediately.${
      hasDrafts || !provingFirst.every((name) => offered.has(name))
        ? ""
        : " To prove it first: workflow_save to a file, workflow_edit and workflow_prove the file, then replace_workflow_from_file."
    }`
    : "The change would wait as a draft; publish: true makes it live."

export const outcome = <A>(
  { made = [], offered, outlook, path, place, workflow, written }: Edited<A>,
  raw = false
) => {
  const warnings = [...made, ...written === undefined ? [] : [written]].flatMap((each) => each.warnings)
  return defined({
    source: place.kind,
    filePath: path,
    versionId: written?.workflow.versionId ?? undefined,
    published: (written ?? outlook)?.published,
    hint: outlook !== undefined
      ? outlookHint(outlook, offered)
      : place.kind === "n8n" && written !== undefined
      ? writing.draftHint(place.id, written, offered.has("workflow_prove"))
      : undefined,
    warnings: warnings.length === 0 ? undefined : warnings,
    created: made.length === 0 ? undefined : made.map(({ active, id, name }) => ({ id, name, active })),
    workflowData: raw ? workflow as Schema.Json : undefined
  })
}

export const change = <A, R>(...args: Parameters<typeof Workflows.change<A, R>>) =>
  Effect.zipWith(
    Workflows.change(...args),
    Effect.all([Tool.CurrentTools, Tool.Withheld]),
    (changed, [tools, withheld]): Edited<A> => ({
      ...changed,
      offered: new Set(tools.flatMap(({ name }) => withheld.has(name) ? [] : [name]))
    })
  )

export const edit = (
  id: string,
  operations: ReadonlyArray<WorkflowEdit.Operation>,
  options: Workflows.ChangeOptions
) =>
  change(id, options, (workflow: Obj) =>
    Effect.map(WorkflowEdit.apply(workflow, operations), (result) => ({
      workflow: result.workflow,
      created: result.created,
      result
    })))
