/** What nodes sent, resolved from the records of a real n8n, compared with the requests that a server received. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { IncomingHttpHeaders } from "node:http"
import type * as Services from "../../../src/app/Services.ts"
import { type Obj, obj } from "../../../src/base/Json.ts"
import * as NodeCatalogue from "../../../src/catalogue/NodeCatalogue.ts"
import * as Sending from "../../../src/catalogue/parameters/Sending.ts"
import * as Execution from "../../../src/executions/Execution.ts"
import * as Executions from "../../../src/executions/Executions.ts"
import type { Node } from "../../../src/n8n/model/Workflow.ts"
import type * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as Sent from "../../../src/trials/Sent.ts"
import { listening } from "../../support/listening.ts"
import { node } from "../../support/workflows.ts"
import { chain, code, connected, happened, type Link, made, webhook } from "./builders.ts"
import { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient.N8nClient | Services.Services>

interface Received {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** A server that keeps what it receives. */
const sink = Effect.suspend(() => {
  const received: Array<Received> = []
  const server = listening(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    const url = new URL(request.url ?? "/", "http://sink")
    received.push({ method: request.method ?? "", url, headers: request.headers, text })
    response.setHeader("content-type", "application/json").end("{\"ok\":true}")
  })
  return Effect.zipWith(server, RealN8n, (url, { host }) => ({ url: url.replace("127.0.0.1", host), received }))
})

const orders = [
  {
    no: 0,
    amount: 0.1,
    email: "a@x.example",
    name: "客 \"Ann\" & Söhne",
    tags: ["a", "b c"],
    note: "two\nlines\tand \\ more",
    ok: true
  },
  { no: 1, amount: 1e21, email: "b+c@x.example?d=e#f", name: "{{ $json.no }}", tags: [], note: "=1+1", ok: false },
  { no: 2, amount: -3, email: null, name: "", tags: [1, [null, 2], { a: 1 }], note: "100%25 %", ok: null },
  { no: 3, amount: 42, name: "emoji 🚀", address: { city: "京都", zip: "600-8216" }, tags: ["=x"], note: "" }
]

const keys = (values: { readonly [name: string]: string }) => ({
  parameters: Object.entries(values).map(([name, value]) => ({ name, value }))
})

/** Values in all kinds of expressions. */
const kinds = {
  plain: "plain",
  json: "={{ $json.amount }}",
  text: "=No {{ $json.no }}: {{ $json.email }}, {{ $json.ok }}",
  list: "={{ $json.tags.length }} of {{ $json.tags.join('-') }}",
  deep: "={{ $json.address?.city ?? 'none' }}",
  swallowed: "=[{{ $json.address.city }}]",
  ternary: "={{ $json.amount > 1 ? 'big' : 'small' }}",
  math: "={{ Math.round($json.amount * 100) / 100 + 1 }}",
  upper: "={{ $json.note.toUpperCase().trim() }}",
  hook: "={{ $('Orders').item.json.body.shop }}",
  first: "={{ $('Each').first().json.no }}{{ $('Each').last().json.no }}",
  all: "={{ $('Each').all().map((item) => item.json.no).filter((no) => no > 0).join() }}",
  input: "={{ $input.all().length }}/{{ $itemIndex }}/{{ $input.first().json.no }}",
  run: "={{ $runIndex }} {{ $execution.id }} {{ $workflow.name }}",
  previous: "={{ $prevNode.name }}",
  stringify: "={{ JSON.stringify($json.tags) }}",
  indented: "={{ JSON.stringify({ a: [$json.no] }, null, 2) }}",
  template: "={{ `${$json.no}-${$json.name.length}` }}",
  node: "={{ $node['Each'].json.no }}",
  spread: "={{ Object.keys({ ...$json, more: 1 }).sort().join() }}"
}

/** Values that n8n's records do not determine. */
const undetermined = {
  now: "={{ $now.toISO() }}",
  vars: "=v{{ $vars.shop }}",
  random: "={{ Math.random() }}"
}

const nulls = { missing: "={{ $json.nothing }}", email: "={{ $json.email }}", nested: "={{ $json.address }}" }

const body = (parameters: object) => ({ method: "POST", sendBody: true, ...parameters })

