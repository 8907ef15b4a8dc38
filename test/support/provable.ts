/** Workflows with recorded runs to prove changes on, and changes of them that a proof must find. */
import { arr, type Obj, obj } from "../../src/base/Json.ts"
import { joined, type Link, main, node } from "./workflows.ts"

/** Places that the workflows use. */
export interface Place {
  /** Path of the webhook. */
  readonly path: string
  /** Base URL of a server that counts requests and answers with JSON; below `/fail` with status 500. */
  readonly sink: string
  /** Id of a published workflow that returns its items with a field `checked`. */
  readonly sub: string
  /** Credential of a server that is like OpenAI's. */
  readonly openAi: Obj
}

/** Nodes and connections, to be changed in place. */
export interface Draft {
  readonly nodes: Array<ReturnType<typeof node>>
  readonly connections: Obj
}

/** Change of a workflow, and the node at which its runs must differ first. */
export interface Change {
  readonly name: string
  readonly at: string
  readonly apply: (draft: Draft) => void
}

export interface Subject {
  readonly name: string
  readonly draft: (place: Place) => Draft
  /** Body of the webhook's n-th call. */
  readonly body: (n: number) => Obj
  readonly changes: ReadonlyArray<Change>
}

const change = (name: string, at: string, apply: Change["apply"]): Change => ({ name, at, apply })

const nodeOf = ({ nodes }: Draft, name: string) => {
  const index = nodes.findIndex((each) => each.name === name)
  const one = nodes[index]
  if (one === undefined) throw new Error(`no node '${name}'`)
  return { one, put: (more: Obj) => void nodes.splice(index, 1, { ...one, ...more }) }
}

/** Replaces text in a node's parameters. */
const rewrite = (name: string, from: string, to: string) => (draft: Draft) => {
  const { one, put } = nodeOf(draft, name)
  const before = JSON.stringify(one.parameters)
  const quoted = (text: string) => JSON.stringify(text).slice(1, -1)
  const after = before.replace(quoted(from), () => quoted(to))
  if (after === before) throw new Error(`'${from}' is not in '${name}'`)
  put({ parameters: JSON.parse(after) })
}

/** Sets parameters of a node. */
const assign = (name: string, parameters: Obj) => (draft: Draft) => {
  const { one, put } = nodeOf(draft, name)
  put({ parameters: { ...one.parameters, ...parameters } })
}

/** Removes the links of an output. */
const cut = (name: string, output: number) => ({ connections }: Draft) => {
  const outputs = arr(obj(connections[name])?.["main"]) as Array<unknown>
  if (arr(outputs[output]).length === 0) throw new Error(`nothing leads from output ${output} of '${name}'`)
  outputs[output] = []
}

/** Draft with another name of a node, to which no expression may refer. */
export const renamed = (draft: Draft, name: string, to: string): Draft =>
  JSON.parse(JSON.stringify(draft).replaceAll(`"${name}"`, `"${to}"`))

const hook = (path: string, responds = false) =>
  node("Hook", "webhook", 2, {
    path,
    httpMethod: "POST",
    responseMode: responds ? "responseNode" : "onReceived",
    options: {}
  }, { webhookId: path })
const set = (name: string, json: string) =>
  node(name, "set", 3.4, { mode: "raw", jsonOutput: `={{ ${json} }}`, options: {} })
const code = (name: string, jsCode: string, more: Obj = {}) => node(name, "code", 2, { jsCode }, more)
const send = (name: string, url: string, json: string, more: Obj = {}) =>
  node(name, "httpRequest", 4.2, {
    method: "POST",
    url,
    sendBody: true,
    specifyBody: "json",
    jsonBody: `={{ JSON.stringify(${json}) }}`,
    options: {}
  }, more)
const condition = (left: string, operation: string, right: number | string) => ({
  conditions: {
    options: { version: 2, caseSensitive: true, leftValue: "", typeValidation: "loose" },
    combinator: "and",
    conditions: [{
      id: "c",
      leftValue: `={{ ${left} }}`,
      rightValue: right,
      operator: { type: typeof right === "number" ? "number" : "string", operation }
    }]
  }
})
const when = (name: string, left: string, operation: string, right: number | string) =>
  node(name, "if", 2.2, { ...condition(left, operation, right), options: {} })
