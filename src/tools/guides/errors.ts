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

- \`retryOnFail: true\`, \`maxTries\` (2-5), \`waitBetweenTries\` (ms, at most 5000): the node runs again before it fails. For what passes by itself: timeouts, 429, 503.
- \`onError: "continueErrorOutput"\`: the node has one more output, after its others. Items that fail leave there as \`{…input, error}\`; the rest go on as usual. Of a request \`error\` is an object (\`error.message\`, \`error.status\`), of a Code node a text: \`$json.error.message ?? $json.error\` reads both.
- \`onError: "continueRegularOutput"\`: failed items leave by the usual output, as \`{error}\`. Test for it before you use other fields.
- \`onError: "stopWorkflow"\`: the default.

A run in which an error output took the failed items ends with status success: nobody is told unless a node there tells.

Both together, the error output at index 1 since HTTP Request has one output of its own:

${json(workflow)}

## What fails anyway

- \`settings.errorWorkflow\` (a workflow's id) names a workflow that starts with an Error Trigger. It runs when a production run fails, not a manual one, and receives one item: \`{workflow: {id, name}, execution: {id, url, lastNodeExecuted, error: {message, stack}}}\`.
- Stop and Error (n8n-nodes-base.stopAndError, \`errorMessage\`) fails on purpose: after an If that finds data that must not go on.
- An expression that reads a field of something undefined fails the node: write \`$json.customer?.email\`.
- A request that can be repeated twice with harm (a payment, an e-mail) should not have retryOnFail, or should carry an idempotency key.`,
  workflows: [workflow]
}
