import { assert, describe, it } from "@effect/vitest"
import { holdsWorkflow, presentIds } from "../../../src/workflows/files/presence.ts"
import { forms } from "../../sync/otherForms.ts"
import { body } from "../../sync/workflows.ts"

const id = "wmjwt41EcnONHsTk"
const cases = Object.entries(forms({ id, ...body("Moved") }))

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

describe("presentIds", () => {
  for (const [form, [, text]] of cases) {
    // The reader drops what is not of ASCII's letters.
    it(`finds a workflow: ${form}`, () => {
      const ascii = typeof text === "string" ? text : Buffer.from(text).toString("latin1").replaceAll("\0", "")
      assert.isTrue(presentIds(ascii).has(id))
    })
  }

  it("finds neither references, nor ids of other things", () => {
    const texts = [
      `{"workflowId": "${id}"}`,
      `{"versionId": "${id}", "parent_id": "${id}", "data-id": "${id}"}`,
      `{"value": "${id}", "mode": "id"}`,
      `https://n8n.test/workflow/${id}`,
      `{"${id}": {"file": "moved.json"}}`,
      `{"id": "x${id}"}`
    ]
    assert.deepStrictEqual(texts.filter((text) => presentIds(text).has(id)), [])
  })

  it("takes a time that grows with the text, not with its square", () => {
    const text = "\"a\": {\"b\" : ".repeat(200_000) + "id".repeat(500_000) + "\\".repeat(500_000)
    assert.strictEqual(presentIds(text).size, 0)
  })
})

describe("holdsWorkflow", () => {
  const otherwise = new Set(["no nodes", "a run's record"])
  for (const [form, [file, text]] of cases) {
    const value = typeof text === "string" && file.endsWith(".json") ? parsed(text) : undefined
    if (value === undefined) continue
    it(`${otherwise.has(form) ? "does not know" : "knows"} a workflow: ${form}`, () =>
      assert.strictEqual(holdsWorkflow(value), !otherwise.has(form)))
  }

  it("takes other files for what they are", () => {
    const values = [
      { name: "n8n-nodes-acme", n8n: { nodes: ["dist/Acme.node.js"] } },
      { workflow: id, expect: { nodes: { Code: { count: 1 } } } },
      { nodes: [{ id: "a", type: "n" }], edges: [] },
      [1],
      "text",
      null
    ]
    assert.deepStrictEqual(values.filter((value) => holdsWorkflow(value)), [])
  })
})
