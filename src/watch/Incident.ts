/** Something that went wrong on n8n, as a watch reports it. */
import * as Schema from "effect/Schema"

/** Kinds of incidents, the most urgent first. */
export const Kind = Schema.Literals([
  /** n8n did not answer. */
  "unreachable",
  /** A credential no longer signs in. */
  "credential",
  /** Runs failed for one cause. */
  "failed",
  /** A schedule did not start its workflow. */
  "missed",
  /** A run does not end. */
  "stuck",
  /** A workflow is no longer published. */
  "unpublished",
  /** A webhook or a polling trigger is silent for longer than usual. */
  "silent",
  /** Runs end without the items that they usually have. */
  "empty",
  /** Runs took far longer than the workflow's other runs. */
  "slow"
])
export type Kind = typeof Kind.Type

export const Incident = Schema.Struct({
  kind: Kind,
  /** Identity of the cause, the same for each of its occurrences. */
  key: Schema.String,
  workflowId: Schema.optionalKey(Schema.String),
  workflowName: Schema.optionalKey(Schema.String),
  /** Workflows of an incident of several. */
  workflows: Schema.optionalKey(Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String }))),
  /** First occurrence, ISO 8601. */
  at: Schema.String,
  /** Last occurrence so far, ISO 8601; absent if it is the first. */
  until: Schema.optionalKey(Schema.String),
  /** Number of occurrences so far. */
  count: Schema.Number,
  /** Whether the workflow has done as usual since then. */
  isOver: Schema.optionalKey(Schema.Boolean),
  /** One sentence. */
  what: Schema.String,
  /** One sentence; absent if the cause is not known. */
  cause: Schema.optionalKey(Schema.String),
  /** Tool and arguments that look into it. */
  look: Schema.optionalKey(
    Schema.Struct({ tool: Schema.String, arguments: Schema.Record(Schema.String, Schema.Unknown) })
  )
})
export type Incident = typeof Incident.Type

/** Order of incidents, the most urgent first. */
export const byUrgency = (a: { readonly kind: Kind }, b: { readonly kind: Kind }): number =>
  Kind.literals.indexOf(a.kind) - Kind.literals.indexOf(b.kind)
