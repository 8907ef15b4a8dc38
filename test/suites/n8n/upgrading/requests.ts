/** Nodes that send, receive and start, and nodes for files, before and after their upgrade on a real n8n. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { randomUUID } from "node:crypto"
import { canonical, type Obj, obj } from "../../../../src/base/Json.ts"
import * as Workflow from "../../../../src/n8n/model/Workflow.ts"
import * as Upgrade from "../../../../src/workflow/upgrade/Upgrade.ts"
import * as NodeLookups from "../../../../src/workflows/NodeLookups.ts"
import { catalogue } from "../../../support/catalogue.ts"
import { listening } from "../../../support/listening.ts"
import { joined, node } from "../../../support/workflows.ts"
import { differences, oddItems, type Pair } from "../pairs.ts"
import { RealN8n } from "../RealN8n.ts"
import * as scenarios from "../scenarios.ts"

/** Status, type and body by the last part of an address; `hop` leads to `json`. */
const answers: Readonly<Record<string, readonly [status: number, type: string, body: string]>> = {
  json: [200, "application/json", "{\"x\":1,\"data\":[1,2]}"],
  list: [200, "application/json", "[{\"x\":1},{\"x\":2}]"],
  text: [200, "text/plain", "héllo"],
  empty: [200, "application/json", ""],
  file: [200, "image/png", "no real picture"],
  error: [404, "application/json", "{\"message\":\"no\"}"]
}

/** A server that records what n8n sends: method, address, headers and body, with one boundary for all forms. */
const sink = Effect.suspend(() => {
  const requests: Array<Obj> = []
  const server = listening(async (request, response) => {
    const { connection: _, host: __, ...headers } = request.headers
    const { method, url = "" } = request
    const body = Buffer.concat(await request.toArray()).toString()
    const boundary = /boundary=(\S+)/.exec(headers["content-type"] ?? "")?.[1] ?? "\0"
    const text = JSON.stringify({ body, headers, method, url })
    requests.push(JSON.parse(text.replaceAll(boundary, "boundary")) as Obj)
    const [path = ""] = url.split("?")
    const kind = path.split("/").at(-1) ?? ""
    const [status, type, answer] = answers[kind] ?? [404, "text/plain", "?"]
    if (kind === "hop") response.writeHead(302, { location: path.replace("hop", "json") }).end()
    else response.writeHead(status, { "content-type": type, date: "now" }).end(answer)
  })
  return Effect.map(server, (url) => ({ requests, url }))
})

const address = "http://sink.invalid"
const at = (kind: string) => `${address}/${kind}`
const parameter = (...list: ReadonlyArray<readonly [name: string, value: string]>) =>
  list.map(([name, value]) => ({ name, value }))
const split = { splitIntoItems: true }
const odd = parameter(["a", "={{ $json.a }}"], ["b c", "=x {{ $json.b }}"], ["a", "ü&=?"])
const post = { requestMethod: "POST" }

/** Type, version and parameters. */
type Case = readonly [type: string, version: number, parameters: Obj]