/** Parameters of HTTP Request nodes by the nodes' names. */
const requests = (): { readonly [name: string]: Obj } => ({
  keypairs: body({ bodyParameters: keys({ ...kinds, ...nulls, object: "={{ $json }}", list: "={{ $json.tags }}" }) }),
  open: body({ bodyParameters: keys({ no: "={{ $json.no }}", ...undetermined }) }),
  json: body({
    specifyBody: "json",
    jsonBody:
      "={\n  \"no\": {{ $json.no }}, \"name\": {{ JSON.stringify($json.name) }},\n \"hook\": \"{{ $('Orders').item.json.body.shop }}\" }"
  }),
  jsonObject: body({
    specifyBody: "json",
    jsonBody: "={{ { no: $json.no, lines: $json.tags.map((tag, index) => ({ tag, index })), none: $json.nothing } }}"
  }),
  jsonItem: body({ specifyBody: "json", jsonBody: "={{ $json }}" }),
  raw: body({
    contentType: "raw",
    rawContentType: "text/plain",
    body:
      "=<order no=\"{{ $json.no }}\">{{ $json.name }}\n{{ $json.note }}|{{ $json.tags }}|{{ $json.address }}</order>"
  }),
  form: body({ contentType: "form-urlencoded", bodyParameters: keys({ ...kinds }) }),
  multipart: body({
    contentType: "multipart-form-data",
    bodyParameters: keys({ no: "={{ $json.no }}", name: "={{ $json.name }}" })
  }),
  query: { sendQuery: true, queryParameters: keys({ ...kinds, q: "={{ $json.name }}&x={{ $json.note }}" }) },
  queryJson: {
    sendQuery: true,
    specifyQuery: "json",
    jsonQuery: "={ \"no\": {{ $json.no }}, \"name\": {{ JSON.stringify($json.name) }} }"
  },
  queryInUrl: {},
  headers: {
    sendHeaders: true,
    headerParameters: keys({
      "X-No": "={{ $json.no }}",
      "X-Mail": "=<{{ $json.email }}>",
      Authorization: "=Bearer {{ $json.no }}abc"
    })
  },
  headersJson: { sendHeaders: true, specifyHeaders: "json", jsonHeaders: "={ \"x-no\": \"{{ $json.no }}\" }" },
  dynamic: { method: "={{ $json.no > 1 ? 'PUT' : 'DELETE' }}" },
  switched: body({ sendBody: "={{ $json.no > 1 }}", specifyBody: "json", jsonBody: "={{ { no: $json.no } }}" }),
  once: body({ specifyBody: "json", jsonBody: "={{ { all: $input.all().length, no: $json.no } }}" }),
  merged: body({
    bodyParameters: keys({
      no: "={{ $('Each').item.json.no }}",
      doubled: "={{ $json.doubled }}",
      both: "={{ $('Doubled').item.json.doubled }}"
    })
  }),
  looped: body({
    bodyParameters: keys({
      no: "={{ $json.no }}",
      run: "={{ $runIndex }}",
      paired: "={{ $('Each').item.json.email }}",
      other: "={{ $('Doubled').item.json.doubled }}"
    })
  })
})

const paths: { readonly [name: string]: string } = {
  queryInUrl: "?a={{ $json.no }}&b={{ encodeURIComponent($json.name) }}",
  query: "?fixed=1"
}

const http = (url: string) =>
  Object.entries(requests()).map(([name, parameters]) =>
    node(name, "httpRequest", 4.2, {
      url: `=${url}/${name}/{{ $json.no ?? 'all' }}/{{ $runIndex }}${paths[name] ?? ""}`,
      options: {},
      ...parameters
    }, { onError: "continueRegularOutput", ...(name === "once" ? { executeOnce: true } : {}) })
  )

const workflow = (url: string) => {
  const nodes = http(url)
  const direct = nodes.filter(({ name }) => !["merged", "looped"].includes(name))
  const links: ReadonlyArray<Link> = [
    ["Orders", "Each"],
    ["Each", "Doubled"],
    ["Each", "Merge", 0, 0],
    ["Doubled", "Merge", 0, 1],
    ["Merge", "merged"],
    ["Merge", "Loop"],
    ["Loop", "looped", 1],
    ["looped", "Loop"],
    ...direct.map(({ name }): Link => ["Each", name])
  ]
  return {
    nodes: [
      node("Each", "splitOut", 1, { fieldToSplitOut: "body.orders", options: {} }),
      code(
        "Doubled",
        "return items.map(({ json }, item) => ({ json: { no: json.no, doubled: json.no * 2 }, pairedItem: { item } }))"
      ),
      node("Merge", "merge", 3.2, { mode: "combine", combineBy: "combineByPosition", options: {} }),
      node("Loop", "splitInBatches", 3, { batchSize: 3, options: {} }),
      ...nodes
    ],
    links
  }
}

