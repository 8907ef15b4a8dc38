import { assert, describe, it } from "@effect/vitest"
import * as NodeType from "../../../src/catalogue/types/NodeType.ts"
import * as Ports from "../../../src/catalogue/types/Ports.ts"
import { problems } from "../../../src/workflow/check/WorkflowProblems.ts"
import * as nodeTypes from "../../support/nodeTypes.ts"
import { branches, misshapenOutputs } from "../../support/scenarios/misshapen.ts"
import { main, node, workflow } from "../../support/workflows.ts"
import { lookups } from "./lookups.ts"

const start = node("Start", "manualTrigger")
const end = node("End", "noOp")

/** Types whose ports depend on parameters, with these. */
const dependent = [...nodeTypes.all.values()].flatMap(({ descriptions, type }) =>
  descriptions.flatMap((description) => {
    const names = [...new Set(description.properties.map(({ name }) => name))]
    const decisive = names.filter((name) => name.length > 2 && Ports.dependOn(description, name))
    return decisive.map((name) => ({ description, type, version: NodeType.versionsOf(description).at(-1) ?? 1, name }))
  })
)

const malformed: ReadonlyArray<unknown> = ["={{ 3 }}", "={{ [1, 2] }}", "some text", null, { some: [{ value: 1 }] }, {
  values: { value: 1 }
}, [{ value: 1 }]]

describe("a node whose ports cannot be computed", () => {
  it("is given no advice to reverse a connection, in every type whose ports depend on parameters", () => {
    for (const { description, name, type, version } of dependent) {
      for (const value of malformed) {
        const nodes = [start, node("N", type, version, { [name]: value }), end]
        const all = problems(workflow("w", nodes, { connections: { Start: main("N"), N: main("End") } }), lookups)
        const reversing = all.filter(({ fix = "", message }) =>
          message.includes("the other way") || fix.startsWith("Write connections['End']")
        )
        const isNever = !Ports.mayHave(description.outputs, "main")
        if (!isNever) assert.deepStrictEqual(reversing, [], `${type} ${version} ${name} ${JSON.stringify(value)}`)
      }
    }
    assert.isAbove(dependent.length, 20)
  })

  it.each([
    ["n8n-nodes-base.switch", 3.2, { mode: "expression", numberOutputs: "={{ 3 }}", output: "={{ 1 }}" }, []],
    ["n8n-nodes-base.switch", 2, { mode: "expression", outputsAmount: "={{ 3 }}", output: "={{ 1 }}" }, []],
    ["n8n-nodes-base.switch", 3.2, { rules: { conditions: [{ value1: "a" }] } }, ["rules.conditions"]],
    ["n8n-nodes-base.switch", 3.2, { rules: "all" }, ["rules"]],
    ["n8n-nodes-base.switch", 3.2, { rules: { values: { outputKey: "a" } } }, ["rules.values"]],
    ["n8n-nodes-base.merge", 3, { numberInputs: "abc" }, ["numberInputs"]],
    [
      "@n8n/n8n-nodes-langchain.textClassifier",
      1,
      { inputText: "a", categories: { categories: "={{ [{ category: 1 }] }}" } },
      ["categories.categories"]
    ]
  ])("has one error for one fault: %s %d %j", (type, version, parameters, paths) => {
    const nodes = [start, node("N", type, version, parameters), end]
    const all = problems(workflow("w", nodes, { connections: { Start: main("N"), N: main("End") } }), lookups)
    const errors = all.filter(({ message, severity }) => severity === "error" && !message.includes("needs a Model"))
    assert.deepStrictEqual(errors.map(({ path }) => path), paths.map((path) => `nodes[1].parameters.${path}`))
  })
})

describe("connections under a key that is not a type", () => {
  it.each(["numbers", "names", "ports"])("are one error each, with the place to write them: %s", (name) => {
    const { connections, nodes } = branches(start, misshapenOutputs[name] ?? {})
    const errors = problems(workflow("w", nodes, { connections }), lookups).filter(({ severity }) =>
      severity === "error"
    )
    assert.deepStrictEqual(
      errors.map(({ fix }) => fix),
      [0, 1].map((output) => `Write the links at connections['Check'].main[${output}].`)
    )
  })
})
