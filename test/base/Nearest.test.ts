import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { nearest, suggestion } from "../../src/base/Nearest.ts"

const tools = ["list_workflows", "get_workflow", "get_workflow_connections", "list_executions", "get_execution"]

describe("nearest", () => {
  it.each([
    { name: "get_workflow", first: "get_workflow" },
    { name: "getWorkflow", first: "get_workflow" },
    { name: "Get Workflow", first: "get_workflow" },
    { name: "get-workflow", first: "get_workflow" },
    { name: "get_worfklow", first: "get_workflow" },
    { name: "list_execution", first: "list_executions" },
    { name: "connections", first: "get_workflow_connections" },
    { name: "get_workflow_by_id", first: "get_workflow" }
  ])("to '$name' is '$first'", ({ first, name }) => {
    assert.strictEqual(nearest(name, tools)[0], first)
  })

  it.each([{ name: "delete" }, { name: "" }, { name: "_" }, { name: "x" }, { name: "完全に別の名前" }])(
    "to '$name' is nothing",
    ({ name }) => {
      assert.deepStrictEqual(nearest(name, tools), [])
    }
  )

  it("are three at most, each once, the best first", () => {
    const names = ["Set 12", "Set", "Set 2", "Set 1", "Set", "set1"]
    assert.deepStrictEqual(nearest("Set 1", names), ["Set 1", "set1", "Set 12"])
    assert.deepStrictEqual(nearest("Set 1", names, 1), ["Set 1"])
    assert.deepStrictEqual(nearest("set", ["Set", "Set"]), ["Set"])
  })

  it("finds nothing among none", () => {
    assert.deepStrictEqual(nearest("x", []), [])
  })

  it.prop(
    "to a name that exists is that name, and never one that does not exist",
    { names: Schema.NonEmptyArray(Schema.NonEmptyString), asked: Schema.String },
    ({ asked, names: [name, ...others] }) => {
      const names = [...others, name]
      assert.include(nearest(name, names, names.length), name)
      const found = nearest(asked, names)
      assert.isTrue(found.length <= 3 && found.every((each) => names.includes(each)))
      assert.strictEqual(new Set(found).size, found.length)
    }
  )
})

describe("a suggestion", () => {
  it.each([
    { name: "HTTP Reqest", names: ["HTTP Request", "Set"], says: "Did you mean 'HTTP Request'?" },
    { name: "set", names: ["Set", "Set 1", "Other"], says: "Did you mean 'Set', 'Set 1'?" },
    { name: "zzz", names: ["Set", "If", "Set"], says: "There are: 'Set', 'If'." },
    { name: "zzz", names: [], says: "There are none." },
    {
      name: "zzz",
      names: "abcdefghijk".split(""),
      says: "There are: 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', and 3 more."
    },
    { name: "zzz", names: "abcdefgh".split(""), says: "There are: 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'." }
  ])("for '$name' says: $says", ({ name, names, says }) => {
    assert.strictEqual(suggestion(name, names), says)
  })

  it("shows as many as asked for, from any iterable", () => {
    assert.strictEqual(suggestion("zzz", new Set(["a", "b", "c"]).values(), 2), "There are: 'a', 'b', and 1 more.")
  })
})