const split = (name: string, field: string) => node(name, "splitOut", 1, { fieldToSplitOut: field, options: {} })

const row = (...names: ReadonlyArray<string>): ReadonlyArray<Link> =>
  names.slice(1).map((to, index): Link => [names[index] ?? "", to])

const draft = (nodes: ReadonlyArray<ReturnType<typeof node>>, links: ReadonlyArray<Link>): Draft => ({
  nodes: [...nodes],
  connections: joined(...links)
})

const names = ["Ada", "Bea", "Cem", "Dan", "Eve", "Fay", "Gus"]

/** Lines of an order, in another number and with other values for each. */
const lines = (n: number) =>
  Array.from({ length: 3 + n % 4 }, (_, index) => ({
    sku: `S-${(n + index * 3) % 7}`,
    price: 10.125 * (index + 1) + n,
    qty: (n + index) % 5,
    name: names[(n + index) % names.length]
  }))

const order = (n: number) => ({ email: `a${n}@shop.example`, no: n, lines: lines(n) })

export const orders: Subject = {
  name: "orders",
  body: order,
  draft: ({ path, sink }) =>
    draft([
      hook(path, true),
      split("Lines", "body.lines"),
      set(
        "Map contact",
        "({ ...$json, email: $('Hook').first().json.body.email, at: $now.toISO(), token: Math.random() })"
      ),
      code(
        "Total",
        "return $input.all().map((i, n) => ({ json: { ...i.json, total: Math.round(i.json.price * i.json.qty * 100) / 100 }, pairedItem: n }))"
      ),
      when("Large?", "$json.total", "gt", 50),
      send("Ship", `${sink}/ship`, "{ sku: $json.sku, email: $json.email, total: $json.total }"),
      set("Small", "({ sku: $json.sku, mail: 'Dear ' + $json.email, total: $json.total })"),
      code("Sum", "return [{ json: { n: $input.all().length } }]"),
      node("Answer", "respondToWebhook", 1.1, {
        respondWith: "json",
        responseBody: "={{ ({ ok: true, n: $json.n }) }}",
        options: { responseCode: 201 }
      })
    ], [
      ...row("Hook", "Lines", "Map contact", "Total", "Large?", "Ship", "Sum", "Answer"),
      ["Large?", "Small", "main", 1],
      ["Small", "Sum"]
    ]),
  changes: [
    change("wrong field", "Map contact", rewrite("Map contact", "body.email", "body.mail")),
    change("changed rounding", "Total", rewrite("Total", "* 100) / 100", "* 10) / 10")),
    change("swapped condition", "Large?", rewrite("Large?", "gt", "lt")),
    change("reordered items", "Total", rewrite("Total", "}))", "})).reverse()")),
    change("changed response", "Answer", rewrite("Answer", "ok: true", "ok: 1")),
    change("changed status", "Answer", assign("Answer", { options: { responseCode: 200 } })),
    change("lost branch", "Small", cut("Large?", 1)),
    change(
      "a throw",
      "Total",
      rewrite("Total", "return ", "if ($input.first().json.qty === 3) throw new Error('no stock')\nreturn ")
    ),
    change("a text instead of a number", "Total", rewrite("Total", "total: Math", "total: '' + Math")),
    change("another path", "Hook", assign("Hook", { path: "elsewhere" })),
    change("a new sender", "Audit", (all) => {
      all.nodes.push(send("Audit", "http://127.0.0.1:9/audit", "{ ok: 1 }"))
      Object.assign(all.connections, { Answer: main("Audit") })
    })
  ]
}

