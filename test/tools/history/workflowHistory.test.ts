import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { marksIn } from "../../../src/answer/Truncated.ts"
import * as tools from "../../../src/tools/index.ts"
import { parseCall } from "../../executions/runData.ts"
import * as TestTime from "../../support/TestTime.ts"
import { inWorld } from "../../support/world.ts"
import { draft, setCode, versioned } from "../workflows.ts"

const changedCode = (before: string, after: string) => `changed 'Price' (jsCode: "${before}" → "${after}")`
const toGross = changedCode("…son: { price: order.net } }]⏎", "…son: { price: order.net * 1.19 } }]⏎")
const toWrong = changedCode("…: { price: order.net * 1.19 } }]⏎", "…: { price: order.net * 119 } }]⏎")

describe("workflow_history", () => {
  for (const version of ["2", "1"] as const) {
    it.effect(`lists snapshots, newest first, with n8n's own versions where n8n ${version} has them`, () =>
      inWorld(function*() {
        const { filePath } = yield* draft()
        const { id } = yield* tools.createWorkflowFromFile.call({ filePath })
        yield* tools.nodeAdd.call({ workflowId: id, nodeType: "n8n-nodes-base.noOp" })
        const { url, versions } = yield* tools.workflowHistory.call({ id, limit: 20 })
        const sources = new Set(versions.map(({ source }) => source))
        assert.deepStrictEqual([...sources].toSorted(), version === "2" ? ["n8n", "snapshot"] : ["snapshot"])
        assert.strictEqual(url, version === "2" ? `http://n8n.test/workflow/${id}/history` : undefined)
        const dates = versions.map(({ createdAt }) => createdAt)
        assert.deepStrictEqual(dates, dates.toSorted().toReversed())
        assert.isTrue(versions.some(({ operation }) => operation === "before node_add"))
        assert.lengthOf((yield* tools.workflowHistory.call({ id, limit: 1 })).versions, 1)
      }, version))
  }

  it.effect("says what each version changed, which runs, and which is there now", () =>
    inWorld(function*() {
      const { id, versions: [first, second, third] } = yield* versioned
      yield* tools.updateWorkflow.call({ id, settings: { timezone: "Asia/Tokyo" } })
      const { versions } = yield* tools.workflowHistory.call({ id, limit: 20 })
      const rows = (wanted: string) =>
        versions.filter(({ source }) => source === wanted)
          .map(({ changed, current, published, version }) => [version, changed, published, current])
      assert.deepStrictEqual(rows("n8n"), [
        [third, toWrong, undefined, true],
        [second, toGross, true, undefined],
        [first, undefined, undefined, undefined]
      ])
      // Before the settings changed, and before each change of the code.
      assert.deepStrictEqual(rows("snapshot").map(([, changed]) => changed), ["settings.timezone", toWrong, toGross])
      // The version before the page's last is looked at, too.
      assert.lengthOf((yield* tools.workflowHistory.call({ id, limit: 1 })).versions, 1)
    }))

  it.effect("continues with older versions, until all are listed", () =>
    inWorld(function*() {
      const { id } = yield* versioned
      const all = yield* tools.workflowHistory.call({ id, limit: 100 })
      assert.isAtLeast(all.versions.length, 5)
      assert.notProperty(all, "_truncated")
      const pages = [yield* tools.workflowHistory.answer({ id, limit: 2 })]
      for (let mark = pages[0]; mark !== undefined;) {
        const call = marksIn(mark.data)[0]?.next
        mark = call === undefined ? undefined : yield* tools.workflowHistory.answer(parseCall(call).args as never)
        if (mark !== undefined) pages.push(mark)
      }
      assert.deepStrictEqual(pages.flatMap(({ data }) => data.versions), all.versions)
    }))

  it.effect("does not take a version's name for the workflow's", () =>
    inWorld(() =>
      TestTime.run(Effect.gen(function*() {
        const { id, versions: [first, second, third] } = yield* versioned
        yield* tools.activateWorkflow.call({ id, name: "Release", description: "Wrong prices" })
        const { versions } = yield* tools.workflowHistory.call({ id, limit: 20 })
        assert.deepStrictEqual(
          versions.filter(({ source }) => source === "n8n").map(({ changed, version }) => [version, changed]),
          [[third, toWrong], [second, toGross], [first, undefined]]
        )
      }))
    ))

  it.effect("reads each version once, and only those of the page", () =>
    inWorld(function*({ api }) {
      const { id } = yield* versioned
      for (let price = 0; price < 20; price++) yield* setCode(id, `${price}`)
      const reads = Effect.map(api.requests, (all) => all.filter(({ url }) => url.includes("/versions/")).length)
      const before = yield* reads
      yield* tools.workflowHistory.call({ id, limit: 6 })
      const some = (yield* reads) - before
      assert.isAtLeast(some, 3)
      assert.isAtMost(some, 7)
      yield* tools.workflowHistory.call({ id, limit: 6 })
      assert.strictEqual((yield* reads) - before, some)
      const { versions } = yield* tools.workflowHistory.call({ id, limit: 100 })
      // The oldest of n8n follows none.
      assert.lengthOf(versions.filter(({ changed }) => changed?.startsWith("changed 'Price' (jsCode: ") !== true), 1)
    }))

  it.effect("says what each operation changed where there are only snapshots", () =>
    inWorld(function*() {
      const { id } = yield* versioned
      const { versions } = yield* tools.workflowHistory.call({ id, limit: 20 })
      assert.deepStrictEqual(versions.map(({ changed }) => changed), [toWrong, toGross])
      const { workflowId } = yield* draft()
      const file = yield* tools.workflowHistory.call({ id: workflowId, limit: 20 })
      assert.deepStrictEqual(file.versions.map(({ changed }) => changed), ["added 'End', 1 connection", "added 'Hook'"])
      yield* tools.deleteWorkflow.call({ id, confirm: true })
      const { versions: gone } = yield* tools.workflowHistory.call({ id, limit: 20 })
      assert.isUndefined(gone[0]?.changed)
    }, "1"))
})
