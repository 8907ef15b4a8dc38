/** A week of an n8n, as `Health.read` returns it. */
import type { Day, Health, HealthyRow, Row } from "../../../src/watch/Health.ts"
import type { Incident, Kind } from "../../../src/watch/Incident.ts"

const day = 86_400_000
const until = Date.parse("2026-11-28T07:00:00.000Z")

const dateAt = (ago: number) => new Date(until - ago * day).toISOString().slice(0, 10)

/** Days from the oldest to today: runs, failed ones, and kinds of incidents by the number of days ago. */
export const days = (
  span: number,
  runs: number,
  at: { readonly [ago: number]: { readonly [K in Kind]?: number } } = {}
): ReadonlyArray<Day> =>
  Array.from({ length: span + 1 }, (_, index) => {
    const ago = span - index
    const incidents = at[ago] ?? {}
    return { date: dateAt(ago), runs, failed: Math.min(runs, incidents.failed ?? 0), incidents }
  })

const time = (ago: number, hours: number) => `${dateAt(ago)}T${String(hours).padStart(2, "0")}:10:00.000Z`

const row = (
  workflowId: string,
  workflowName: string,
  perDay: number,
  at: Parameters<typeof days>[2],
  incidents: ReadonlyArray<Omit<Incident, "workflowId" | "workflowName" | "key">>,
  span: number,
  more: Partial<Row> = {}
): Row => {
  const all = days(span, perDay, at)
  return {
    workflowId,
    workflowName,
    isPublished: true,
    runs: all.reduce((sum, { runs }) => sum + runs, 0),
    failed: all.reduce((sum, { failed }) => sum + failed, 0),
    incidents: incidents.map((incident, index) => ({
      key: `${workflowId}:${index}`,
      workflowId,
      workflowName,
      ...incident
    })),
    changes: [],
    days: all,
    ...more
  }
}

const healthyRow = (at: number, span: number): HealthyRow => {
  const all = days(span, at * 40)
  return {
    workflowId: `h${at}`,
    workflowName: `Healthy ${at}`,
    runs: all.reduce((sum, { runs }) => sum + runs, 0),
    days: all
  }
}

/** Health over a span of days, with a time without n8n, and workflows with incidents of most kinds. */
export const week = (span = 7): Health => {
  const rows: ReadonlyArray<Row> = [
    row(
      "cR5mSyNc9bVh4KqE",
      "Sync orders to CRM",
      48,
      { 4: { failed: 3, empty: 1 }, 3: { failed: 12 }, 2: { failed: 1 } },
      [
        {
          kind: "failed",
          at: time(4, 21),
          until: time(2, 8),
          count: 16,
          isOver: true,
          what:
            "'Sync orders to CRM' failed at 'Upsert CRM contact': Your request is invalid or could not be processed by the service (HTTP 422)",
          cause: "First seen with version 267a4eeb, published at 2026-11-24T20:44Z",
          look: { tool: "get_execution", arguments: { id: "239" } }
        },
        {
          kind: "empty",
          at: time(4, 22),
          count: 1,
          isOver: true,
          what: "Runs of 'Sync orders to CRM' end without items since 2026-11-24 22:10 UTC",
          look: { tool: "list_executions", arguments: { workflowId: "cR5mSyNc9bVh4KqE" } }
        }
      ],
      span,
      { changes: [{ at: time(4, 20), event: "published", version: "267a4eeb-1111-4222-8333-444455556666" }] }
    ),
    row("nIghtlyExp0rt4KqE", "Nightly export", 1, { 1: { missed: 1 }, 0: { missed: 1 } }, [{
      kind: "missed",
      at: time(1, 1),
      until: time(0, 1),
      count: 2,
      isOver: false,
      what: "'Nightly export' did not start at 2026-11-27 01:10 UTC as its schedule says",
      cause: "n8n started it last at 2026-11-26 01:10 UTC, and it is still published: n8n may have lost the schedule",
      look: { tool: "list_executions", arguments: { workflowId: "nIghtlyExp0rt4KqE" } }
    }], span),
    row("fA7nReMiNd3rT2vB", "請求書リマインダーと入金確認の自動処理", 0, { 0: { silent: 1 } }, [{
      kind: "silent",
      at: time(0, 2),
      count: 1,
      isOver: false,
      what: "Nothing has started '請求書リマインダーと入金確認の自動処理' since 2026-11-27 18:00 UTC, for 13 h"
    }], span),
    row("slowR3p0rtxT2vBxx", "Weekly <report> & \u202epdf", 5, { 5: { slow: 2, stuck: 1 } }, [
      {
        kind: "slow",
        at: time(5, 3),
        until: time(5, 4),
        count: 2,
        isOver: true,
        what: "Run 188 of 'Weekly <report> & \u202epdf' took 14 min 2 s instead of at most 41 s",
        look: { tool: "get_execution", arguments: { id: "188", sortBy: "time" } }
      },
      {
        kind: "stuck",
        at: time(5, 9),
        count: 1,
        what: "Run 190 of 'Weekly <report> & \u202epdf' has not ended for 3 h"
      }
    ], span)
  ]
  const healthy = Array.from({ length: 12 }, (_, at) => healthyRow(at + 1, span))
  return {
    since: new Date(until - span * day).toISOString(),
    until: new Date(until).toISOString(),
    clock: { ahead: -2_400, zone: "Europe/Berlin", zoneFrom: "188" },
    runs: [...rows, ...healthy].reduce((sum, { runs }) => sum + runs, 0),
    failed: rows.reduce((sum, { failed }) => sum + failed, 0),
    shared: [{
      kind: "unreachable",
      key: "unreachable",
      at: time(6, 2),
      until: time(6, 5),
      count: 1,
      isOver: true,
      what: "14 workflows did not start as scheduled from 2026-11-22 02:10 UTC on",
      workflows: Array.from({ length: 14 }, (_, at) => ({ id: `h${at + 1}`, name: `Healthy ${at + 1}` }))
    }],
    rows,
    healthy,
    idle: 3,
    off: 0,
    unknown: [
      "Successful runs of 'Newsletter' are not saved (its setting 'Save successful production executions'), so that it cannot be said whether it was silent"
    ],
    requests: 31
  }
}