export const batches: Subject = {
  name: "batches",
  body: order,
  draft: ({ path, sink }) =>
    draft([
      hook(path),
      split("Rows", "body.lines"),
      set("Keyed", "({ ...$json, key: $json.sku + '/' + $('Hook').first().json.body.no })"),
      node("Batches", "splitInBatches", 3, { batchSize: 2, options: {} }),
      set("Inside", "({ ...$json, cost: $json.price * 2 })"),
      send("Book", `${sink}/book`, "{ key: $json.key, cost: $json.cost }"),
      code("Booked", "return $input.all().map((i, n) => ({ json: { id: i.json.id, at: n }, pairedItem: n }))"),
      node("All", "aggregate", 1, { aggregate: "aggregateAllItemData", options: {} }),
      set("Report", "({ booked: $json.data.length })"),
      send("Tell", `${sink}/report`, "{ booked: $json.booked }")
    ], [
      ...row("Hook", "Rows", "Keyed", "Batches", "All", "Report", "Tell"),
      ["Batches", "Inside", "main", 1],
      ...row("Inside", "Book", "Booked", "Batches")
    ]),
  changes: [
    change("other batch size", "Batches", assign("Batches", { batchSize: 3 })),
    change("a sender less", "Tell", (all) => {
      all.nodes.splice(all.nodes.indexOf(nodeOf(all, "Tell").one), 1)
      cut("Report", 0)(all)
    }),
    change("changed body in a loop", "Book", rewrite("Book", "cost: $json.cost", "cost: $json.price")),
    change("dropped items in a loop", "Booked", rewrite("Booked", "$input.all()", "$input.all().slice(0, 1)"))
  ]
}

const customers: Subject = {
  name: "customers",
  body: (n) => ({
    people: lines(n).map(({ name, sku }, index) => ({ id: index, name, sku })),
    ranks: lines(n).slice(2).map((_, index) => ({ id: index + 1, rank: (index * 7 + n) % 5 }))
  }),
  draft: ({ path, sink }) =>
    draft([
      hook(path),
      split("People", "body.people"),
      split("Ranks", "body.ranks"),
      node("Known", "filter", 2.2, { ...condition("$json.id", "gt", 0), options: {} }),
      node("Join", "merge", 3, {
        mode: "combine",
        combineBy: "combineByFields",
        fieldsToMatchString: "id",
        joinMode: "keepEverything",
        options: {}
      }),
      node("Sorted", "sort", 1, {
        sortFieldsUi: { sortField: [{ fieldName: "rank", order: "descending" }] },
        options: {}
      }),
      node("Once", "removeDuplicates", 2, { compare: "selectedFields", fieldsToCompare: "name", options: {} }),
      node("Top", "limit", 1, { maxItems: 3 }),
      node("Totals", "summarize", 1, {
        fieldsToSummarize: { values: [{ aggregation: "sum", field: "rank" }] },
        fieldsToSplitBy: "sku",
        options: {}
      }),
      send("Post", `${sink}/totals`, "$json")
    ], [
      ...row("Hook", "People", "Known", "Join", "Sorted", "Once", "Top", "Totals", "Post"),
      ["Hook", "Ranks"],
      ["Ranks", "Join", "main", 0, 1]
    ]),
  changes: [
    change("inner join", "Join", rewrite("Join", "keepEverything", "keepMatches")),
    change("sorted the other way", "Sorted", rewrite("Sorted", "descending", "ascending")),
    change("another aggregation", "Totals", rewrite("Totals", "sum", "max"))
  ]
}

