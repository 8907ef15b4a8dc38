/** Insights (n8n 2.x): how many executions there were, and how many of them failed. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Errors from "../base/Errors.ts"
import { getJson, type Requests } from "./requests.ts"

/** A figure, and how it differs from the time before, if there was any. */
const Figure = Schema.Struct({ value: Schema.Finite, deviation: Schema.NullOr(Schema.Finite), unit: Schema.String })

/** Production executions; `failureRate` is a ratio from 0 to 1, `timeSaved` minutes, `averageRunTime` milliseconds. */
const Insights = Schema.Struct({
  total: Figure,
  failed: Figure,
  failureRate: Figure,
  timeSaved: Figure,
  averageRunTime: Figure
})

/**
 * How often workflows ran and failed, how long they took, and what time they saved.
 *
 * @category models
 * @since 0.1.0
 */
export type Insights = typeof Insights.Type

/** The endpoint of insights. */
export interface Service {
  /**
   * `GET /insights/summary` (2.x), by default of the last seven days; times are ISO 8601. A licence bounds how far back
   * it goes.
   */
  readonly insights: (
    query?: { readonly startDate?: string; readonly endDate?: string; readonly projectId?: string }
  ) => Effect.Effect<Insights, Errors.RequestError>
}

/** Implements it for one n8n. */
export const make = (requests: Requests): Service => ({
  insights: Effect.fn("N8nClient.insights")((query = {}) =>
    getJson(requests, "/insights/summary", Insights, { operation: "read the insights" }, { ...query })
  )
})
