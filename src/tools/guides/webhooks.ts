import { type Guide, json, links, node } from "./guide.ts"

const workflow = {
  nodes: [
    node("Webhook", "webhook", 2, { httpMethod: "POST", path: "orders", responseMode: "responseNode", options: {} }),
    node("Valid?", "if", 2.2, {
      conditions: {
        options: { caseSensitive: true, leftValue: "", typeValidation: "strict", version: 2 },
        conditions: [{
          id: "1",
          leftValue: "={{ $json.body.email }}",
          rightValue: "",
          operator: { type: "string", operation: "notEmpty", singleValue: true }
        }],
        combinator: "and"
      }
    }),
    node("Accept", "respondToWebhook", 1.1, {
      respondWith: "json",
      responseBody: "={{ JSON.stringify({ accepted: $json.body.email }) }}",
      options: { responseCode: 201 }
    }),
    node("Reject", "respondToWebhook", 1.1, {
      respondWith: "json",
      responseBody: "={\"error\":\"email is missing\"}",
      options: { responseCode: 400 }
    })
  ],
  connections: links({ Webhook: [["Valid?"]], "Valid?": [["Accept"], ["Reject"]] })
}

export const webhooks: Guide = {
  topic: "webhooks",
  title: "Webhooks and responses",
  description: "What a Webhook receives, and how to answer.",
  text: `# Webhooks and responses

A Webhook's item is \`{headers, params, query, body, webhookUrl}\`: the data sent is \`$json.body\`, not \`$json\`. JSON and form bodies are parsed; files come as binary data.

Addresses: \`<n8n>/webhook/<path>\` once the workflow is active; \`/webhook-test/<path>\` only while the editor listens for it. A path can be used once per method on the whole n8n; with \`:id\` in it, \`$json.params.id\` has its value, and the address starts with the node's webhookId: \`/webhook/<webhookId>/orders/7\`.

\`responseMode\` decides who answers:

- \`onReceived\` (default): immediately, 200 with a fixed text. For work that takes long.
- \`lastNode\`: when the run has ended, the last node's first item (\`responseData: "allEntries"\`: all items).
- \`responseNode\`: Respond to Webhook nodes, with status, headers and body of your own. Every path must reach exactly one: a run that reaches none answers when it ends, with 200 and no body of yours, and a second one has no effect. Nodes after it still run.
- With \`onReceived\` or \`lastNode\`, a Respond to Webhook node is an error: "Unused Respond to Webhook node found".

${json(workflow)}

## Safety

- \`authentication\`: \`headerAuth\`, \`basicAuth\` or \`jwtAuth\` with a credential; without one, anyone may call. A signature (Stripe, GitHub) is checked with Crypto or a Code node on the raw body (\`options.rawBody: true\`).
- A caller may send the same event twice: remember its id (Remove Duplicates with \`operation: "removeItemsSeenInPreviousExecutions"\`).
- Answer in time: callers give up after 5 to 30 seconds. Use \`onReceived\`, or respond first and work afterwards.

Test it with test_workflow: testData is the body.`,
  workflows: [workflow]
}
