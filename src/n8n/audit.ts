/** n8n's own security audit. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { postJson, type Requests } from "./requests.ts"

/** Location of a finding: a node of a workflow, a credential, or an installed package. */
export class AuditLocation extends Schema.Opaque<AuditLocation>()(Schema.Struct({
  /** Of a credential, as the name. */
  id: Schema.optionalKey(Schema.String),
  name: Schema.optionalKey(Schema.String),
  workflowId: Schema.optionalKey(Schema.String),
  workflowName: Schema.optionalKey(Schema.String),
  nodeName: Schema.optionalKey(Schema.String),
  nodeType: Schema.optionalKey(Schema.String),
  /** Of a community node. */
  packageUrl: Schema.optionalKey(Schema.String),
  /** Of a custom node. */
  filePath: Schema.optionalKey(Schema.String)
})) {}

const Section = Schema.Struct({
  title: Schema.String,
  description: Schema.String,
  recommendation: Schema.String,
  location: Schema.optionalKey(Schema.Array(AuditLocation)),
  nextVersions: Schema.optionalKey(Schema.Array(Schema.Unknown))
})

/** The findings of one category, and what they put at risk. */
export class AuditReport
  extends Schema.Opaque<AuditReport>()(Schema.Struct({ risk: Schema.String, sections: Schema.Array(Section) }))
{}

/** n8n answers with an empty array if it found nothing. */
const Answer = Schema.Union([Schema.Array(Schema.Never), Schema.Record(Schema.String, AuditReport)])

export const make = (requests: Requests) => ({
  /** `POST /audit`: reads all workflows on n8n; a workflow not run for 90 days is abandoned. */
  audit: Effect.fn("N8nClient.audit")(() =>
    Effect.map(
      postJson(requests, "/audit", Answer, { operation: "audit n8n" }, { body: { additionalOptions: {} } }),
      (answer): ReadonlyArray<AuditReport> => Object.values(answer)
    )
  )
})
