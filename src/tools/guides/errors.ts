import { type Guide, json, links, node, set, start } from "./guide.ts"

const workflow = {
  nodes: [
    start,
    node("Get order", "httpRequest", 4.2, { url: "=https://api.example.com/orders/{{ $json.orderId }}" }, {
      retryOnFail: true,
      maxTries: 3,
      waitBetweenTries: 1000,
      onError: "continueErrorOutput"
    }),
    set("Found", "status", "={{ $json.status }}"),
    set("Not found", "reason", "={{ $json.orderId }}: {{ $json.error.message ?? $json.error }}")
  ],
  connections: links({ Start: [["Get order"]], "Get order": [["Found"], ["Not found"]] })
}

export const errors: Guide = {
  topic: "errors",
  title: "Errors and retries",
  description: "Retry, error outputs, error workflows.",
  text: `# Errors and retries

A node that fails stops the run, unless its settings (beside \`parameters\`, not inside) say otherwise:

- \`retryOnFail: true\`, \`maxTries\` (2-5), \`waitBetweenTries\` (ms, at most 5000): the node runs again before it fails. Use it for temporary errors: timeouts, 429, 503.
- \`onError: "continueErrorOutput"\`: the node has one more output, after its others. Items that fail go there as \`{…input, error}\`; the rest continue as usual. For a request, \`error\` is an object (\`error.message\`, \`error.status\`), for a Code node a string: \`$json.error.message ?? $json.error\` reads both.
- \`onError: "continueRegularOutput"\`: failed items go to the usual output, as \`{error}\`. Check for it before you use other fields.
- \`onError: "stopWorkflow"\`: the default.

A run whose failed items went to an error output ends with status success: no one is notified unless a node there does it.

Both together; the error output has index 1, because HTTP Request has one output of its own:

${json(workflow)}

## What fails anyway

- \`settings.errorWorkflow\` (a workflow's id) names a workflow that starts with an Error Trigger. It runs when a production run fails, not a manual one, and receives one item: \`{workflow: {id, name}, execution: {id, url, lastNodeExecuted, error: {message, stack}}}\`.
- Stop and Error (n8n-nodes-base.stopAndError, \`errorMessage\`) fails on purpose: put it after an If that finds invalid data.
- An expression that reads a field of something undefined fails the node: write \`$json.customer?.email\`.
- A request that must not be repeated (a payment, an email) should not have retryOnFail, or should carry an idempotency key.`,
  workflows: [workflow]
}
