import { assert, describe, it } from "@effect/vitest"
import * as Hints from "../../src/answer/Hints.ts"
import * as Deprecated from "../../src/n8n/Deprecated.ts"

const of = (name: string, type = "n8n-nodes-base.function", verb = "use") =>
  `Cannot ${verb} a "${type}" node ("${name}"): this node type is deprecated.`

describe("n8n's refusal of deprecated nodes", () => {
  it("is recognized in the words of each release, with any name", () => {
    for (
      const end of [" Replace the node with a supported alternative.", " Replace it with the Code node or remove it."]
    ) {
      const message = [of("a (\"b\")\n関数", "x.y", "modify") + end, of("Two")].join(" ")
      assert.deepStrictEqual(Deprecated.refusedNodes(message), [
        { node: "a (\"b\")\n関数", type: "x.y" },
        { node: "Two", type: "n8n-nodes-base.function" }
      ])
    }
  })

  it("is not another refusal", () => {
    for (
      const message of [undefined, "", "Cannot use a node", "request/body/nodes/0 must NOT have additional properties"]
    ) {
      assert.isUndefined(Deprecated.hint(Deprecated.refusedNodes(message)))
    }
  })

  it("names the nodes and the operation, and at most a few of many", () => {
    const hint = Deprecated.hint(Deprecated.refusedNodes(of("It's old")))
    assert.isDefined(hint)
    const text = Hints.text(hint ?? "")
    assert.include(text, "'It's old' (n8n-nodes-base.function)")
    assert.include(text, "workflow_edit(operations: [{op: 'upgrade', node: 'It\\'s old'}])")
    assert.include(text, "`upgrade`")
    const messages = Array.from({ length: 250 }, (_, n) => of(`n${n}`)).join(" ")
    const many = Hints.text(Deprecated.hint(Deprecated.refusedNodes(messages)) ?? "")
    assert.include(many, "and 245 more")
    assert.isBelow(many.length, 700)
  })
})
