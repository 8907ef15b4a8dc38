import { assert, describe, it } from "@effect/vitest"
import * as Contents from "../../src/workflow/Contents.ts"
import { forms } from "../sync/otherForms.ts"
import { body } from "../sync/workflows.ts"

const id = "wmjwt41EcnONHsTk"
const cases = Object.entries(forms({ id, ...body("Moved") }))

describe("ids", () => {
  for (const [form, [, text]] of cases) {
    // The reader drops what is not of ASCII's letters.
    it(`finds a workflow: ${form}`, () => {
      const ascii = typeof text === "string" ? text : Buffer.from(text).toString("latin1").replaceAll("\0", "")
      assert.isTrue(Contents.ids(ascii).has(id))
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
    assert.deepStrictEqual(texts.filter((text) => Contents.ids(text).has(id)), [])
  })

  it("takes a time that grows with the text, not with its square", () => {
    const text = "\"a\": {\"b\" : ".repeat(200_000) + "id".repeat(500_000) + "\\".repeat(500_000)
    assert.strictEqual(Contents.ids(text).size, 0)
  })
})
