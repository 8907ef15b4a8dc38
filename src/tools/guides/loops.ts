import { type Guide, json, links, node, set, start } from "./guide.ts"

const numbers = node("Numbers", "code", 2, { jsCode: "return [1, 2, 3, 4, 5].map((n) => ({ json: { n } }))" })

const workflow = {
  nodes: [
    start,
    numbers,
    node("Loop", "splitInBatches", 3, { batchSize: 2, options: {} }),
    set("Each batch", "double", "={{ $json.n * 2 }}", "number"),
    node("After the loop", "aggregate", 1, { aggregate: "aggregateAllItemData", destinationFieldName: "all" })
  ],
  connections: links({
    Start: [["Numbers"]],
    Numbers: [["Loop"]],
    Loop: [["After the loop"], ["Each batch"]],
    "Each batch": [["Loop"]]
  })
}

export const loops: Guide = {
  topic: "loops",
  title: "Loops and batches",
  description: "When a loop is needed, and how Loop Over Items is connected.",
  text: `# Loops and batches

Most loops are not needed: a node runs once for each item it receives. Five items into HTTP Request make five requests, each with its item as \`$json\`.

Use Loop Over Items (n8n-nodes-base.splitInBatches) when the work needs batches: a wait between them, an API that accepts 100 rows per request, nodes that must finish one item before the next starts.

- Output 0 is **done**: it runs once, at the end, with all items that came back to the loop. Output 1 is **loop**: the next \`batchSize\` items.
- The last node of the body connects back to the loop's input. Without that link only the first batch runs.
- The body must return something for each batch: an If that drops all items ends the loop too early. Connect its other branch back as well.
- \`$('Loop').context.currentRunIndex\` counts batches from 0; \`context.noItemsLeft\` is true in the last one.
- A loop inside a loop needs \`options.reset\`: an expression that is true when the outer loop starts its next round.

${json(workflow)}

## Other ways to repeat

- One item with a list to many items: Split Out (\`fieldToSplitOut\`). Many to one: Aggregate.
- Until something is true: connect an If's \`false\` output back to an earlier node, with a Wait in between and a counter that limits the rounds.
- Pages of an API: HTTP Request reads them itself (\`options.pagination\`).
- A sub-workflow run per item: Execute Sub-workflow in a loop with \`batchSize: 1\`; without the loop it receives all items together.
- A node that should run once for all items: \`executeOnce: true\`, a setting beside \`parameters\`. It then sees only the first item.

In an execution, a node in a loop has one run per batch: choose it with runIndex.`,
  workflows: [workflow]
}
