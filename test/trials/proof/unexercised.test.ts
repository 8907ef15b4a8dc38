import { assert, describe, it } from "@effect/vitest"
import { unexercisedChanges } from "../../../src/trials/proof/sent.ts"
import { document, fromApi, items, run } from "../../executions/runData.ts"
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

const runs = [{ record, replay: record, names: new Map([["Api", "Api"], ["End", "End"], ["Rare", "Rare"]]) }]

const changes = (more: Partial<typeof before> & { readonly connections?: object }) =>
  unexercisedChanges(before, { ...before, ...more } as typeof before, runs)

/** The nodes with one changed. */
const changed = (name: string, more: object) =>
  before.nodes.map((each) => each.name === name ? { ...each, ...more } : each)

describe("changes that no run shows", () => {
  it("do not include an unchanged workflow or a node that ran", () => {
    assert.deepStrictEqual(changes({}), [])
    assert.deepStrictEqual(changes({ nodes: changed("End", { parameters: { a: 1 } }) }), [])
  })

  it("are of nodes that no run reaches", () => {
    assert.deepStrictEqual(changes({ nodes: changed("Rare", { parameters: { a: 1 } }) }), [
      { node: "Rare", why: "changed, and no run reaches it" }
    ])
    assert.deepStrictEqual(changes({ nodes: [...before.nodes, node("New", "noOp")] }), [
      { node: "New", why: "new, and no run reaches it" }
    ])
  })

  it("are of what happens on a failure, and of outputs that had no items", () => {
    assert.deepStrictEqual(changes({ nodes: changed("Api", { onError: "continueErrorOutput" }) }), [
      { node: "Api", why: "onError changed, and it failed in no run" }
    ])
    const outputs = ["End", "Rare"].flatMap((name) => main(name).main)
    assert.deepStrictEqual(changes({ connections: { ...before.connections, Api: { main: outputs } } }), [
      { node: "Api", why: "links of output 1 changed, and no run used it" }
    ])
  })
})
