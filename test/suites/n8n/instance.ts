/** What a real n8n holds as a whole: overview, uses, archive. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Services from "../../../src/app/Services.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { chain, made, manual, set } from "./builders.ts"
import type { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient | Services.Services>

/** Adds the tests to a suite. */
export const instance = (it: It, version: string) => {
  const v2 = !version.startsWith("1.")

  it.effect("instance_overview: reports the version, the counts and what failed", () =>
    Effect.gen(function*() {
      const { workflowId } = yield* scenarios.run("fail")
      const data = yield* tools.instanceOverview.call({})
      assert.strictEqual(data.version, version)
      assert.isAtLeast((data.workflows?.published ?? 0) + (data.workflows?.unpublished ?? 0), 1)
      assert.isAtLeast(data.runs?.failed ?? 0, 1)
      // Where many fail, those that fail most are named, and the notes count the others.
      const told = JSON.stringify([data.failing, data.notes])
      assert.isTrue(told.includes(workflowId) || told.includes("workflows failed"), told)
      assert.strictEqual(data.packages === undefined, !v2)
      if (v2) assert.isAbove(data.key?.scopes ?? 0, 50)
    }))

  it.effect("delete_workflow with archive: keeps it on 2.x, and on 1.x does nothing and says so", () =>
    Effect.gen(function*() {
      const id = yield* made("Archived", [manual, set("Out", "{}")], chain("T", "Out"))
      if (v2) {
        assert.deepStrictEqual(yield* tools.deleteWorkflow.call({ id, archive: true }), { id, archived: true })
        const { workflows } = yield* tools.listWorkflows.call({ name: "Archived" })
        assert.notInclude(workflows.map((row) => row.id), id)
      } else {
        const error = yield* Effect.flip(tools.deleteWorkflow.call({ id, archive: true }))
        assert.include(JSON.stringify(error), "cannot archive")
      }
      assert.strictEqual((yield* N8nClient.use((n8n) => n8n.getWorkflow(id))).isArchived === true, v2)
      yield* N8nClient.use((n8n) => n8n.deleteWorkflow(id))
    }))
}
