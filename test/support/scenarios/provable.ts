/** Workflows with recorded runs to prove changes on, and changes of them that a proof must find. */
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import { joined, type Link, main, node } from "../workflows.ts"

/** Places that the workflows use. */
export interface Place {
  /** Path of the webhook. */
  readonly path: string
  /** Base URL of a server that counts requests and answers with JSON. */
  readonly sink: string
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

/** Nodes and connections of a change. */
export const changed = (from: Draft, { apply }: Change): Draft => {
  const copy: Draft = JSON.parse(JSON.stringify(from))
  apply(copy)
  return copy
}
