import { assert, it } from "@effect/vitest"
import * as tell from "../../src/watch/tell.ts"
import { day } from "./simulation.ts"

it("where runs do not tell their versions, runs without items blame no source after a recent save", () => {
  const from = Date.parse("2026-11-26T12:00:00Z")
  const episode = { kind: "empty", from, to: from + day, count: 4, usual: 3, run: "7", isOver: false } as const
  const cause = (savedAt: number | undefined) =>
    tell.incident({ workflowId: "w", episode }, { now: from + 2 * day, name: "W", savedAt }).cause
  assert.strictEqual(cause(from - 3 * 3_600_000), "the workflow was last saved at 2026-11-26 09:00 UTC")
  assert.strictEqual(cause(from - 40 * day), "the workflow has not changed: its source may be empty")
  assert.strictEqual(cause(undefined), "the workflow has not changed: its source may be empty")
})