const requests: ReadonlyArray<Case> = [
  ...["json", "list", "hop", "error", "empty"].flatMap((kind): ReadonlyArray<Case> => [
    ["httpRequest", 1, { url: at(kind), options: { ...split, ignoreResponseCode: kind === "error" } }],
    ["httpRequest", 3, { url: at(kind), method: "POST", options: {} }]
  ]),
  ...["file", "text", "json"].map((kind): Case => ["httpRequest", 1, {
    ...post,
    url: at(kind),
    responseFormat: "file",
    bodyParametersUi: { parameter: odd }
  }]),
  ...["json", "form-urlencoded", "multipart-form-data"].map((bodyContentType): Case => ["httpRequest", 1, {
    ...post,
    url: at("json"),
    options: { ...split, bodyContentType, useQueryString: true, bodyContentCustomMimeType: "" },
    bodyParametersUi: { parameter: parameter(["a.b", "1"], ["c", "=x {{ $json.b }}"], ["c", "last"]) },
    headerParametersUi: { parameter: parameter(["X-A", "1"], ["Accept", "text/x"], ["x-a", "2"]) },
    queryParametersUi: { parameter: parameter(["q", "1"], ["q", "ü"]) }
  }]),
  ...["={{ $json.a }}", "={{ JSON.stringify($json) }}", ""].map((bodyParametersJson): Case => [
    "httpRequest",
    2,
    {
      requestMethod: "PUT",
      url: at("json"),
      jsonParameters: true,
      options: split,
      bodyParametersJson,
      headerParametersJson: "{\"X-Test\":\"1\"}",
      queryParametersJson: "={{ { q: $json.b } }}"
    }
  ]),
  ["httpRequest", 1, {
    ...post,
    url: at("json"),
    jsonParameters: true,
    responseFormat: "file",
    options: { bodyContentType: "raw", bodyContentCustomMimeType: "text/xml" },
    bodyParametersJson: "=<a>{{ $json.a }}</a>"
  }],
  ...[3, 4.2].flatMap((version): ReadonlyArray<Case> => [
    ["httpRequest", version, {
      url: at("hop"),
      method: "POST",
      sendQuery: true,
      queryParameters: { parameters: odd },
      sendHeaders: true,
      headerParameters: { parameters: parameter(["X-A", "1"], ["X-A", "2"]) },
      sendBody: true,
      bodyParameters: { parameters: parameter(["a.b", "={{ $json.a }}"], ["c[0]", "1"]) }
    }],
    ["httpRequest", version, {
      url: at("json"),
      method: "POST",
      sendBody: true,
      contentType: "multipart-form-data",
      bodyParameters: { parameters: parameter(["a", "1"], ["a", "=x {{ $json.b }}"]) }
    }]
  ]),
  ["graphql", 1, { endpoint: at("json"), query: "{ a }" }],
  ["graphql", 1, { endpoint: at("json"), requestFormat: "json", query: "{ a }", variables: "={{ {} }}" }]
]

const computing: ReadonlyArray<Case> = [
  ...[1, 2].flatMap((version) =>
    [undefined, "csv"].map((fileFormat): Case => ["spreadsheetFile", version, {
      operation: "toFile",
      ...(fileFormat === undefined ? {} : { fileFormat }),
      options: fileFormat === "csv"
        ? { headerRow: false, fileName: "={{ $json.b }}.{{ $parameter[\"fileFormat\"] }}" }
        : {}
    }])
  ),
  ["htmlExtract", 1, {
    dataPropertyName: "b",
    extractionValues: { values: [{ key: "x", cssSelector: "b", returnValue: "html", returnArray: true }] }
  }],
  ["html", 1, { html: "<b>{{ $json.a }}</b>" }],
  ["html", 1, { operation: "convertToHtmlTable" }],
  ["convertToFile", 1, { operation: "toBinary", sourceProperty: "b" }]
]

