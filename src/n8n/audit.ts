/** n8n's own security audit. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Errors from "../base/Errors.ts"
import { postJson, type Requests } from "./requests.ts"

const Location = Schema.Struct({
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
})

/** Location of a finding: a node of a workflow, a credential, or an installed package. */
export type AuditLocation = typeof Location.Type

const Section = Schema.Struct({
  title: Schema.String,
  description: Schema.String,
  recommendation: Schema.String,
  location: Schema.optionalKey(Schema.Array(Location)),
  nextVersions: Schema.optionalKey(Schema.Array(Schema.Unknown))
})

const Report = Schema.Struct({ risk: Schema.String, sections: Schema.Array(Section) })

/** The findings of one category, and what they put at risk. */
export type AuditReport = typeof Report.Type

/** n8n answers with an empty array if it found nothing. */
const Answer = Schema.Union([Schema.Array(Schema.Never), Schema.Record(Schema.String, Report)])

export interface Service {
  /** `POST /audit`: reads all workflows on n8n; a workflow not run for 90 days is abandoned. */
  readonly audit: () => Effect.Effect<ReadonlyArray<AuditReport>, Errors.RequestError>
}

export const make = (requests: Requests): Service => ({
  audit: Effect.fn("N8nClient.audit")(() =>
    Effect.map(
      postJson(requests, "/audit", Answer, { operation: "audit n8n" }, { body: { additionalOptions: {} } }),
      (answer) => Object.values(answer)
    )
  )
})
