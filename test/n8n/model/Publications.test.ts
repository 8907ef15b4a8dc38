import { assert, it } from "@effect/vitest"
import * as Publications from "../../../src/n8n/model/Publications.ts"

// As 2.41.1 returned it: the events of the version that runs, in no order.
const event = (id: number, event: string, createdAt: string) => ({
  id,
  workflowId: "w",
  versionId: "v1",
  event,
  createdAt
})
const workflow = {
  activeVersion: {
    workflowPublishHistory: [
      event(1, "activated", "2026-11-28T07:58:15.915Z"),
      event(9, "activated", "2026-11-28T07:58:33.294Z"),
      event(8, "deactivated", "2026-11-28T07:58:30.756Z"),
      event(10, "renamed", "2026-11-28T07:58:34.000Z"),
      event(11, "activated", "soon")
    ]
  }
}

it("publications are in order, and only those that n8n names with a time", () => {
  const all = Publications.of(workflow)
  assert.deepStrictEqual(all, [
    { at: Date.parse("2026-11-28T07:58:15.915Z"), event: "published", version: "v1" },
    { at: Date.parse("2026-11-28T07:58:30.756Z"), event: "unpublished", version: "v1" },
    { at: Date.parse("2026-11-28T07:58:33.294Z"), event: "published", version: "v1" }
  ])
  assert.strictEqual(Publications.liveSince(all), Date.parse("2026-11-28T07:58:33.294Z"))
})

it("a workflow that is not published, or is of n8n 1, has none", () => {
  for (const each of [undefined, {}, { activeVersion: null }, { activeVersion: { workflowPublishHistory: null } }]) {
    assert.deepStrictEqual(Publications.of(each), [])
  }
  assert.isUndefined(Publications.liveSince([]))
})

it("a version that n8n publishes again is published, though it records both events at one time", () => {
  const at = "2026-11-28T09:10:39.330Z"
  const history = [event(25, "activated", "2026-11-28T09:10:39.267Z"), event(27, "activated", at)]
  const all = Publications.of({
    activeVersion: { workflowPublishHistory: [...history, event(26, "deactivated", at)] }
  })
  assert.deepStrictEqual(all.map((each) => each.event), ["published", "unpublished", "published"])
})
