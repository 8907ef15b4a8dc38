/** Problems of a workflow. */
import * as Schema from "effect/Schema"

/**
 * Problem of a workflow and its fix. An `error` is something that n8n refuses to publish, marks red in its editor or
 * fails on; a `warning` is a likely mistake. Credentials that are not set are no problems: see `MissingCredential`.
 * `path` starts at the workflow: `nodes[3].parameters.url`, `connections.A.main[0][1]`.
 */
export const Problem = Schema.Struct({
  severity: Schema.Literals(["error", "warning"]),
  node: Schema.optionalKey(Schema.String),
  nodeId: Schema.optionalKey(Schema.String),
  path: Schema.String,
  message: Schema.String,
  fix: Schema.optionalKey(Schema.String)
})
export type Problem = typeof Problem.Type

/** A credential that n8n needs before it publishes, by the name of the node and the type of the credential. */
export const MissingCredential = Schema.Struct({ node: Schema.String, type: Schema.String })
export type MissingCredential = typeof MissingCredential.Type
