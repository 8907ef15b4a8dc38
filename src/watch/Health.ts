/** Health of an n8n over a span of the past, judged from its stored executions. */
import * as Effect from "effect/Effect"
import type * as Errors from "../base/Errors.ts"
import type { Executions } from "../executions/Executions.ts"
import type { N8nClient } from "../n8n/N8nClient.ts"
import type { Incident, Kind } from "./Incident.ts"

/** Day in the zone of the report. */
export interface Day {
  /** `2026-11-28`. */
  readonly date: string
  readonly runs: number
  readonly failed: number
  /** Kinds of incidents that touched the day, with their numbers of occurrences. */
  readonly incidents: { readonly [K in Kind]?: number }
}

/** Change of a workflow near an incident's beginning. */
export interface Change {
  /** ISO 8601. */
  readonly at: string
  readonly event: "published" | "unpublished" | "saved"
  readonly version?: string
}

/** Workflow with incidents in the span. */
export interface Row {
  readonly workflowId: string
  /** Absent if n8n no longer has the workflow. */
  readonly workflowName?: string
  readonly isPublished: boolean
  readonly runs: number
  readonly failed: number
  /** In order of their beginnings. */
  readonly incidents: ReadonlyArray<Incident>
  readonly changes: ReadonlyArray<Change>
  readonly days: ReadonlyArray<Day>
}

/** Workflow without incidents. */
export interface HealthyRow {
  readonly workflowId: string
  readonly workflowName: string
  readonly runs: number
  readonly days: ReadonlyArray<Day>
}

/** Clock of n8n. */
export interface Clock {
  /** Milliseconds by which n8n's clock is ahead of this machine's; absent if no answer tells. */
  readonly ahead?: number
  /** IANA name of n8n's own time zone; absent if no run tells. */
  readonly zone?: string
  /** Run that told the zone, or `option` where the caller named it. */
  readonly zoneFrom?: string
}

export interface Health {
  /** ISO 8601. */
  readonly since: string
  readonly until: string
  /** Time from which all saved runs of the span were read, if that is later than `since`. */
  readonly readFrom?: string
  readonly clock: Clock
  readonly runs: number
  readonly failed: number
  /** Incidents of several workflows at once, such as a time without n8n. */
  readonly shared: ReadonlyArray<Incident>
  /** Workflows with incidents, the worst first. */
  readonly rows: ReadonlyArray<Row>
  readonly healthy: ReadonlyArray<HealthyRow>
  /** Number of published workflows without a run and without an incident. */
  readonly idle: number
  /** Sentences about what n8n does not reveal, or was not read. */
  readonly unknown: ReadonlyArray<string>
  readonly requests: number
}

export interface Options {
  /** Epoch milliseconds. */
  readonly since: number
  /** Ids of the workflows to judge; default all. */
  readonly workflows?: ReadonlyArray<string> | undefined
  /** IANA name of n8n's own time zone, if the caller knows it. */
  readonly zone?: string | undefined
}

/** Judges the stored executions since a time. */
export const read = (_: Options): Effect.Effect<Health, Errors.N8nError, N8nClient | Executions> =>
  Effect.die("not yet written")
