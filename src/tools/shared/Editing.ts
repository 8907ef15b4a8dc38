/** Parameters, edits and outcomes shared by the editing tools. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import type { ValidationError } from "../../base/Errors.ts"
import { defined, type Obj } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import type { Findings } from "../../workflow/check/WorkflowProblems.ts"
import { placeOf } from "../../workflows/Reference.ts"
import type { Options, Outcome } from "../../workflows/store/Outcome.ts"
import { WorkflowStore } from "../../workflows/store/WorkflowStore.ts"
import * as WorkflowEdit from "../../workflows/WorkflowEdit.ts"
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

export const findings = ({ missingCredentials, problems }: Findings) => ({
  problems,
  ...(missingCredentials.length === 0 ? {} : { missingCredentials })
})

export const missing = (credentials: ReadonlyArray<unknown> = []): string =>
  credentials.length === 0 ? "" : `; ${counted(credentials.length, "credential")} missing`

export const outcomeFields = {
  /** Kind of place that the workflow's id refers to. */
  source: Schema.Literals(["n8n", "file", "draft"]),
  filePath: Schema.optionalKey(Schema.String),
  ...writing.stateFields,
  workflowData: Schema.optionalKey(Schema.Json)
}

/** Outcome of an edit, with the names of the tools that are offered to the caller. */
type Edited<A> = Outcome<A, Obj> & { readonly offered: ReadonlySet<string> }

export const outcome = <A>(edited: Edited<A>, { dryRun, raw = false }: { dryRun?: boolean; raw?: boolean }) => {
  const { made, offered, place, workflow } = edited
  return defined({
    source: place.kind,
    filePath: place.kind === "n8n" ? undefined : place.path,
    ...writing.state(edited, { offered, isDry: dryRun }),
    created: made.length === 0 ? undefined : made.map(({ active, id, name }) => ({ id, name, active })),
    workflowData: raw ? workflow as Schema.Json : undefined
  })
}

interface EditOptions extends Omit<Options, "publish"> {
  readonly publish?: boolean | undefined
  /** Fails if the current state must not be changed. */
  readonly check?: ((before: Obj) => Effect.Effect<void, ValidationError>) | undefined
}

/** Changes a workflow; on n8n the nodes of a published one wait as a draft, unless the result is to be published. */
export const edit = (
  id: string,
  operations: ReadonlyArray<WorkflowEdit.Operation>,
  { check = () => Effect.void, publish, ...options }: EditOptions
) =>
  Effect.zipWith(
    WorkflowStore.use((store) =>
      store.write(
        placeOf(id),
        (before: Obj) =>
          Effect.map(Effect.andThen(check(before), WorkflowEdit.apply(before, operations)), (result) => ({
            patch: WorkflowEdit.patchOf(before, result.workflow),
            created: result.created,
            result
          })),
        { ...options, publish: publish === true ? "valid" : "draft" }
      )
    ),
    Effect.all([Tool.CurrentTools, Tool.Withheld]),
    (changed, [tools, withheld]) => ({
      ...changed,
      offered: new Set(tools.flatMap(({ name }) => withheld.has(name) ? [] : [name]))
    })
  )