const text = (value: unknown) => value === null || value === undefined ? "" : String(value)

const parsed = (value: unknown) => typeof value === "string" ? JSON.parse(value) as unknown : value

/** What an entry claims of a request, beside what the request has, by path; open paths are left out. */
const claims = ({ address, unresolved, values }: Sent.Entry, { headers, method, text: received, url }: Received) => {
  const open = new Set(unresolved.map(({ path }) => path))
  const rows: Array<readonly [path: string, claimed: unknown, actual: unknown]> = []
  const add = (path: string, claimed: unknown, actual: unknown) => {
    if (!open.has(path)) rows.push([path, claimed, actual])
  }
  const each = (name: string, actual: (key: string) => unknown, read: (value: unknown) => unknown = text) => {
    const all = Object.entries(obj(parsed(values[name])) ?? {})
    for (const [key, value] of all) add(`${name}.${key}`, read(value), actual(key))
    return all.map(([key]) => key)
  }
  if (address !== undefined) {
    const [verb, at = ""] = address.split(/ (.*)/s)
    const claimed = new URL(at)
    add("method", verb, method)
    add("path", claimed.pathname, url.pathname)
    if (values["queryParameters"] === undefined) add("query", [...claimed.searchParams], [...url.searchParams])
  }
  const type = headers["content-type"] ?? ""
  const json = type.includes("json") ? obj(JSON.parse(received)) ?? {} : {}
  const form = new URLSearchParams(received)
  const part = (key: string) => new RegExp(`name="${key}"\r\n\r\n([^]*?)\r\n--`).exec(received)?.[1]
  each("queryParameters", (key) => url.searchParams.get(key) ?? "")
  each("headerParameters", (key) => headers[key.toLowerCase()])
  each("jsonHeaders", (key) => headers[key])
  if (type.includes("json")) {
    const named = each("bodyParameters", (key) => json[key], (value) => value)
    const others = Object.keys(json).filter((key) => !named.includes(key) && !open.has(`bodyParameters.${key}`))
    if (named.length > 0) add("further values", [], others)
  } else each("bodyParameters", type.includes("multipart") ? part : (key) => form.get(key) ?? "")
  if (values["jsonBody"] !== undefined) add("jsonBody", parsed(values["jsonBody"]), JSON.parse(received))
  if (values["body"] !== undefined) add("body", values["body"], received)
  return rows
}

const nodeNamed = (execution: Execution.Execution, name: string): Node => {
  const found = Execution.nodeOf(execution, name)
  if (found === undefined) throw new Error(`no node ${name}`)
  return found
}

/** The runs of a node, each with how to read what it sent. */
const sendersOf = Effect.fnUntraced(function*(
  execution: Execution.Execution,
  name: string,
  isCopy = false
) {
  const { get } = yield* NodeCatalogue.NodeCatalogue
  const node = nodeNamed(execution, name)
  const sending = Sending.of(yield* get(node.type), node)
  return (execution.runs.get(name) ?? []).map((run): Sent.Sender => ({
    execution,
    node,
    run,
    sending,
    redacts: false,
    limit: 100,
    isCopy
  }))
})

const sentBy = Effect.fnUntraced(function*(execution: Execution.Execution, name: string) {
  const entries = yield* Effect.forEach(
    yield* sendersOf(execution, name),
    ({ execution, ...options }) =>
      Effect.map(Sent.of(execution, options), (entries) => entries.map((entry) => ({ entry, run: options.run })))
  )
  return entries.flat()
})

/** Differences of what the runs of two sides sent, in their order. */
const differencesOf = Effect.fnUntraced(
  function*(then: ReadonlyArray<Sent.Sender>, now: ReadonlyArray<Sent.Sender>) {
    const all = yield* Effect.forEach(then, (sender, index) => {
      const other = now[index]
      return other === undefined ? Effect.succeed([]) : Sent.differences(sender, other)
    })
    return all.flat().flatMap(({ changes, item }) => changes.map((change) => ({ ...change, item })))
  }
)

