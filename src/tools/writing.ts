/** What the tools that write have in common. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { CallContext } from "../CallContext.ts"
import { defined } from "../domain/Json.ts"
import { truncated } from "../domain/Truncated.ts"
import { N8nClient } from "../N8nClient.ts"
import * as N8nError from "../N8nError.ts"
import type { Written } from "../WorkflowStore.ts"
import * as links from "./links.ts"

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
  workflow: Schema.optionalKey(Schema.Json),
  ...truncated
})

/** A write and where a person can look at what came of it. */
export const withUrl = <R>(write: Effect.Effect<Written, N8nError.N8nError, R>) =>
  Effect.gen(function*() {
    const n8n = yield* N8nClient
    const written = yield* write
    return { ...written, url: links.workflow(n8n.instance, written.workflow.id) }
  })

/** Makes the answer. */
export const summarize = (
  { changed, published, url, warnings, workflow }: Written & { readonly url: string },
  raw: boolean
): typeof Output.Type =>
  defined({
    id: workflow.id,
    name: workflow.name,
    active: workflow.active,
    versionId: workflow.versionId ?? undefined,
    changed,
    published,
    hint: published === false
      ? `It stays a draft, for somebody's unpublished changes wait in it: activate_workflow(id: '${workflow.id}') publishes all.`
      : undefined,
    warnings: warnings.length === 0 ? undefined : warnings,
    url,
    workflow: raw ? withoutCopies(workflow) as Schema.Json : undefined
  })

/** The second copy of the nodes, and who may see it, nobody asks for. */
const withoutCopies = ({ activeVersion: _, shared: __, ...workflow }: Written["workflow"]) => workflow

/** Asks the person, unless the caller has; where nobody can be asked, clients have permission prompts of their own. */
export const confirmed = Effect.fnUntraced(function*(confirm: boolean, question: string) {
  if (confirm) return
  const call = yield* CallContext
  if ((yield* call.confirm(question)) !== "no") return
  return yield* new N8nError.Validation({
    reason: "The person did not agree",
    field: "confirm",
    hint: "Nothing was done. Ask what they want instead; confirm: true is for when they have said yes to you."
  })
})

/** Parameters of several writing tools. */
export const confirm = Schema.Boolean.annotate({
  description: "The person has agreed; do not ask again.",
  default: false
})
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
export const settings = Schema.optionalKey(jsonObject("Workflow settings; those not given keep their value."))

/** Tags by name. */
export const tags = (description: string) => Schema.optionalKey(Schema.Array(Schema.String).annotate({ description }))
