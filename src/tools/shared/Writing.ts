/** Answers, warnings, consent and parameters shared by the writing tools. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Hints from "../../answer/Hints.ts"
import { CallContext } from "../../base/CallContext.ts"
import type * as Errors from "../../base/Errors.ts"
import { defined, type Obj } from "../../base/Json.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import * as links from "../../n8n/Links.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import type { Dependent } from "../../workflows/Publication.ts"
import * as ReferenceProblems from "../../workflows/ReferenceProblems.ts"
import type { Written } from "../../workflows/store/WorkflowStore.ts"
import * as parameters from "./Parameters.ts"

/** Answer of a write; `raw` adds the workflow as n8n returned it. */
export const Output = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  active: Schema.Boolean,
  versionId: Schema.optionalKey(Schema.String),
  changed: Schema.optionalKey(Schema.String),
  /** Whether the change of a published workflow is live; otherwise it is a draft. */
  published: Schema.optionalKey(Schema.Boolean),
  hint: Schema.optionalKey(Schema.String),
  warnings: Schema.optionalKey(Schema.Array(Schema.String)),
  url: Schema.optionalKey(Schema.String),
  workflow: Schema.optionalKey(Schema.Json)
})

export const withUrl = <A extends Written, R>(write: Effect.Effect<A, Errors.N8nError, R>) =>
  Effect.gen(function*() {
    const written = yield* write
    return { ...written, url: links.workflow((yield* N8nClient).instance, written.workflow.id) }
  })

/** Warns of what the written workflow refers to and this n8n lacks, so that it would fail. */
export const warnReferences = <R>(write: Effect.Effect<Written, Errors.N8nError, R>) =>
  Effect.gen(function*() {
    const written = yield* write
    const [faults = []] = yield* ReferenceProblems.warnings([written.workflow], true)
    return { ...written, warnings: [...written.warnings, ...faults] }
  })

const maxDuplicates = 25

/** Time limit of the lookup of duplicate names, which only serves a warning. */
const lookTime = "5 seconds"

const duplicates = ({ id, name }: Written["workflow"]) =>
  N8nClient.use((n8n) => n8n.listWorkflows({ fullName: name, archived: false, limit: maxDuplicates })).pipe(
    Effect.map(({ workflows }) => workflows.flatMap((each) => each.id === id ? [] : [each.id])),
    Effect.timeoutOrElse({ duration: lookTime, orElse: () => Effect.succeed([]) }),
    Effect.orElseSucceed((): ReadonlyArray<string> => [])
  )

/** Warns if a new workflow has the name of an existing one; `overwrite` makes the call that writes to that one. */
export const warnDuplicateName =
  (overwrite: (id: string) => string) => <R>(create: Effect.Effect<Written, Errors.N8nError, R>) =>
    Effect.gen(function*() {
      const written = yield* create
      const [id, ...others] = yield* duplicates(written.workflow)
      if (id === undefined) return written
      const more = others.length === 0 ? "" : ` (with ${Rows.listed(others, 3)})`
      const warning = `n8n now has more than one workflow of this name: '${id}' already existed${more}. ` +
        `To overwrite that one: ${overwrite(id)}`
      return { ...written, warnings: [...written.warnings, warning] }
    })

const resetHint = "The draft equals the published version again; the live version did not change."

/** Hint that says which version runs after a change that is not published automatically. */
export const draftHint = (
  id: string,
  { changed, isReset, published }: Pick<Written, "changed" | "isReset" | "published">,
  canProve = false
): string | undefined =>
  isReset === true
    ? resetHint
    : published === undefined || published && changed === "nothing"
    ? undefined
    : published
    ? "The change is live."
    : `The published version still runs: ${
      canProve ? `workflow_prove(workflowId: '${id}') replays recorded runs on the draft, ` : ""
    }activate_workflow(id: '${id}') publishes the change.`

/** Hint that names the published workflows that need this one; `undefined` if there are none. */
export const dependentsHint = (dependents: ReadonlyArray<Dependent> | undefined): string | undefined => {
  const all = Hints.call("workflow_map", { kind: "broken" })
  if (dependents === undefined) return `n8n did not list in time which workflows need it: ${all} does.`
  if (dependents.length === 0) return undefined
  const names = Rows.listed(dependents.map(({ as, id, name }) => `${Rows.quote(name)} (${id}, ${as})`), 5)
  return `Published workflows still need it: ${names}${dependents.length > 5 ? `: ${all} lists them` : ""}.`
}

const foreignDraft = (id: string, { isReset, published }: Written) =>
  isReset === true
    ? resetHint
    : published === false
    ? `There is an unpublished draft, perhaps with someone else's changes. activate_workflow(id: '${id}') publishes all of it.`
    : undefined

export const summarize = (
  written: Written & { readonly url: string },
  raw: boolean,
  hint = foreignDraft(written.workflow.id, written)
): typeof Output.Type => {
  const { changed, published, url, warnings, workflow } = written
  return defined({
    id: workflow.id,
    name: workflow.name,
    active: workflow.active,
    versionId: workflow.versionId ?? undefined,
    changed,
    published,
    hint,
    warnings: warnings.length === 0 ? undefined : warnings,
    url,
    workflow: raw ? withoutCopies({ ...workflow }) as Schema.Json : undefined
  })
}

/** Workflow without n8n's copies of its published version and its owners. */
export const withoutCopies = ({ activeVersion: _, shared: __, ...workflow }: Obj): Obj => workflow

/** Maximum length of a question, enough for ids, a label and a path. */
const maxQuestion = 500

/** Asks the user, if the client can; `question` is one line in which foreign names are `Visible.label`s. */
export const requireConsent = Effect.fnUntraced(function*(confirm: boolean, question: string) {
  if (confirm) return
  if ((yield* (yield* CallContext).confirm(Visible.label(question, maxQuestion))) !== "no") return
  return yield* parameters.invalid(
    "confirm",
    "The user did not agree",
    "Nothing was done. Ask the user what to do instead; set confirm: true only if they agree."
  )
})

export const confirm = parameters.flag("The user has agreed.")

export const raw = parameters.flag("Adds the workflow.")

export const dryRun = parameters.flag("Show what would change.")

/** Version that the caller has read; the write fails if another one is current. */
export const expectedVersionId = parameters.optional(Schema.String, "Fail if changed since.")

export const jsonObject = (description: string) =>
  Schema.Record(Schema.String, Schema.Unknown).annotate({ description })

export const nodes = Schema.Array(Schema.Record(Schema.String, Schema.Unknown)).annotate({
  description: "{name, type, typeVersion, parameters, position?, credentials?, …}."
})

export const connections = jsonObject("By source node's name: {A: {main: [[{node: 'B', type: 'main', index: 0}]]}}.")

export const settings = Schema.optionalKey(jsonObject("Workflow settings."))

export const tags = (description: string) => Schema.optionalKey(Schema.Array(Schema.String).annotate({ description }))
