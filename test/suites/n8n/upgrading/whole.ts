/** A workflow of old nodes on a real n8n: upgraded as a draft, proven without sending, published, and run again. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Services from "../../../../src/app/Services.ts"
import { obj } from "../../../../src/base/Json.ts"
import * as Workflow from "../../../../src/n8n/model/Workflow.ts"
import type { N8nClient } from "../../../../src/n8n/N8nClient.ts"
import * as tools from "../../../../src/tools/index.ts"
import { node } from "../../../support/workflows.ts"
import { chain, copiesLeft, happened, made, webhook } from "../builders.ts"
import type { RealN8n } from "../RealN8n.ts"
import * as Recorder from "../Recorder.ts"
import * as scenarios from "../scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient | Services.Services>

const typesOf = (value: unknown) =>
  Workflow.nodes(obj(value) ?? {}).map(({ type, typeVersion }) =>
    `${String(type).replace(/^.*\./, "")} ${String(typeVersion)}`
  )

const old = (path: string, sink: string) => [
  webhook(path),
  node("合計", "function", 1, { functionCode: "items[0].json.total = items[0].json.body.amount * 2\nreturn items" }),
  node("Big?", "if", 1, {
    conditions: { number: [{ value1: "={{$json[\"total\"]}}", operation: "larger", value2: 5 }] }
  }),
  node("Send", "httpRequest", 2, {
    requestMethod: "POST",
    url: `${sink}/orders`,
    options: { splitIntoItems: true },
    bodyParametersUi: { parameter: [{ name: "total", value: "={{$json[\"total\"]}}" }] }
  })
]

/** Adds the test of the upgrade of a whole workflow; an n8n without drafts refuses it. */
export const upgradingWhole = (it: It, { drafts }: { readonly drafts: boolean }) =>
  it.effect(
    "an upgrade is a draft that sends nothing in its proof, and then does what the old did",
    () =>
      Effect.gen(function*() {
        const sink = yield* Recorder.make
        const path = `upgrade-${crypto.randomUUID()}`
        const nodes = old(path, sink.url)
        const id = yield* made("Upgrade 注文", nodes, chain("Orders", "合計", "Big?", "Send"))
        yield* scenarios.publish(id)
        for (const amount of [1, 4]) yield* happened(id, path, { amount })
        const sent = [...sink.bodies()]
        assert.deepStrictEqual(sent, [{ total: 8 }])
        const before = yield* scenarios.fetchJson(`workflows/${id}`)

        const { changes, left, plan = "", refused } = yield* tools.bulkEdit.call({
          select: { ids: [id] },
          operations: [{ op: "upgrade" }],
          publish: "draft",
          dryRun: true
        })
        const applied = yield* tools.bulkEdit.call(
          plan === "" ? { select: { ids: [id] }, operations: [{ op: "upgrade" }], publish: "draft" } : { plan }
        )
        const proof = plan === "" ? undefined : yield* tools.workflowProve.call({ batch: plan })
        const after = yield* scenarios.fetchJson(`workflows/${id}`)
        assert.lengthOf(sink.lines(), 1)
        assert.deepStrictEqual(yield* copiesLeft, [])
        if (!drafts) {
          assert.match(String(refused?.[0]?.["why"]), /has no drafts/)
          assert.deepStrictEqual(typesOf(after), typesOf(before))
          return
        }
        assert.deepInclude(applied, { done: 1, drafts: 1 })
        assert.deepStrictEqual([left, changes?.length], [undefined, 4])
        assert.deepInclude(proof, { workflows: 1, runs: 2, same: 2 })
        assert.include(typesOf(after), "code 2")
        assert.deepStrictEqual(typesOf(obj(after)?.["activeVersion"]), typesOf(before))

        assert.deepInclude(yield* tools.bulkEdit.call({ plan, publish: "proven" }), { done: 1, published: 1 })
        yield* happened(id, path, { amount: 4 })
        assert.deepStrictEqual(sink.bodies(), [...sent, ...sent])
      }).pipe(Effect.scoped),
    120_000
  )
