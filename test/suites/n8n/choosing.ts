/** Many workflows on a real n8n: all are listed while others are deleted, with columns; and an agent wired on first write. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Services from "../../../src/app/Services.ts"
import { obj } from "../../../src/base/Json.ts"
import * as WorkflowSelection from "../../../src/fleet/WorkflowSelection.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { node } from "../../support/workflows.ts"
import { chain, connected, happened, made, manual, set, webhook } from "./builders.ts"
import type { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient | Services.Services>

const remove = (ids: ReadonlyArray<string>) => Effect.forEach(ids, scenarios.remove, { discard: true })

/** Adds the tests to a suite. */
export const choosing = (it: It, version: string) => {
  const v2 = !version.startsWith("1.")

  it.effect("list_workflows: deleting what a page listed hides and repeats no other", () =>
    Effect.gen(function*() {
      const name = `Shelf_${crypto.randomUUID().slice(0, 8)}`
      const ids = yield* Effect.forEach(Array.from({ length: 24 }), () => made(name, [manual], []))
      const listed: Array<string> = []
      let cursor: string | undefined
      do {
        const page: typeof tools.listWorkflows.output.Type = yield* tools.listWorkflows.call({
          name,
          limit: 5,
          ...(cursor === undefined ? {} : { cursor })
        })
        const rows = page.workflows.map(({ id }) => id)
        listed.push(...rows)
        cursor = page.nextCursor
        yield* remove(rows)
      } while (cursor !== undefined)
      assert.sameMembers(listed, ids)
      assert.lengthOf(listed, ids.length)
      // `_` is no wildcard.
      assert.strictEqual((yield* tools.listWorkflows.call({ name: name.replace("_", "%") })).count, 0)
    }))

  it.effect("list_workflows: shows drafts, error workflows, triggers and last runs as n8n has them", () =>
    Effect.gen(function*() {
      const tag = `受注 ${crypto.randomUUID().slice(0, 8)}`
      const handler = yield* made(`${tag} errors`, [node("On error", "errorTrigger")], [])
      const path = `fleet-${crypto.randomUUID()}`
      const settings = { settings: { executionOrder: "v1", errorWorkflow: handler } }
      const live = yield* made(`${tag} live`, [webhook(path), set("Out", "{}")], chain("Orders", "Out"), settings)
      const idle = yield* made(`${tag} idle`, [manual, set("Out", "{}")], chain("T", "Out"))
      yield* scenarios.publish(live)
      const { executionId: run, status } = yield* happened(live, path, {})
      if (v2) {
        const nodes = [webhook(path), set("Out", "{\"changed\":true}")]
        yield* scenarios.edit(live, { nodes, connections: connected(chain("Orders", "Out")) })
      }
      const show = ["draft", "errorWorkflow", "triggers", "lastRun", "nodeCount"] as const
      const { errorWorkflows, hint, workflows } = yield* tools.listWorkflows.call({ name: tag, show })
      const row = (id: string) => workflows.find((each) => each.id === id)
      const { startedAt } = obj(yield* scenarios.fetchJson(`executions/${run}`)) ?? {}
      assert.deepInclude(row(live), {
        ...(v2 ? { draft: true } : {}),
        errorWorkflow: handler,
        triggers: [`webhook /${path}`],
        lastRun: { id: run, status, at: String(startedAt).replace(/\.\d+Z$/, "Z") },
        nodeCount: 2
      })
      assert.deepInclude(row(idle), { ...(v2 ? { draft: false } : {}), errorWorkflow: null, lastRun: null })
      assert.deepStrictEqual(errorWorkflows, { [handler]: `${tag} errors` })
      if (!v2) assert.include(hint, "n8n 1 has no drafts")
      const without = (without: "errorWorkflow" | "runs" | "tags") =>
        Effect.map(
          WorkflowSelection.all({ name: tag, without }),
          ({ selected }) => selected.map(({ workflow }) => workflow.id)
        )
      assert.sameMembers([...yield* without("runs")], [handler, idle])
      assert.sameMembers([...yield* without("errorWorkflow")], [idle])
      assert.sameMembers([...yield* without("tags")], [handler, live, idle])
      yield* remove([live, idle, handler])
    }))

  it.effect.each(["agent", "chainLlm", "vectorStoreInMemory"])(
    "node_get: n8n accepts the wired example of %s",
    (type) =>
      Effect.gen(function*() {
        const { wired } = yield* tools.nodeGet.call({ type: `@n8n/n8n-nodes-langchain.${type}` })
        const { connections = {}, nodes = [] } = wired ?? {}
        const id = yield* scenarios.create(Object.assign({ name: type }, { nodes, connections, settings: {} }))
        const stored = yield* N8nClient.use((n8n) => n8n.getWorkflow(id))
        assert.deepStrictEqual(obj(yield* scenarios.fetchJson(`workflows/${id}`))?.["connections"], connections)
        for (const each of nodes) {
          const { position: _, ...node } = each
          const asStored: object = stored.nodes.find(({ name }) => name === each["name"]) ?? {}
          assert.deepStrictEqual(Object.fromEntries(Object.entries(asStored).filter(([key]) => key in node)), node)
        }
        const { problems } = yield* tools.validateWorkflow.call({ workflowId: id })
        const errors = problems.filter(({ message, severity }) => severity === "error" && !/credential/i.test(message))
        assert.deepStrictEqual(errors, [])
        yield* remove([id])
      })
  )
}
