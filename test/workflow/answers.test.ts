import { assert, describe, it } from "@effect/vitest"
import type { Obj } from "../../src/base/Json.ts"
import * as Webhooks from "../../src/workflow/Webhooks.ts"
import { node } from "../support/workflows.ts"

const chat = (parameters: Obj) => node("Chat", "@n8n/n8n-nodes-langchain.chatTrigger", 1.1, parameters)

describe("the answer to a caller", () => {
  it.each([
    [node("Hook", "webhook", 2, {}), undefined, false],
    [node("Hook", "webhook", 2, { responseMode: "lastNode" }), "lastNode", true],
    [node("Hook", "webhook", 2, { responseMode: "responseNode" }), "responseNode", false],
    [node("Form", "formTrigger", 2.2, { options: {} }), undefined, false],
    [node("Form", "formTrigger", 2.2, { options: { responseMode: "lastNode" } }), "lastNode", true],
    [chat({}), "lastNode", true],
    [chat({ options: { responseMode: "streaming" } }), "streaming", false],
    [node("Called", "executeWorkflowTrigger", 1.1, {}), undefined, true],
    [node("Called", "executeWorkflowTrigger", 1.1, {}, { disabled: true }), undefined, false],
    [node("Every", "scheduleTrigger", 1.2, {}), undefined, false],
    [node("Send", "httpRequest", 4.2, { responseMode: "lastNode" }), undefined, false]
  ])("%j", (trigger, mode, isReturned) => {
    assert.strictEqual(Webhooks.responseMode(trigger), mode)
    assert.strictEqual(Webhooks.returnsItems({ nodes: [trigger] }), isReturned)
  })
})
