import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { nearest, suggestion } from "../../src/base/Nearest.ts"

const tools = ["list_workflows", "get_workflow", "get_workflow_connections", "list_executions", "get_execution"]

describe("nearest", () => {
  const matches = "get_workflow getWorkflow get-workflow get_worfklow get_workflow_by_id".split(" ")
  it.each<readonly [name: string, first: string | undefined]>([
    ...matches.map((name) => [name, "get_workflow"] as const),
    ["Get Workflow", "get_workflow"],
    ["list_execution", "list_executions"],
    ["connections", "get_workflow_connections"],
    ...["delete", "", "_", "x", "完全に別の名前"].map((name) => [name, undefined] as const)
  ])("finds for '%s' the name %s", (name, first) => assert.strictEqual(nearest(name, tools)[0], first))

  it("takes two letters that changed places for one typo", () => {
    assert.deepStrictEqual(nearest("--lats", ["--last", "--open", "--json"]), ["--last"])
  })

  it("returns at most three distinct names, best first", () => {
    const names = ["Set 12", "Set", "Set 2", "Set 1", "Set", "set1"]
    assert.deepStrictEqual(nearest("Set 1", names), ["Set 1", "set1", "Set 12"])
    assert.deepStrictEqual(nearest("Set 1", names, 1), ["Set 1"])
    assert.deepStrictEqual(nearest("set", ["Set", "Set"]), ["Set"])
  })

  it("compares no name of more than 100 characters", () => {
    const name = "Order".repeat(20)
    assert.deepStrictEqual(nearest(name, [`${name}s`, name]), [name])
    assert.deepStrictEqual(nearest(`${name}s`, [name, `${name}s`]), [])
    assert.strictEqual(suggestion(`${name}s`, ["Set", "If"]), "There are: 'Set', 'If'.")
  })

  it.prop(
    "finds an existing name itself, and never a name that does not exist",
    { names: Schema.NonEmptyArray(Schema.NonEmptyString), query: Schema.String },
    ({ query, names: [name, ...others] }) => {
      const names = [...others, name]
      assert.include(nearest(name, names, names.length), name)
      const matches = nearest(query, names)
      assert.isTrue(matches.length <= 3 && matches.every((each) => names.includes(each)))
      assert.strictEqual(new Set(matches).size, matches.length)
    }
  )
})

describe("a suggestion", () => {
  it.each<[name: string, names: ReadonlyArray<string>, says: string]>([
    ["HTTP Reqest", ["HTTP Request", "Set"], "Did you mean 'HTTP Request'?"],
    ["set", ["Set", "Set 1", "Other"], "Did you mean 'Set', 'Set 1'?"],
    ["zzz", ["Set", "If", "Set"], "There are: 'Set', 'If'."],
    ["zzz", [], "There are none."],
    ["zzz", [..."abcdefghijk"], "There are: 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' and 3 more."],
    ["zzz", [..."abcdefgh"], "There are: 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'."]
  ])("for '%s' of %j says: %s", (name, names, says) => assert.strictEqual(suggestion(name, names), says))

  it("lists up to the limit, from any iterable", () => {
    assert.strictEqual(suggestion("zzz", new Set(["a", "b", "c"]).values(), 2), "There are: 'a', 'b' and 1 more.")
  })
})
