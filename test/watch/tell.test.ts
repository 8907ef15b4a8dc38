import { assert, it } from "@effect/vitest"
import * as tell from "../../src/watch/tell.ts"
import { day, hour } from "./simulation.ts"

it("where runs do not tell their versions, runs without items blame no source after a recent save", () => {
  const from = Date.parse("2026-11-26T12:00:00Z")
  const episode = { kind: "empty", from, to: from + day, count: 4, usual: 3, run: "7", isOver: false } as const
  const cause = (savedAt: number | undefined) =>
    tell.incident({ workflowId: "w", episode }, { now: from + 2 * day, name: "W", savedAt }).cause
  assert.strictEqual(cause(from - 3 * 3_600_000), "the workflow was last saved at 2026-11-26 09:00 UTC")
  assert.strictEqual(cause(from - 40 * day), "the workflow has not changed: its source may be empty")
  assert.strictEqual(cause(undefined), "the workflow has not changed: its source may be empty")
})

it("a failure names the version that it came with: published, or saved if its publication is not known", () => {
  const from = Date.parse("2026-11-26T12:00:00Z")
  const origin = { failure: { message: "no" }, version: "12345678-9", isCrash: false }
  const cause = (begin: tell.Begin | undefined, worked?: number) => {
    const times = { from, to: from, count: 1, since: 0, read: 1, ...worked === undefined ? {} : { worked } }
    const episode = { kind: "failed", cause: "c", run: "7", isOver: false, origin, ...times } as const
    return tell.incident({ workflowId: "w", episode }, { now: from + day, name: "W", beginOf: () => begin }).cause
  }
  const at = from - hour
  const [published, saved] = [{ at, event: "published" }, { at, event: "saved" }] as const
  assert.strictEqual(cause(published), "its first failure since version 12345678, published at 2026-11-26 11:00 UTC")
  assert.strictEqual(cause(saved), "its first failure since version 12345678, saved at 2026-11-26 11:00 UTC")
  assert.strictEqual(
    cause(published, from - hour / 2),
    "its version, published at 2026-11-26 11:00 UTC, still worked at 2026-11-26 11:30 UTC"
  )
  // A version that is saved may not run yet.
  assert.isUndefined(cause(saved, from - hour / 2))
  assert.isUndefined(cause({ ...published, at: from + 1 }))
  assert.isUndefined(cause(undefined))
})
