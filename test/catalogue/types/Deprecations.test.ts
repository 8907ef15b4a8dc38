import { assert, describe, it } from "@effect/vitest"
import { deprecations } from "../../../src/catalogue/types/Releases.ts"
import * as nodeTypes from "../../support/nodeTypes.ts"

const base = (name: string) => `n8n-nodes-base.${name}`
const langchain = (name: string) => `@n8n/n8n-nodes-langchain.${name}`

describe("deprecations", () => {
  const all = deprecations([...nodeTypes.all.values()])

  it.each([
    { from: base("function"), to: [base("code")], by: "a notice on the node" },
    { from: base("workflowTrigger"), to: [base("n8nTrigger")], by: "a notice on the node" },
    { from: langchain("lmOpenAi"), to: [langchain("lmChatOpenAi")], by: "a notice on the node" },
    { from: langchain("toolHttpRequest"), to: [base("httpRequestTool")], by: "n8n's advice to builders" },
    { from: langchain("outputParserAutofixing"), to: [langchain("outputParserStructured")], by: "the description" },
    { from: base("cron"), to: [base("scheduleTrigger")], by: "the documentation's address" },
    { from: langchain("vectorStorePineconeInsert"), to: [langchain("vectorStorePinecone")], by: "the documentation" },
    { from: base("spreadsheetFile"), to: [base("convertToFile"), base("extractFromFile")], by: "n8n's documentation" }
  ])("$from: $to, by $by", ({ from, to }) => assert.deepStrictEqual(all[from], to))

  it("name no missing successor, and none that is itself deprecated", () => {
    assert.deepStrictEqual(all[base("line")], [])
    assert.deepStrictEqual(all[langchain("vectorStoreZepInsert")], [])
    assert.deepStrictEqual(all[langchain("toolExecutor")], [])
    const successors = Object.values(all).flat()
    assert.deepStrictEqual(successors.filter((type) => all[type] !== undefined), [])
  })

  it("name types that there are, and leave out those in use", () => {
    const known = (type: string) => nodeTypes.all.has(type) || nodeTypes.all.has(type.replace(/Tool$/, ""))
    assert.deepStrictEqual(Object.values(all).flat().filter((type) => !known(type)), [])
    for (const name of ["httpRequest", "slack", "executeWorkflow", "airtable", "if"]) {
      assert.isUndefined(all[base(name)])
    }
    assert.isUndefined(all[langchain("agent")])
  })
})
