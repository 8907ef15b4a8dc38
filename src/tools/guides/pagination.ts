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

HTTP Request reads all pages itself: \`options.pagination.pagination\`. Each page is an item; Split Out turns the list in it into items. In these expressions \`$pageCount\` is the number of pages read (0 in the first request), \`$response\` the last answer with \`body\`, \`headers\` and \`statusCode\`.

**By a page number or cursor** (\`updateAParameterInEachRequest\`; type \`qs\`, \`headers\` or \`body\`). For a cursor, use \`={{ $response.body.nextCursor }}\`, which is undefined in the first request.

${json(workflow)}

**By the address of the next page** (\`responseContainsNextURL\`; only the parameters of its HTTP Request):

${json({ nodes: byLink.nodes.slice(1), connections: {} })}

\`paginationCompleteWhen\`: \`responseIsEmpty\` (no body or \`[]\`; \`{"data":[]}\` is not empty), \`receiveSpecificStatusCodes\`, or \`other\` with \`completeExpression\`. Always set a limit: \`limitPagesFetched\` and \`maxRequests\`, at least at first.

Nodes for services have \`returnAll: true\` or \`limit\` instead.

## Rate limits

- Between pages: \`requestInterval\` (ms).
- Between items, each of which makes a request: \`options.batching.batch: {batchSize: 10, batchInterval: 1000}\`, 10 per second.
- 429 and 503: \`retryOnFail\` with \`waitBetweenTries\` (at most 5000 ms). It restarts the node with all its items and pages. If a limit needs longer waits, use Loop Over Items with a Wait in the loop.
- To avoid reading everything each time, store the time of the last run (in a data table, or with \`$getWorkflowStaticData('global')\` in a Code node, which is saved only in production runs) and request only later changes.`,
  workflows: [workflow, byLink]
}
