import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Obj } from "../../../src/base/Json.ts"
import { unexercisedChanges } from "../../../src/trials/proof/unexercised.ts"
import { document, fromApi, items, run } from "../../executions/runData.ts"
import { catalogue } from "../../support/catalogue.ts"
import { main, node } from "../../support/workflows.ts"

const before = {
  nodes: [node("Hook", "webhook"), node("Api", "httpRequest"), node("Rare", "noOp"), node("End", "noOp")],
  connections: { Hook: main("Api"), Api: main("End") }
}

const record = fromApi(document({
  Hook: [run(0, { main: [items({ a: 1 })] })],
  Api: [run(1, { main: [items({ a: 1 }), []] })],
  End: [run(2, { main: [items({ a: 1 })] })]
}))

const runs = [{
  record,
  replay: record,
  names: new Map([["Api", "Api"], ["End", "End"], ["Rare", "Rare"]]),
  pinned: new Set<string>()
}]

const changes = (more: Partial<typeof before> & { readonly connections?: object }) =>
  unexercisedChanges(before, { ...before, ...more } as typeof before, runs)

/** The nodes with one changed. */
const changed = (name: string, more: object) =>
  before.nodes.map((each) => each.name === name ? { ...each, ...more } : each)

layer(catalogue)("changes that no run shows", (it) => {
  it.effect("do not include an unchanged workflow or a node that ran", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* changes({}), [])
      assert.deepStrictEqual(yield* changes({ nodes: changed("End", { parameters: { a: 1 } }) }), [])
    }))

  it.effect("do not include defaults, which n8n adds to the workflow of an execution", () =>
    Effect.gen(function*() {
      const rare = (parameters: Obj) => [...before.nodes, node("Filter", "filter", 2.2, parameters)]
      const condition = { leftValue: "={{ $json.a }}", rightValue: 1, operator: { type: "number", operation: "gt" } }
      const stored = { conditions: { conditions: [condition] } }
      const options = { caseSensitive: true, leftValue: "", typeValidation: "strict", version: 1 }
      const recorded = { conditions: { conditions: [condition], combinator: "and", options }, options: {} }
      const between = (former: Obj, now: Obj) =>
        unexercisedChanges({ ...before, nodes: rare(former) }, { ...before, nodes: rare(now) }, runs)
      assert.deepStrictEqual(
        yield* between({ ...recorded, looseTypeValidation: false, calloutOfAnotherRelease: "" }, stored),
        []
      )
      assert.lengthOf(yield* between({ ...recorded, settingOfAnotherRelease: "x" }, stored), 1)
      assert.deepStrictEqual(
        yield* between(recorded, { conditions: { conditions: [{ ...condition, rightValue: 2 }] } }),
        [
          { node: "Filter", why: "changed, and no run reaches it" }
        ]
      )
    }))

  it.effect("do not include the names that the editor shows for ids", () =>
    Effect.gen(function*() {
      const locator = (more: Obj) => [
        ...before.nodes,
        node("Call", "executeWorkflow", 1.2, { workflowId: { __rl: true, mode: "list", value: "w9", ...more } })
      ]
      const [then, now] = [locator({}), locator({ cachedResultName: "Sub", cachedResultUrl: "/workflow/w9" })]
      assert.deepStrictEqual(yield* unexercisedChanges({ ...before, nodes: then }, { ...before, nodes: now }, runs), [])
    }))

  it.effect("are of nodes that no run reaches", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* changes({ nodes: changed("Rare", { parameters: { a: 1 } }) }), [
        { node: "Rare", why: "changed, and no run reaches it" }
      ])
      assert.deepStrictEqual(yield* changes({ nodes: [...before.nodes, node("New", "noOp")] }), [
        { node: "New", why: "new, and no run reaches it" }
      ])
      assert.deepStrictEqual(yield* changes({ nodes: before.nodes.filter(({ name }) => name !== "Rare") }), [
        { node: "Rare", why: "removed, and no run reached it" }
      ])
      assert.deepStrictEqual(yield* changes({ nodes: before.nodes.filter(({ name }) => name !== "End") }), [
        { node: "End", why: "removed, and no node after it is left that shows it" }
      ])
      assert.deepStrictEqual(yield* changes({ connections: { ...before.connections, Rare: main("End") } as never }), [
        { node: "Rare", why: "its links changed, and no run reaches it" }
      ])
    }))

  it.effect("are of what happens on a failure, and of outputs that had no items", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* changes({ nodes: changed("Api", { onError: "continueErrorOutput" }) }), [
        { node: "Api", why: "onError changed, and it failed in no run" }
      ])
      const outputs = ["End", "Rare"].flatMap((name) => main(name).main)
      assert.deepStrictEqual(yield* changes({ connections: { ...before.connections, Api: { main: outputs } } }), [
        { node: "Api", why: "links of output 1 changed, and no run used it" }
      ])
    }))
})
