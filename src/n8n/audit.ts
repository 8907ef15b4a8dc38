/** n8n's own security audit. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Errors from "../base/Errors.ts"
import { type Requests, sendJson } from "./requests.ts"

/** Subject of an audit. */
export type Category = "credentials" | "database" | "nodes" | "filesystem" | "instance"

/** Where a finding is: `kind` is `credential`, `node`, `community` or `custom`, which have these keys. */
const Location = Schema.Struct({
  kind: Schema.optionalKey(Schema.String),
  /** Of a credential. */
  id: Schema.optionalKey(Schema.String),
  /** Of a credential. */
  name: Schema.optionalKey(Schema.String),
  workflowId: Schema.optionalKey(Schema.String),
  workflowName: Schema.optionalKey(Schema.String),
  nodeId: Schema.optionalKey(Schema.String),
  nodeName: Schema.optionalKey(Schema.String),
  nodeType: Schema.optionalKey(Schema.String),
  /** Of a community node. */
  packageUrl: Schema.optionalKey(Schema.String),
  /** Of a custom node. */
  filePath: Schema.optionalKey(Schema.String)
})

/** Where a finding is: a node of a workflow, a credential, or an installed package. */
export type AuditLocation = typeof Location.Type

/** One finding; `settings` and `nextVersions` (of the instance alone) are as n8n returns them. */
const Section = Schema.Struct({
  title: Schema.String,
  description: Schema.String,
  recommendation: Schema.String,
  location: Schema.optionalKey(Schema.Array(Location)),
  settings: Schema.optionalKey(Schema.Unknown),
  nextVersions: Schema.optionalKey(Schema.Array(Schema.Unknown))
})

const Report = Schema.Struct({ risk: Schema.String, sections: Schema.Array(Section) })

/** The findings of one category, and what they put at risk. */
export type AuditReport = typeof Report.Type

/** n8n answers with an empty array if it found nothing. */
const Answer = Schema.Union([Schema.Array(Schema.Never), Schema.Record(Schema.String, Report)])

/** The endpoint of the audit. */
export interface Service {
  /** `POST /audit`: reads all workflows on n8n; a workflow not run for so many days (default 90) is abandoned. */
  readonly audit: (
    options?: { readonly categories?: ReadonlyArray<Category>; readonly daysAbandonedWorkflow?: number }
  ) => Effect.Effect<ReadonlyArray<AuditReport>, Errors.RequestError>
}

/** Implements it for one n8n. */
export const make = (requests: Requests): Service => ({
  audit: Effect.fn("N8nClient.audit")((additionalOptions = {}) =>
    Effect.map(
      sendJson(requests, { method: "POST", path: "/audit", body: { additionalOptions } }, Answer, {
        operation: "audit n8n"
      }),
      (answer) => Object.values(answer)
    )
  )
})