export const routes: Subject = {
  name: "routes",
  body: order,
  draft: ({ path, sink }) =>
    draft([
      hook(path),
      split("Rows", "body.lines"),
      node("Route", "switch", 3.2, {
        rules: {
          values: [
            { ...condition("$json.qty", "lt", 2), renameOutput: true, outputKey: "few" },
            { ...condition("$json.qty", "lt", 4), renameOutput: true, outputKey: "some" }
          ]
        },
        options: { fallbackOutput: "extra" }
      }),
      set("Few", "({ sku: $json.sku, size: 'S' })"),
      set("Some", "({ sku: $json.sku, size: 'M' })"),
      set("Many", "({ sku: $json.sku, size: 'L' })"),
      send("Pack", `=${sink}/pack/{{ $json.size }}`, "{ sku: $json.sku }"),
      node("Through", "noOp"),
      node("Collected", "merge", 3, { numberInputs: 3 }),
      code("Sizes", "return [{ json: { sizes: $input.all().map((i) => i.json.size ?? 'packed') } }]")
    ], [
      ...row("Hook", "Rows", "Route", "Few", "Collected", "Sizes"),
      ["Route", "Some", "main", 1],
      ["Some", "Pack"],
      ["Pack", "Collected", "main", 0, 1],
      ["Route", "Many", "main", 2],
      ["Many", "Through"],
      ["Through", "Collected", "main", 0, 2]
    ]),
  changes: [
    change("another comparison", "Route", rewrite("Route", "lt", "lte")),
    change("another address", "Pack", rewrite("Pack", "/pack/", "/pack/v2/")),
    change("lost fallback", "Many", cut("Route", 2))
  ]
}

const checked: Subject = {
  name: "checked",
  body: order,
  draft: ({ path, sink, sub }) =>
    draft([
      hook(path),
      set("Order", "({ no: $json.body.no, email: $json.body.email, count: $json.body.lines.length })"),
      node("Check", "executeWorkflow", 1.2, {
        workflowId: { __rl: true, mode: "id", value: sub },
        workflowInputs: { mappingMode: "defineBelow", value: {}, matchingColumns: [], schema: [] },
        options: {}
      }),
      set("Checked", "({ ...$json, domain: $json.email.split('@')[1] })"),
      when("Big?", "$json.count", "gte", 5),
      send("Alert", `${sink}/alert`, "{ no: $json.no, text: `${$json.count} lines` }"),
      set("Quiet", "({ no: $json.no, quiet: true })"),
      code("End", "return $input.all().map((i, n) => ({ json: { done: i.json.no ?? i.json.ok }, pairedItem: n }))")
    ], [
      ...row("Hook", "Order", "Check", "Checked", "Big?", "Alert", "End"),
      ["Big?", "Quiet", "main", 1],
      ["Quiet", "End"]
    ]),
  changes: [
    change("a field less to a sub-workflow", "Order", rewrite("Order", ", count: $json.body.lines.length", "")),
    change("another type", "Checked", rewrite("Checked", "$json.email.split('@')[1]", "$json.email.split('@')")),
    change(
      "another sub-workflow",
      "Check",
      assign("Check", { workflowId: { __rl: true, mode: "id", value: "other" } })
    ),
    change("another text to send", "Alert", rewrite("Alert", "lines`", "rows`"))
  ]
}

const faulty: Subject = {
  name: "faulty",
  body: order,
  draft: ({ path, sink }) =>
    draft([
      hook(path),
      split("Rows", "body.lines"),
      code(
        "Priced",
        "if ($json.qty === 4) throw new Error('out of stock: ' + $json.sku)\nreturn { json: { ...$json, net: $json.price * $json.qty } }",
        {
          parameters: {
            mode: "runOnceForEachItem",
            jsCode:
              "if ($json.qty === 4) throw new Error('out of stock: ' + $json.sku)\nreturn { json: { ...$json, net: $json.price * $json.qty } }"
          },
          onError: "continueErrorOutput"
        }
      ),
      send("Charge", `=${sink}/{{ $json.qty === 3 ? 'fail' : 'charge' }}`, "{ net: $json.net }", {
        onError: "continueErrorOutput"
      }),
      set("Charged", "({ state: 'charged' })"),
      set("Refused", "({ state: 'refused' })"),
      set("Missing", "({ state: 'missing', sku: $json.sku })"),
      node("States", "merge", 3, { numberInputs: 3 }),
      code(
        "Count",
        "const n = {}\nfor (const { json } of $input.all()) n[json.state] = (n[json.state] ?? 0) + 1\nreturn [{ json: n }]"
      ),
      send("Report", `${sink}/states`, "$json")
    ], [
      ...row("Hook", "Rows", "Priced", "Charge", "Charged", "States", "Count", "Report"),
      ["Priced", "Missing", "main", 1],
      ["Missing", "States", "main", 0, 2],
      ["Charge", "Refused", "main", 1],
      ["Refused", "States", "main", 0, 1]
    ]),
  changes: [
    change("an error no longer thrown", "Priced", rewrite("Priced", "$json.qty === 4", "$json.qty === 9")),
    change("a disabled sender", "Report", (all) => nodeOf(all, "Report").put({ disabled: true })),
    change("lost error output", "Refused", cut("Charge", 1)),
    change("an error that stops the run", "Priced", (all) => nodeOf(all, "Priced").put({ onError: "stopWorkflow" }))
  ]
}

