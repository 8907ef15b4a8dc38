/** Proofs of the callers of a changed sub-workflow against a real n8n, with a server that counts what reaches it. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Services from "../../../src/app/Services.ts"
import { arr, type Obj } from "../../../src/base/Json.ts"
import type { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { node } from "../../support/workflows.ts"
import { chain, code, connected, copiesLeft, happened, made, set } from "./builders.ts"
import { withFiles } from "./proving.ts"
import type { RealN8n } from "./RealN8n.ts"
import * as Recorder from "./Recorder.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient | Services.Services>

const hook = (path: string) =>
  node("Orders", "webhook", 2, { path, httpMethod: "POST", responseMode: "lastNode", options: {} }, { webhookId: path })

const calling = (workflowId: string, more: Obj = {}, options: Obj = {}) =>
  node("Price", "executeWorkflow", 1.2, {
    workflowId: { __rl: true, mode: "id", value: workflowId },
    workflowInputs: { mappingMode: "defineBelow", value: {}, matchingColumns: [], schema: [] },
    ...more,
    options: {}
  }, options)

const lines = code("Lines", "return $input.first().json.body.lines.map((json) => ({ json }))")

const sub = (sink: string, price: string) => ({
  nodes: [
    node("Called", "executeWorkflowTrigger", 1.1, { inputSource: "passthrough" }),
    node("Look up", "httpRequest", 4.2, {
      method: "POST",
      url: sink,
      sendBody: true,
      specifyBody: "json",
      jsonBody: "={{ JSON.stringify({ sku: $json.sku }) }}",
      options: {}
    }),
    code("Compute", price)
  ],
  links: chain("Called", "Look up", "Compute")
})

const plain =
  "return $('Called').all().map(({ json }) => ({ json: { sku: json.sku, price: json.sku.length * 10, at: Math.random() } }))"

/** Adds the tests of proofs of callers to a suite. */
export const provingCallers = (it: It, { v2 }: { readonly v2: boolean }) => {
  it.effect(
    "proof of callers: a loop and a call for each item get what the changed sub-workflow returns",
    () =>
      Effect.gen(function*() {
        const sink = yield* Recorder.make
        const { links, nodes } = sub(sink.url, plain)
        const price = yield* made("Callers: price", nodes, links)
        // n8n 1 runs a sub-workflow that is not published, and publishes none that only calls start.
        if (v2) yield* scenarios.publish(price)
        const [looping, each, guarded] = Array.from({ length: 3 }, () => `callers-${crypto.randomUUID()}`)
        const loop = yield* made("Callers: loop", [
          hook(looping ?? ""),
          lines,
          node("Loop", "splitInBatches", 3, { batchSize: 1, options: {} }),
          calling(price),
          set("Total", "{ last: $json.price }")
        ], [...chain("Orders", "Lines", "Loop"), ["Loop", "Total", 0], ["Loop", "Price", 1], ["Price", "Loop"]])
        const perItem = yield* made("Callers: each", [
          hook(each ?? ""),
          lines,
          calling(price, { mode: "each" }),
          set("Label", "{ label: $json.sku + ' ' + $json.price }")
        ], chain("Orders", "Lines", "Price", "Label"))
        const safe = yield* made("Callers: guarded", [
          hook(guarded ?? ""),
          lines,
          calling(price, {}, { onError: "continueErrorOutput" }),
          set("Fine", "{ fine: $json.price }"),
          set("Sorry", "{ sorry: $json.error }")
        ], [...chain("Orders", "Lines", "Price", "Fine"), ["Price", "Sorry", 1]])
        for (const [id, path] of [[loop, looping], [perItem, each], [safe, guarded]] as const) {
          yield* scenarios.publish(id)
          for (let run = 0; run < 2; run++) {
            yield* happened(id, path ?? "", { lines: [{ sku: "a" }, { sku: "bb" }, { sku: "ccc" }] })
          }
        }
        const sent = sink.lines().length
        assert.isAbove(sent, 0)
        const prove = tools.workflowProve.call({ workflowId: price, drill: false, callers: true })
        const same = yield* prove
        assert.deepInclude(same, { workflows: 3, runs: 6, same: 6, groups: [], notReplayed: [] }, JSON.stringify(same))

        yield* withFiles((prove) =>
          Effect.gen(function*() {
            const proved = (jsCode: string) => {
              const changed = sub(sink.url, jsCode)
              return prove(price, { nodes: changed.nodes, connections: connected(changed.links) }, { callers: true })
            }
            const dearer = yield* proved(plain.replace("* 10", "* 11"))
            const text = JSON.stringify(dearer)
            assert.deepInclude(dearer, { workflows: 3, runs: 6, same: 0 }, text)
            assert.deepInclude(dearer.groups[0], { nodes: ["Price"], paths: ["price"], workflows: 3 }, text)
            for (const path of ["last", "label", "fine"]) {
              assert.isTrue(dearer.groups.some(({ paths }) => String(paths) === path), text)
            }
            assert.match(dearer.verdict ?? "", /3 differ; .*would send or answer differently$/)

            const failing = yield* proved("throw new Error('no price list')")
            const shown = JSON.stringify(failing)
            assert.deepInclude(failing, { runs: 6, same: 0 }, shown)
            assert.match(failing.verdict ?? "", /3 differ; .*would send or answer differently$/)
            const pathsOf = (name: string) =>
              failing.groups.find(({ names }) => String(names) === `Callers: ${name}`)?.["paths"]
            for (const name of ["loop", "each"]) assert.include(pathsOf(name), "failed", shown)
            // The error output has the item of a failed call, and the regular one none.
            assert.includeMembers(
              [...arr(pathsOf("guarded"))],
              ["main[0]: 3 of 3 items lost", "main[1]: 1 item more than 0", "error added"],
              shown
            )
          })
        )
        assert.lengthOf(sink.lines(), sent)
        assert.deepStrictEqual(yield* copiesLeft, [])
      }),
    300_000
  )
}
