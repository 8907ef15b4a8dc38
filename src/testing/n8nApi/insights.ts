/** Insights, which 2.x has: counted from the executions of production. */
import * as Effect from "effect/Effect"
import { text } from "./query.ts"
import { api, type Handler } from "./server.ts"

const week = 7 * 24 * 3_600_000

const figure = (value: number, unit: string) => ({ value, deviation: null, unit })

const summary: Handler = ({ now, query, state }) => {
  const from = Date.parse(query.get("startDate") ?? "") || Date.parse(now) - week
  const until = Date.parse(query.get("endDate") ?? "") || Date.parse(now)
  const runs = [...state.executions.values()].filter(({ mode, startedAt, status }) =>
    mode !== "manual" && Date.parse(startedAt) >= from && Date.parse(startedAt) <= until &&
    ["success", "error", "crashed"].includes(status)
  )
  const failed = runs.filter(({ status }) => status !== "success").length
  return Effect.succeed(Response.json({
    total: figure(runs.length, "count"),
    failed: figure(failed, "count"),
    failureRate: figure(runs.length === 0 ? 0 : Math.round(failed / runs.length * 1_000) / 1_000, "ratio"),
    timeSaved: figure(0, "minute"),
    averageRunTime: figure(0, "millisecond")
  }))
}

/** The endpoint of insights. */
export const routes = [
  api(
    "GET",
    "/insights/summary",
    { query: { startDate: text, endDate: text, projectId: text }, only2: true },
    summary
  )
]