/** Adds the tests of what was sent to a suite; the releases do not differ in it. */
export const sent = (it: It) => {
  it.effect(
    "sent: what is resolved is what a server received, byte by byte",
    () =>
      Effect.gen(function*() {
        const { received, url } = yield* sink
        const path = `sent-${crypto.randomUUID()}`
        const { links, nodes } = workflow(url)
        const id = yield* made("sent", [webhook(path), ...nodes], [], { connections: connected(links) })
        yield* scenarios.publish(id)
        const { executionId } = yield* happened(id, path, { shop: "京都 & Co", orders })
        const execution = yield* Effect.flatMap(Executions.Executions, ({ get }) => get(executionId))
        const totals = { compared: 0, unresolved: 0 }
        const reasons = new Set<string>()
        for (const name of Object.keys(requests())) {
          const entries = yield* sentBy(execution, name)
          const count = name === "once" ? 1 : orders.length
          assert.strictEqual(entries.length, count, name)
          for (const { entry, run } of entries) {
            const [part] = Execution.inputs(execution, name, run)
            const [item] = part === undefined ? [] : execution.items(part.slot, entry.item, 1)
            const no = obj(obj(item)?.["json"])?.["no"]
            const there = received.filter((each) => each.url.pathname === `/${name}/${text(no)}/${run.index}`)
            assert.strictEqual(there.length, 1, `${name} ${text(no)}`)
            const rows = there.flatMap((request) => claims(entry, request))
            assert.deepStrictEqual(
              rows.map(([path, claimed]) => [path, claimed]),
              rows.map(([path, , actual]) => [path, actual]),
              `${name} ${entry.item}`
            )
            totals.compared += rows.length
            totals.unresolved += entry.unresolved.length
            for (const { path, reason } of entry.unresolved) reasons.add(`${name} ${path}: ${reason}`)
          }
        }
        const share = totals.compared / (totals.compared + totals.unresolved)
        assert.isAtLeast(share, 0.94, JSON.stringify([...reasons], null, 1))
        const [first] = yield* sentBy(execution, "open")
        assert.deepStrictEqual(
          first?.entry.unresolved.map(({ path }) => path),
          Object.keys(undetermined).map((name) => `bodyParameters.${name}`)
        )

        // The same request again: only the execution's id differs.
        const { executionId: otherId } = yield* happened(id, path, { shop: "京都 & Co", orders })
        const other = yield* Effect.flatMap(Executions.Executions, ({ get }) => get(otherId))
        for (const name of Object.keys(requests())) {
          const before = yield* sendersOf(execution, name)
          const after = yield* sendersOf(other, name)
          const inCopy = yield* sendersOf(other, name, true)
          const paths = (yield* differencesOf(before, after)).map(({ path }) => path)
          assert.deepStrictEqual(paths.filter((each) => !each.endsWith(".run")), [], name)
          assert.strictEqual(paths.length, ["keypairs", "form", "query"].includes(name) ? orders.length : 0, name)
          assert.deepStrictEqual(yield* differencesOf(before, inCopy), [], name)
        }
      }).pipe(Effect.scoped),
    120_000
  )

  it.effect("sent: a response is what the webhook's caller got", () =>
    Effect.gen(function*() {
      const path = `answers-${crypto.randomUUID()}`
      const respond = (name: string, parameters: Obj) =>
        node(name, "respondToWebhook", 1.1, { options: {}, ...parameters })
      const cases: ReadonlyArray<readonly [Obj, string]> = [
        [{
          respondWith: "json",
          responseBody: "={{ { no: $json.body.no, all: $input.all().length } }}",
          options: { responseCode: 201 }
        }, "response 201"],
        [{ respondWith: "text", responseBody: "=Order {{ $json.body.no }} ok" }, "response 200"],
        [{}, "response 200"],
        [{ respondWith: "allIncomingItems" }, "response 200"]
      ]
      for (const [index, [parameters, address]] of cases.entries()) {
        const hook = { ...webhook(`${path}-${index}`) }
        const responding = { ...hook, parameters: { ...obj(hook.parameters), responseMode: "responseNode" } }
        const id = yield* made("answers", [responding, respond("Answer", parameters)], chain("Orders", "Answer"))
        yield* scenarios.publish(id)
        const after = yield* scenarios.newestExecution()
        const answer = yield* scenarios.callWebhook(`${path}-${index}`, { body: { no: 7 } })
        const { executionId } = yield* scenarios.awaitExecution(id, after)
        const execution = yield* Effect.flatMap(Executions.Executions, ({ get }) => get(executionId))
        const entry = (yield* sentBy(execution, "Answer"))[0]?.entry
        assert.strictEqual(entry?.address, address)
        assert.strictEqual(`response ${answer.status}`, address)
        const body = entry?.values["responseBody"]
        assert.deepStrictEqual(body, typeof body === "string" ? answer.text : answer.body)
      }
    }))
}
