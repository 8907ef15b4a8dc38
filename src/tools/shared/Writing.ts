/** What the writing tools share. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { CallContext } from "../../base/CallContext.ts"
import * as Errors from "../../base/Errors.ts"
import { defined } from "../../base/Json.ts"
import * as Visible from "../../base/Visible.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import type { Written } from "../../workflows/store/WorkflowStore.ts"
import * as links from "./Links.ts"

/** The answer of a write: small, unless the workflow as read back is asked for. */
export const Output = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  active: Schema.Boolean,
  versionId: Schema.optionalKey(Schema.String),
  /** What changed, in one line. */
  changed: Schema.optionalKey(Schema.String),
  /** Of a published workflow: whether what was written runs now, or waits as a draft. */
  published: Schema.optionalKey(Schema.Boolean),
  hint: Schema.optionalKey(Schema.String),
  warnings: Schema.optionalKey(Schema.Array(Schema.String)),
  url: Schema.optionalKey(Schema.String),
  workflow: Schema.optionalKey(Schema.Json)
})

/** Adds the workflow's address in the editor to a write. */
export const withUrl = <R>(write: Effect.Effect<Written, Errors.N8nError, R>) =>
  Effect.gen(function*() {
    const n8n = yield* N8nClient
    const written = yield* write
    return { ...written, url: links.workflow(n8n.instance, written.workflow.id) }
  })

/** More workflows of one name are not looked for. */
const maxNamesakes = 25

/** No write waits longer for what is only a warning. */
const lookTime = "5 seconds"

/** The ids of the other workflows, not archived, of exactly this name; none where n8n does not list them. */
const namesakes = ({ id, name }: Written["workflow"]) =>
  N8nClient.use((n8n) => n8n.listWorkflows({ fullName: name, archived: false, limit: maxNamesakes })).pipe(
    Effect.map(({ workflows }) => workflows.flatMap((each) => each.id === id ? [] : [each.id])),
    Effect.timeoutOrElse({ duration: lookTime, orElse: () => Effect.succeed([]) }),
    Effect.orElseSucceed((): ReadonlyArray<string> => [])
  )

/** Warns of a new workflow that has the name of another one; `overwrite` is the call that writes to that one instead. */
export const withNamesakes = <R>(
  create: Effect.Effect<Written, Errors.N8nError, R>,
  overwrite: (id: string) => string
) =>
  Effect.gen(function*() {
    const written = yield* create
    const [id, ...others] = yield* namesakes(written.workflow)
    if (id === undefined) return written
    const more = others.length === 0 ? "" : ` (and ${others.slice(0, 3).join(", ")}${others.length > 3 ? ", …" : ""})`
    const warning = `n8n now has more than one workflow of this name: '${id}' was there before${more}. ` +
      `To overwrite that one: ${overwrite(id)}`
    return { ...written, warnings: [...written.warnings, warning] }
  })

/** What runs after a change that is never published along the way. */
export const draftHint = (
  id: string,
  { changed, published }: Pick<Written, "changed" | "published">
): string | undefined =>
  published === undefined || published && changed === "nothing"
    ? undefined
    : published
    ? "There is no draft: the change takes effect at once."
    : `The published version still runs: activate_workflow(id: '${id}') publishes the change.`

const foreignDraft = (id: string, published: boolean | undefined) =>
  published === false
    ? `A draft waits: it has changes, perhaps of somebody else, that do not run. activate_workflow(id: '${id}') publishes all.`
    : undefined

/** The answer of a write. */
export const summarize = (
  { changed, published, url, warnings, workflow }: Written & { readonly url: string },
  raw: boolean,
  hint = foreignDraft(workflow.id, published)
): typeof Output.Type =>
  defined({
    id: workflow.id,
    name: workflow.name,
    active: workflow.active,
    versionId: workflow.versionId ?? undefined,
    changed,
    published,
    hint,
    warnings: warnings.length === 0 ? undefined : warnings,
    url,
    workflow: raw ? withoutCopies(workflow) as Schema.Json : undefined
  })

/** Leaves out the second copy of the nodes, and who may see the workflow. */
const withoutCopies = ({ activeVersion: _, shared: __, ...workflow }: Written["workflow"]) => workflow

/** More than ids, a label and a path need. */
const maxQuestion = 500

/**
 * Asks the user unless the caller has; clients that cannot ask have permission prompts of their own. The
 * question is one visible line; foreign names in it are `Visible.label`s behind an id, so that they cannot pose as it.
 */
export const requireConsent = Effect.fnUntraced(function*(confirm: boolean, question: string) {
  if (confirm) return
  const call = yield* CallContext
  if ((yield* call.confirm(Visible.label(question, maxQuestion))) !== "no") return
  return yield* new Errors.ValidationError({
    reason: "The user did not agree",
    field: "confirm",
    hint: "Nothing was done. Ask the user what to do instead; set confirm: true only after a yes."
  })
})

/** Parameters of several writing tools. */
export const confirm = Schema.Boolean.annotate({
  description: "The user has agreed; do not ask again."
})
  .pipe(Schema.withDecodingDefaultKey(Effect.succeed(false)))

/** Nothing is written. */
export const dryRun = Schema.Boolean.annotate({ description: "Only show what would change." })
  .pipe(Schema.withDecodingDefaultKey(Effect.succeed(false)))

/** The version that the caller has seen: the write fails when it has moved. */
export const expectedVersionId = Schema.optionalKey(
  Schema.String.annotate({ description: "Fails if it is no longer at this versionId." })
)

/** Any JSON object. */
export const jsonObject = (description: string) =>
  Schema.Record(Schema.String, Schema.Unknown).annotate({ description })

/** Nodes as n8n has them. */
export const nodes = Schema.Array(Schema.Record(Schema.String, Schema.Unknown)).annotate({
  description: "Nodes: {name, type, typeVersion, position?, parameters, credentials?, …}."
})

/** Connections as n8n has them. */
export const connections = jsonObject(
  "By source node's name: {\"A\": {\"main\": [[{\"node\": \"B\", \"type\": \"main\", \"index\": 0}]]}}."
)

/** Settings as n8n has them. */
export const settings = Schema.optionalKey(jsonObject("Workflow settings; omitted ones keep their value."))

/** Tags by name. */
export const tags = (description: string) => Schema.optionalKey(Schema.Array(Schema.String).annotate({ description }))
