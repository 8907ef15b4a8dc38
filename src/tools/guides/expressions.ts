import { type Guide, json, links, node, set, start } from "./guide.ts"

const workflow = {
  nodes: [
    start,
    node("Orders", "code", 2, {
      jsCode: "return [{ json: { id: 7, price: 5, quantity: 2, customer: { name: 'Ann' } } }]"
    }),
    node("Add total", "set", 3.4, {
      assignments: {
        assignments: [{ id: "1", name: "total", type: "number", value: "={{ $json.price * $json.quantity }}" }]
      },
      includeOtherFields: true
    }),
    set(
      "Text",
      "text",
      "=Order {{ $('Orders').item.json.id }} of {{ $json.customer?.name ?? 'nobody' }}: {{ $json.total }}"
    )
  ],
  connections: links({ Start: [["Orders"]], Orders: [["Add total"]], "Add total": [["Text"]] })
}

export const expressions: Guide = {
  topic: "expressions",
  title: "Expressions and items",
  description: "How data flows, and how parameters read it.",
  text: `# Expressions and items

Data is a list of items, \`{json: {…}, binary?: {…}}\`. A node runs once for each item and puts out a list. A parameter's value that begins with \`=\` is an expression, evaluated for each item: JavaScript between \`{{ }}\`, anything around it is text. Without the \`=\`, \`{{ }}\` is plain text.

- \`$json.customer.name\`, \`$json["order no"]\`: the item at hand. \`$binary\`: its files.
- \`$('Orders').item.json.id\`: the item of an earlier node that this one came from. After nodes that make one item of many, or a Code node that makes new items, there may be no such link: then \`.first()\`, \`.last()\`, \`.all()\`.
- \`$input.all()\`, \`$input.first()\`; \`$itemIndex\`, \`$runIndex\`; \`$execution.id\`, \`$workflow.name\`.
- \`$now\`, \`$today\` are Luxon: \`$now.minus({ days: 7 }).toISODate()\`, \`$json.at.toDateTime()\`.
- \`{{ }}\` holds one expression: no statements, no \`const\`. Chains and ternaries do; more belongs in a Code node.
- \`={{ $json.n }}\` alone keeps the type; \`=n: {{ $json.n }}\` makes a text. Objects: \`={{ JSON.stringify($json) }}\`.
- \`$json.a?.b ?? 'none'\`: reading a field of undefined fails the node.

${json(workflow)}

## Nodes that change items

- Set keeps only its own fields unless \`includeOtherFields: true\`.
- Code, once for all items: \`return $input.all().map(({ json }) => ({ json: { ...json, total: 1 } }))\`. Once for each item (\`mode: "runOnceForEachItem"\`): \`return { json: { ...$json, total: 1 } }\`. No network, no modules.
- Merge waits for all its inputs. \`mode: "append"\`: one list after the other; \`"combine"\` with \`combineBy: "combineByFields"\` and \`fieldsToMatchString: "id"\`: a join; \`"combineByPosition"\`: side by side.
- If and Switch send each item to one output. A node after both branches runs twice unless a Merge brings them together.
- No items, no run: a node that receives none is skipped, and so is all that follows. \`alwaysOutputData: true\` (a setting beside \`parameters\`) passes on one empty item.`,
  workflows: [workflow]
}
