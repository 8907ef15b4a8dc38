import { type Guide, json, links, node, start } from "./guide.ts"

const workflow = {
  nodes: [
    start,
    node("All orders", "httpRequest", 4.2, {
      url: "https://api.example.com/orders",
      options: {
        pagination: {
          pagination: {
            paginationMode: "updateAParameterInEachRequest",
            parameters: { parameters: [{ type: "qs", name: "page", value: "={{ $pageCount + 1 }}" }] },
            paginationCompleteWhen: "other",
            completeExpression: "={{ $response.body.data.length === 0 }}",
            limitPagesFetched: true,
            maxRequests: 100,
            requestInterval: 200
          }
        }
      }
    }, { retryOnFail: true, maxTries: 5, waitBetweenTries: 5000 }),
    node("Each order", "splitOut", 1, { fieldToSplitOut: "data", options: {} })
  ],
  connections: links({ Start: [["All orders"]], "All orders": [["Each order"]] })
}

const byLink = {
  nodes: [
    start,
    node("All orders", "httpRequest", 4.2, {
      url: "https://api.example.com/orders",
      options: {
        pagination: {
          pagination: {
            paginationMode: "responseContainsNextURL",
            nextURL: "={{ $response.body.next }}",
            paginationCompleteWhen: "other",
            completeExpression: "={{ !$response.body.next }}"
          }
        }
      }
    })
  ],
  connections: links({ Start: [["All orders"]] })
}

export const pagination: Guide = {
  topic: "pagination",
  title: "Pagination and rate limits",
  description: "All pages of an API without a loop; staying within its limits.",
  text: `# Pagination and rate limits

HTTP Request reads all pages by itself: \`options.pagination.pagination\`. Each page is an item; Split Out makes items of the list in it. In these expressions \`$pageCount\` is the number of pages read (0 in the first request), \`$response\` the last answer with \`body\`, \`headers\` and \`statusCode\`.

**By a page number or cursor** (\`updateAParameterInEachRequest\`; type \`qs\`, \`headers\` or \`body\`). A cursor: \`={{ $response.body.nextCursor }}\`; it is undefined in the first request.

${json(workflow)}

**By the address of the next page** (\`responseContainsNextURL\`; only the parameters of its HTTP Request):

${json({ nodes: byLink.nodes.slice(1), connections: {} })}

\`paginationCompleteWhen\`: \`responseIsEmpty\` (no body or \`[]\`; \`{"data":[]}\` is not empty), \`receiveSpecificStatusCodes\`, or \`other\` with \`completeExpression\`. Always set an end: \`limitPagesFetched\` and \`maxRequests\` for a first try.

Nodes of services have \`returnAll: true\` instead, or \`limit\`.

## Rate limits

- Between pages: \`requestInterval\` (ms).
- Between items, as each makes a request: \`options.batching.batch: {batchSize: 10, batchInterval: 1000}\`, 10 a second.
- 429 and 503: \`retryOnFail\` with \`waitBetweenTries\` (at most 5000 ms). It starts the node anew, all its items and pages included. Where a limit needs longer, use Loop Over Items with a Wait in the loop.
- Not to read everything each time: keep the time of the last run (a data table, or \`$getWorkflowStaticData('global')\` in a Code node, saved in production runs only) and ask for what changed since.`,
  workflows: [workflow, byLink]
}