/** Adds the tests of these nodes to a suite; the releases do not differ in them. */
export const upgradingRequests = (it: Vitest.MethodsNonLive<RealN8n>) => {
  it.effect("upgraded nodes send the same requests, and give the same items", () =>
    Effect.gen(function*() {
      const { apiKey, url, version } = yield* RealN8n
      const [old, made] = [yield* sink, yield* sink]
      const all = [...requests, ...computing].map(([type, at, parameters], index) => ({
        ...node(`${index}`, type, at, parameters),
        id: randomUUID()
      }))
      const before = { nodes: all, connections: {} }
      const lookups = yield* NodeLookups.make(Upgrade.types(before), version)
      const outcome = Upgrade.upgrade(before, undefined, lookups)
      assert.isAbove(outcome.upgraded.length, 25)
      const place = (value: Obj, index: number, url: string) =>
        JSON.parse(JSON.stringify({ ...value, id: undefined }).replaceAll(address, `${url}/${index}`)) as Obj
      const pairs = all.flatMap((each, index): ReadonlyArray<Pair> => {
        const after = Workflow.nodes(outcome.workflow)[index] ?? {}
        return after === each ? [] : [{
          id: `${index} ${each.type} ${each.typeVersion} ${JSON.stringify(each.parameters)}`,
          before: place(each, index, old.url),
          after: place(after, index, made.url),
          sets: [[...oddItems[0] ?? [], ...(oddItems[3] ?? []).slice(0, 2)].slice(1, 4)]
        }]
      })
      const result = yield* differences({ url: url.href, apiKey: Redacted.value(apiKey) }, pairs)
      assert.deepStrictEqual(result.differences, [])
      const failures = pairs.map((_, index) => result.results.get(`before ${index} 0`)?.error !== undefined)
      for (const [index, { id }] of pairs.entries()) {
        const prefix = `/${id.split(" ")[0] ?? ""}/`
        const [sent, resent] = [old, made].map(({ requests }) =>
          requests.filter(({ url }) => String(url).startsWith(prefix)).map(canonical).toSorted()
        )
        if (failures[index] === true) assert.includeMembers(resent ?? [], sent ?? [], id)
        else assert.deepStrictEqual(resent, sent, id)
      }
      assert.isAbove(old.requests.length, 50)
    }).pipe(Effect.scoped, Effect.provide(catalogue), scenarios.live), 120_000)

  it.effect("n8n starts upgraded triggers, and webhooks answer as before", () =>
    Effect.gen(function*() {
      const { version } = yield* RealN8n
      const path = randomUUID()
      const item = ["everyMinute", "everyHour", "everyDay", "everyWeek", "everyMonth", "everyX"].map((mode) => ({
        mode
      }))
      const nodes = [
        node("Cron", "cron", 1, {
          triggerTimes: { item: [...item, { mode: "custom", cronExpression: "0 9 * * 1-5" }] }
        }),
        node("Every", "interval", 1, { unit: "minutes", interval: 15 }),
        node("Schedule", "scheduleTrigger", 1, { rule: { interval: [{ field: "weeks", triggerAtDay: [1, 3] }] } }),
        node("Form", "formTrigger", 2.1, { path: `${path}-form`, formTitle: "t" }, { webhookId: randomUUID() }),
        node("Hook", "webhook", 1, {
          path,
          httpMethod: "POST",
          responseMode: "responseNode",
          options: {}
        }, { webhookId: randomUUID() }),
        node("Answer", "respondToWebhook", 1, {
          respondWith: "json",
          responseBody: "={{ { x: $json.body.a } }}",
          options: { responseCode: 201 }
        }),
        node("Coded", "webhook", 1.1, { path: `${path}-coded`, httpMethod: "POST", responseCode: 202, options: {} }, {
          webhookId: randomUUID()
        })
      ]
      const before = { nodes, connections: joined(["Hook", "Answer"]) }
      const lookups = yield* NodeLookups.make(Upgrade.types(before), version)
      const after = Upgrade.upgrade(before, undefined, lookups)
      assert.deepStrictEqual(after.left, [])
      const answersOf = Effect.fnUntraced(function*(workflow: Obj) {
        const id = yield* scenarios.create(Object.assign({ name: `Triggers ${randomUUID()}`, settings: {} }, workflow))
        yield* scenarios.publish(id)
        const answers = []
        for (const each of [path, `${path}-coded`]) {
          const { body, status } = yield* scenarios.callWebhook(each, { body: { a: 1 } })
          answers.push([status, obj(body)?.["x"]])
        }
        yield* scenarios.remove(id)
        return answers
      })
      const answers = yield* answersOf(before)
      assert.deepStrictEqual(answers, [[201, 1], [202, undefined]])
      assert.deepStrictEqual(yield* answersOf(after.workflow), answers)
    }).pipe(Effect.provide(catalogue), scenarios.live), 60_000)
}