const waiting: Subject = {
  name: "waiting",
  body: order,
  draft: ({ path, sink }) =>
    draft([
      hook(path),
      set("Order", "({ no: $json.body.no, due: $now.plus({ days: 3 }).toISODate(), lines: $json.body.lines })"),
      node("Wait", "wait", 1.1, { amount: 1, unit: "seconds" }, { webhookId: `${path}-wait` }),
      split("Rows", "lines"),
      node("Named", "set", 3.4, {
        mode: "manual",
        includeOtherFields: true,
        assignments: {
          assignments: [{ id: "a", name: "label", type: "string", value: "={{ $json.name }} ({{ $json.sku }})" }]
        },
        options: {}
      }),
      code(
        "Net",
        "return $input.all().map((i, n) => ({ json: { ...i.json, net: i.json.price / 1.19 }, pairedItem: n }))"
      ),
      send("Remind", `${sink}/remind`, "{ label: $json.label }"),
      code("Done", "return [{ json: { reminded: $input.all().length } }]")
    ], row("Hook", "Order", "Wait", "Rows", "Named", "Net", "Remind", "Done")),
  changes: [
    change("an empty label", "Named", rewrite("Named", "$json.sku", "$json.SKU")),
    change("a longer wait", "Wait", assign("Wait", { amount: 90 })),
    change("another tax", "Net", rewrite("Net", "1.19", "1.07")),
    change(
      "a throw",
      "Net",
      rewrite("Net", "return ", "if ($input.first().json.qty === 3) throw new Error('no net')\nreturn ")
    )
  ]
}

const files: Subject = {
  name: "files",
  body: order,
  draft: ({ path, sink }) =>
    draft([
      hook(path),
      split("Rows", "body.lines"),
      set("Cells", "({ sku: $json.sku, price: $json.price, name: $json.name })"),
      node("File", "convertToFile", 1.1, { operation: "csv", options: { fileName: "orders.csv" } }),
      node("Hash", "crypto", 1, {
        action: "hash",
        type: "SHA256",
        value: "={{ $binary.data.fileName }}",
        dataPropertyName: "hash"
      }),
      node("Upload", "httpRequest", 4.2, {
        method: "POST",
        url: `${sink}/upload`,
        sendBody: true,
        contentType: "binaryData",
        inputDataFieldName: "data",
        options: {}
      }),
      node("Read", "extractFromFile", 1, { operation: "csv", options: {} }),
      code("Checked", "return [{ json: { rows: $input.all().length, first: $input.first().json.sku } }]")
    ], [...row("Hook", "Rows", "Cells", "File", "Hash", "Upload"), ["Hash", "Read"], ["Read", "Checked"]]),
  changes: [
    change("another file name", "File", rewrite("File", "orders.csv", "order.csv")),
    change("a column less", "Cells", rewrite("Cells", ", name: $json.name", ""))
  ]
}

const langchain = "@n8n/n8n-nodes-langchain."

