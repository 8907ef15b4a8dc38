import { assert, it } from "@effect/vitest"
import * as Profile from "../../src/executions/Profile.ts"
import * as reading from "../../src/watch/reading.ts"
import { document, fromApi, items, run } from "../executions/runData.ts"
import { iso } from "./simulation.ts"

const epoch = Date.parse("2026-11-21T20:59:48.000Z")

/** Run of two nodes with time before, between and after them. */
const execution = (
  { after = 20, before = 50, between = 0, fetch = 1_000, work = 200 }: {
    readonly before?: number
    readonly fetch?: number
    readonly between?: number
    readonly work?: number
    readonly after?: number
  }
) => {
  const start = epoch + before
  const data = { main: [items({ a: 1 })] }
  return {
    ...document({
      Fetch: [run(0, data, { startTime: start, executionTime: fetch })],
      Work: [run(1, data, { startTime: start + fetch + between, executionTime: work })]
    }),
    startedAt: iso(epoch),
    stoppedAt: iso(start + fetch + between + work + after)
  }
}

const use = (times: Parameters<typeof execution>[0]) => Profile.use(fromApi(execution(times)))

const usual = [use({}), use({ fetch: 1_100 }), use({ fetch: 900 })]

it("time outside of all nodes is that before, between and after them", () => {
  assert.deepInclude(use({ before: 70, between: 30, after: 5 }), { duration: 1_305, outside: 105, idle: 30 })
})

it("a node explains the difference if at least half of it is its own", () => {
  const slow = [use({ fetch: 9_000, work: 3_000 }), use({ fetch: 9_500 }), use({ fetch: 7_000 })]
  assert.deepStrictEqual(reading.paceBetween(usual, slow), { node: "Fetch", before: 1_000, after: 9_000 })
  const only = reading.paceBetween([use({})], [{ ...use({}), duration: 5_000, nodes: use({ work: 4_000 }).nodes }])
  assert.deepStrictEqual(only, { node: "Work", before: 200, after: 4_000 })
})

it("so does the time outside of all nodes, wherever it is", () => {
  for (const place of ["before", "between", "after"] as const) {
    const slow = Array.from({ length: 3 }, () => use({ [place]: 20_000, fetch: 1_500 }))
    const pace = reading.paceBetween(usual, slow)
    const after = { before: 20_020, between: 20_070, after: 20_050 }[place]
    assert.deepStrictEqual<reading.Pace>(pace, { outside: true, before: 70, after })
  }
})

it("several nodes, or no difference, explain nothing", () => {
  assert.deepStrictEqual(reading.paceBetween(usual, [use({ fetch: 4_000, work: 3_200, between: 3_000 })]), {})
  assert.deepStrictEqual(reading.paceBetween(usual, usual), {})
  assert.deepStrictEqual(reading.paceBetween(usual, []), {})
  // Without data all of the time would seem to be outside.
  const empty = Profile.use(fromApi({ ...document({}), stoppedAt: iso(epoch + 90_000) }))
  assert.deepStrictEqual(reading.paceBetween(usual, [empty]), {})
})
