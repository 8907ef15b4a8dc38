/** A workflow with a finding of many rules. */
import type { Obj } from "../../../src/base/Json.ts"
import { joined, main, node, workflow } from "../../support/workflows.ts"

const langchain = "@n8n/n8n-nodes-langchain"

export const faulty: Obj = workflow("faulty", [
  node("Hook", "webhook", 2.1, { path: "orders", httpMethod: "POST" }),
  node("Sum", "code", 2, { jsCode: "const a = 1\nreturn [" }),
  node("Old", "set", 1, { values: {}, odd: 1 }),
  node("Fetch", "httpRequest", 4.2, {
    url: "https://example.com",
    sendHeaders: true,
    headerParameters: { parameters: [{ name: "X-Api-Key", value: "72858adea87ad16865d5b0a24c3d9b9f58a6e7b1" }] }
  }),
  node("Example", "set", 3.4, {
    assignments: { assignments: [{ name: "apiKey", value: "[ADD YOUR API KEY HERE]", id: "1" }] }
  }),
  node("Lost", "noSuchThing", 1),
  node("Mail", "emailSend", 2.1, { subject: "={{ $('Nowhere').item.json.a }}", toEmail: "={{ $json. }}" }),
  node("Alone", "noOp", 1),
  node("Alone too", "noOp", 1),
  node("Agent", `${langchain}.agent`, 3, { promptType: "define", text: "Hello" }),
  node("Gpt", `${langchain}.lmChatOpenAi`, 1.2, { model: { __rl: true, mode: "id", value: "gpt" } }),
  node("Gemini", `${langchain}.lmChatGoogleGemini`, 1),
  node("Cron", "cron", 1, { triggerTimes: { item: [{ mode: "everyMinute" }] } })
], {
  connections: {
    ...joined(
      ["Hook", "Sum"],
      ["Sum", "Old"],
      ["Old", "Fetch"],
      ["Fetch", "Example"],
      ["Example", "Lost"],
      ["Lost", "Mail"],
      ["Mail", "Agent"],
      ["Gpt", "Agent", "ai_languageModel"],
      ["Gemini", "Agent", "ai_languageModel"]
    ),
    Agent: main("Gone"),
    Ghost: main("Old")
  }
})

/** Line and column of the first occurrence of a part. */
export const placeIn = (text: string, part: string) => {
  const before = text.slice(0, text.indexOf(part)).split("\n")
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 }
}
