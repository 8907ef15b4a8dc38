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
  const outputs = { main: ["End", "Rare"].flatMap((name) => main(name).main) }
  const without = (name: string) => before.nodes.filter((each) => each.name !== name)

  it.effect.each<[title: string, change: Parameters<typeof changes>[0], expected: ReadonlyArray<object>]>([
    ["of an unchanged workflow: none", {}, []],
    ["of a node that ran: none", { nodes: changed("End", { parameters: { a: 1 } }) }, []],
    ["of a node that no run reaches", { nodes: changed("Rare", { parameters: { a: 1 } }) }, [
      { node: "Rare", why: "changed, and no run reaches it" }
    ]],
    ["of a new node", { nodes: [...before.nodes, node("New", "noOp")] }, [
      { node: "New", why: "new, and no run reaches it" }
    ]],
    ["of a removed node", { nodes: without("Rare") }, [{ node: "Rare", why: "removed, and no run reached it" }]],
    ["of a removed last node", { nodes: without("End") }, [
      { node: "End", why: "removed, and no node after it is left that shows it" }
    ]],
    ["of links", { connections: { ...before.connections, Rare: main("End") } as never }, [
      { node: "Rare", why: "its links changed, and no run reaches it" }
    ]],
    ["of what happens on a failure", { nodes: changed("Api", { onError: "continueErrorOutput" }) }, [
      { node: "Api", why: "onError changed, and it failed in no run" }
    ]],
    ["of an output that had no items", { connections: { ...before.connections, Api: outputs } }, [
      { node: "Api", why: "links of output 1 changed, and no run used it" }
    ]]
  ])("%s", ([_, change, expected]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual<unknown>(yield* changes(change), expected)
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
        [{ node: "Filter", why: "changed, and no run reaches it" }]
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
})
