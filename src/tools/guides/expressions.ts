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
      "=Order {{ $('Orders').item.json.id }} of {{ $json.customer?.name ?? 'unknown' }}: {{ $json.total }}"
    )
  ],
  connections: links({ Start: [["Orders"]], Orders: [["Add total"]], "Add total": [["Text"]] })
}

export const expressions: Guide = {
  topic: "expressions",
  title: "Expressions and items",
  description: "How data flows, and how parameters read it.",
  text: `# Expressions and items

Data is a list of items, \`{json: {…}, binary?: {…}}\`. A node runs once for each item and returns a list. A parameter's value that starts with \`=\` is an expression, evaluated for each item: JavaScript between \`{{ }}\`, with text around it. Without the \`=\`, \`{{ }}\` is plain text.

- \`$json.customer.name\`, \`$json["order no"]\`: the current item. \`$binary\`: its files.
- \`$('Orders').item.json.id\`: the item of an earlier node from which this one came. After nodes that combine items, or a Code node that creates new ones, there may be no such link: then use \`.first()\`, \`.last()\`, \`.all()\`.
- \`$input.all()\`, \`$input.first()\`; \`$itemIndex\`, \`$runIndex\`; \`$execution.id\`, \`$workflow.name\`.
- \`$now\`, \`$today\` are Luxon: \`$now.minus({ days: 7 }).toISODate()\`, \`$json.at.toDateTime()\`.
- \`{{ }}\` contains one expression: no statements, no \`const\`. Chains and ternaries work; more belongs in a Code node.
- \`={{ $json.n }}\` alone keeps the type; \`=n: {{ $json.n }}\` is a string. Objects: \`={{ JSON.stringify($json) }}\`.
- \`$json.a?.b ?? 'none'\`: reading a field of undefined fails the node.

${json(workflow)}

## Nodes that change items

- Set keeps only its own fields unless \`includeOtherFields: true\`.
- Code, once for all items: \`return $input.all().map(({ json }) => ({ json: { ...json, total: 1 } }))\`. Once for each item (\`mode: "runOnceForEachItem"\`): \`return { json: { ...$json, total: 1 } }\`. No network, no modules.
- Merge waits for all its inputs. \`mode: "append"\` joins the lists; \`"combine"\` with \`combineBy: "combineByFields"\` and \`fieldsToMatchString: "id"\` joins by key; \`"combineByPosition"\` pairs items by position.
- If and Switch send each item to one output. A node after both branches runs twice unless a Merge brings them together.
- No items, no run: a node that receives none is skipped, and so are the nodes after it. \`alwaysOutputData: true\` (a setting beside \`parameters\`) passes on one empty item.`,
  workflows: [workflow]
}
