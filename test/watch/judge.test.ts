import { assert, it } from "@effect/vitest"
import * as judge from "../../src/watch/judge.ts"
import type { Entry } from "../../src/watch/state.ts"
import { cron, minute } from "./simulation.ts"

const start = Date.parse("2026-03-02T08:00:00Z")

/** Cause of the missed starts of a minute's schedule that ran until a minute; n8n was away from the 10th to the 15th. */
const causeOf = (until: number) => {
  const entry: Entry = {
    name: "tick",
    isPublished: true,
    liveSince: 0,
    nodes: [cron("* * * * *")],
    tags: [],
    credentials: [],
    round: 1,
    saves: true,
    judgedTo: start,
    lastStart: start + until * minute,
    starts: Array.from({ length: 120 + until }, (_, index) => start + (index - 119) * minute)
  }
  const [incident] = judge.starts({ tick: entry }, {
    now: start + 20 * minute,
    seenFrom: start - 2 * 60 * minute,
    zone: "UTC",
    isV1: false,
    outage: {
      since: start + 10 * minute,
      polls: 5,
      why: "",
      worked: start + 9 * minute,
      until: start + 15 * minute
    },
    limit: undefined
  }).incidents
  return incident?.cause
}

it("an outage is the cause of starts that were missed from then on, not of those before", () => {
  assert.strictEqual(causeOf(9), "n8n did not answer from 2026-03-02 08:10 UTC to 2026-03-02 08:15 UTC")
  assert.match(causeOf(3) ?? "", /^n8n started it last at 2026-03-02 08:03 UTC/)
})