const agent: Subject = {
  name: "agent",
  body: (n) => ({ question: `What is ${n} times seven?`, n }),
  draft: ({ openAi, path, sink }) =>
    draft([
      hook(path),
      set("Question", "({ question: $json.body.question, n: $json.body.n })"),
      node("Agent", `${langchain}agent`, 2.2, { promptType: "define", text: "={{ $json.question }}", options: {} }),
      node("Model", `${langchain}lmChatOpenAi`, 1.2, {
        model: { __rl: true, mode: "list", value: "gpt-4o-mini" },
        options: {}
      }, { credentials: { openAiApi: openAi } }),
      node("Calculator", `${langchain}toolCalculator`, 1),
      code(
        "Parsed",
        "return $input.all().map((i, n) => ({ json: { ...JSON.parse(i.json.output).output, n: $('Question').first().json.n }, pairedItem: n }))"
      ),
      when("Even?", "$json.n % 2", "equals", 0),
      send("Publish", `${sink}/answers`, "{ answer: $json.answer }"),
      set("Held", "({ held: $json.answer.length })")
    ], [
      ...row("Hook", "Question", "Agent", "Parsed", "Even?", "Publish"),
      ["Even?", "Held", "main", 1],
      ["Model", "Agent", "ai_languageModel"],
      ["Calculator", "Agent", "ai_tool"]
    ]),
  changes: [
    change("another model", "Agent", rewrite("Model", "gpt-4o-mini", "gpt-4o")),
    change("another prompt", "Agent", rewrite("Agent", "={{ $json.question }}", "=Briefly: {{ $json.question }}")),
    change("another reading of the answer", "Parsed", rewrite("Parsed", ".output).output", ".output)"))
  ]
}

const history: Subject = {
  name: "history",
  body: (n) => ({
    events: Array.from(
      { length: 4 + n % 3 },
      (_, index) => ({ id: `${n}-${index}`, day: index % 3, kind: index % 2 === 0 ? "in" : "out" })
    )
  }),
  draft: ({ path, sink }) =>
    draft([
      hook(path),
      split("Events", "body.events"),
      code(
        "Ids",
        "return $input.all().map((i, n) => ({ json: { ...i.json, id: Math.random().toString(36).slice(2), order: n }, pairedItem: n }))"
      ),
      node("Dated", "dateTime", 2, {
        operation: "getCurrentDate",
        outputFieldName: "now",
        options: { includeInputFields: true }
      }),
      when("In?", "$json.kind", "equals", "in"),
      set("In", "({ id: $json.id, order: $json.order, at: $json.now })"),
      set("Out", "({ id: $json.id, order: $json.order, left: true })"),
      node("Both", "merge", 3, { numberInputs: 2 }),
      node("Renamed", "renameKeys", 1, { keys: { key: [{ currentKey: "order", newKey: "position" }] } }),
      code(
        "Seen",
        "const data = $getWorkflowStaticData('global')\ndata.count = (data.count ?? 0) + 1\nreturn $input.all().map((i, n) => ({ json: { ...i.json, count: data.count }, pairedItem: n }))"
      ),
      send("Store", `${sink}/events`, "$json")
    ], [
      ...row("Hook", "Events", "Ids", "Dated", "In?", "In", "Both", "Renamed", "Seen", "Store"),
      ["In?", "Out", "main", 1],
      ["Out", "Both", "main", 0, 1]
    ]),
  changes: [
    change("another condition", "In?", assign("In?", condition("$json.kind", "notEquals", "in"))),
    change("other code of a node that is not run", "Seen", rewrite("Seen", "?? 0) + 1", "?? 0) + 2")),
    change("another key", "Renamed", rewrite("Renamed", "position", "place"))
  ]
}

/** Ten workflows with more than thirty changes. */
export const subjects: ReadonlyArray<Subject> = [
  orders,
  batches,
  customers,
  routes,
  checked,
  faulty,
  waiting,
  files,
  agent,
  history
]

/** Nodes and connections of a change. */
export const changed = (from: Draft, { apply }: Change): Draft => {
  const copy: Draft = JSON.parse(JSON.stringify(from))
  apply(copy)
  return copy
}

/** Path of the sub-workflow's trigger, and its nodes. */
export const subWorkflow = (): Draft =>
  draft([
    node("Called", "executeWorkflowTrigger", 1.1, { inputSource: "passthrough" }),
    set("Mark", "({ ...$json, checked: true })")
  ], row("Called", "Mark"))
