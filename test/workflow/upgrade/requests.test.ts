import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import * as Workflow from "../../../src/n8n/model/Workflow.ts"
import * as Schedules from "../../../src/workflow/Schedules.ts"
import * as requests from "../../../src/workflow/upgrade/requests.ts"
import * as Upgrade from "../../../src/workflow/upgrade/Upgrade.ts"
import * as NodeLookups from "../../../src/workflows/NodeLookups.ts"
import { catalogue } from "../../support/catalogue.ts"
import { random } from "../../support/random.ts"
import { joined, node, workflow } from "../../support/workflows.ts"

const types = [...Object.keys(requests.steps), ...Object.keys(requests.successors)]
const short = (type: string) => type.replace(/^.*\./, "")

const lookups = Effect.provide(
  NodeLookups.make([
    ...types,
    ...Object.values(requests.successors).flatMap(({ to }) => to),
    ...["set", "noOp", "code", "if"].map((name) => `n8n-nodes-base.${name}`)
  ]),
  catalogue
)

const upgrade = Effect.fnUntraced(function*(nodes: ReadonlyArray<Obj>, connections: Obj = {}) {
  const before = workflow("w", nodes, { connections })
  const known = yield* lookups
  const outcome = Upgrade.upgrade(before, ["要求"], known)
  // Upgrading again changes nothing.
  assert.strictEqual(Upgrade.upgrade(outcome.workflow, ["要求"], known).workflow, outcome.workflow)
  const after = Workflow.nodes(outcome.workflow).find(({ name }) => name === "要求") ?? {}
  return { after, left: outcome.left }
})

const hour = { timeout: 3_600_000 }
const stays = { redirect: { redirect: { followRedirects: false } } }
const json = { response: { response: { responseFormat: "json" } } }
const split = { splitIntoItems: true }
const fields = (...list: ReadonlyArray<readonly [name: string, value: string]>) =>
  list.map(([name, value]) => ({ name, value }))
const url = "https://example.com/花"

/** Type, version, parameters; what it becomes and its parameters, or why it is left. */
type Row = readonly [type: string, version: number, before: Obj, to: string, after: Obj | RegExp]

const rows: ReadonlyArray<Row> = [
  ["iCal", 1, { start: "2024-02-01", title: "花" }, "convertToFile 1.1", {
    operation: "iCal",
    start: "2024-02-01",
    title: "花"
  }],
  ["readBinaryFile", 1, { filePath: "/a" }, "readBinaryFile 1", /fields and files/],
  ["readBinaryFiles", 1, { fileSelector: "/a/*.csv" }, "readWriteFile 1", /there is not a file/],
  ["readBinaryFiles", 1, { fileSelector: "/a/[0-9].csv" }, "readBinaryFiles 1", /brackets/],
  ["workflowTrigger", 1, { events: ["update"] }, "n8nTrigger 1", { events: ["update"] }],
  ["httpRequest", 1, { url, options: split }, "httpRequest 4.5", { url, options: { ...json, ...hour } }],
  ["httpRequest", 1, { url }, "httpRequest 1", /list/],
  ["httpRequest", 1, { url, responseFormat: "string" }, "httpRequest 1", /JSON/],
  ["httpRequest", 2, { url, responseFormat: "file", dataPropertyName: "f", options: {} }, "httpRequest 4.5", {
    url,
    options: { response: { response: { responseFormat: "file", outputPropertyName: "f" } }, ...hour }
  }],
  [
    "httpRequest",
    1,
    {
      url,
      requestMethod: "POST",
      authentication: "headerAuth",
      allowUnauthorizedCerts: true,
      options: { ...split, timeout: 5000, batchSize: 2, batchInterval: 10 },
      bodyParametersUi: { parameter: fields(["a", "1"], ["a", "2"]) },
      headerParametersUi: { parameter: fields(["X-A", "1"], ["x-a", "2"]) },
      queryParametersUi: { parameter: fields(["q", "1"], ["q", "2"]) }
    },
    "httpRequest 4.5",
    {
      method: "POST",
      url,
      authentication: "genericCredentialType",
      genericAuthType: "httpHeaderAuth",
      sendQuery: true,
      queryParameters: { parameters: fields(["q", "1"], ["q", "2"]) },
      sendHeaders: true,
      headerParameters: { parameters: fields(["x-a", "2"]) },
      sendBody: true,
      bodyParameters: { parameters: fields(["a", "2"]) },
      options: {
        batching: { batch: { batchSize: 2, batchInterval: 10 } },
        allowUnauthorizedCerts: true,
        ...stays,
        ...json,
        timeout: 5000
      }
    }
  ],
  [
    "httpRequest",
    1,
    {
      url,
      requestMethod: "POST",
      jsonParameters: true,
      options: { ...split, bodyContentType: "raw" },
      bodyParametersJson: "=<a>{{ $json.a }}</a>"
    },
    "httpRequest 4.5",
    {
      method: "POST",
      url,
      sendBody: true,
      contentType: "raw",
      rawContentType: "application/x-www-form-urlencoded",
      body: "=<a>{{ $json.a }}</a>",
      options: { ...stays, ...json, ...hour }
    }
  ],
  [
    "httpRequest",
    1,
    {
      url,
      requestMethod: "PUT",
      jsonParameters: true,
      options: split,
      bodyParametersJson: "={{ $json.x }}",
      queryParametersJson: "={{ $json }}"
    },
    "httpRequest 4.5",
    {
      method: "PUT",
      url,
      sendQuery: true,
      specifyQuery: "json",
      jsonQuery: "={{ (value => typeof value === \"string\" ? value || \"{}\" : JSON.stringify(value))($json) }}",
      sendBody: true,
      specifyBody: "json",
      jsonBody: "={{ (body => body === \"\" ? null : body)($json.x) }}",
      options: { ...stays, ...json, ...hour }
    }
  ],
  [
    "httpRequest",
    1,
    {
      url,
      requestMethod: "POST",
      jsonParameters: true,
      sendBinaryData: true,
      binaryPropertyName: "a:data, b:other",
      options: { ...split, bodyContentType: "multipart-form-data" }
    },
    "httpRequest 4.5",
    {
      method: "POST",
      url,
      sendBody: true,
      contentType: "multipart-form-data",
      bodyParameters: {
        parameters: [
          { parameterType: "formBinaryData", name: "a", inputDataFieldName: "data" },
          { parameterType: "formBinaryData", name: "b", inputDataFieldName: "other" }
        ]
      },
      options: { ...stays, ...json, ...hour }
    }
  ],
  [
    "httpRequest",
    3,
    { url, options: {}, sendBody: true, bodyParameters: { parameters: fields(["a.b", "1"]) } },
    "httpRequest 4.5",
    {
      url,
      options: stays,
      sendBody: true,
      specifyBody: "json",
      jsonBody: "{\n  \"a.b\": \"1\"\n}"
    }
  ],
  [
    "httpRequest",
    4.2,
    {
      url,
      authentication: "predefinedCredentialType",
      nodeCredentialType: "slackApi",
      sendQuery: true,
      queryParameters: { parameters: fields(["q", "1"], ["q", "2"]) }
    },
    "httpRequest 4.5",
    {
      url,
      authentication: "predefinedCredentialType",
      nodeCredentialType: "slackApi",
      sendQuery: true,
      queryParameters: { parameters: fields(["q", "2"]) },
      options: { sendCredentialsOnCrossOriginRedirect: true }
    }
  ],
  [
    "httpRequest",
    4.1,
    {
      url,
      sendBody: true,
      contentType: "multipart-form-data",
      bodyParameters: { parameters: fields(["a", "={{ $json.list }}"]) }
    },
    "httpRequest 4.1",
    /form field/
  ],
  ["graphql", 1, { endpoint: url, query: "{ a }" }, "graphql 1.1", {
    endpoint: url,
    query: "{ a }",
    requestFormat: "graphql"
  }],
  ["webhook", 1, { path: "p", responseCode: 201, options: {} }, "webhook 2.1", {
    path: "p",
    options: { responseCode: { values: { responseCode: "customCode", customCode: 201 } } }
  }],
  ["webhook", 1, { path: "p", options: { binaryData: true } }, "webhook 1", /file/],
  ["webhook", 1.1, { path: "p", responseMode: "responseNode" }, "webhook 1.1", /Respond to Webhook/],
  ["respondToWebhook", 1.3, { options: {} }, "respondToWebhook 1.5", { options: {}, enableResponseOutput: true }],
  ["respondToWebhook", 1, {}, "respondToWebhook 1.5", {}],
  ["formTrigger", 2, { path: "p", formTitle: "t", options: {} }, "formTrigger 2.6", {
    formTitle: "t",
    options: { useWorkflowTimezone: false, path: "p" }
  }],
  [
    "form",
    1,
    {
      formFields: { values: [{ fieldLabel: "a", fieldName: "b", fieldType: "dropdown", multiselect: true }] }
    },
    "form 2.5",
    { formFields: { values: [{ fieldLabel: "a", fieldType: "checkbox" }] } }
  ],
  [
    "scheduleTrigger",
    1.1,
    { rule: { interval: [{ field: "minutes", minutesInterval: 90 }] } },
    "scheduleTrigger 1.2",
    /minutesInterval 90/
  ],
  [
    "cron",
    1,
    { triggerTimes: { item: [{ mode: "everyWeek", weekday: "0" }, { mode: "everyX", value: 5 }] } },
    "scheduleTrigger 1.4",
    {
      rule: {
        interval: [
          { field: "weeks", weeksInterval: 1, triggerAtDay: [0], triggerAtHour: 14, triggerAtMinute: 0 },
          { field: "cronExpression", expression: "0 0 */5 * * *" }
        ]
      }
    }
  ],
  ["cron", 1, { triggerTimes: { item: [{ hour: "={{ 3 }}" }] } }, "cron 1", /expression/],
  ["interval", 1, { unit: "minutes", interval: 120 }, "scheduleTrigger 1.4", {
    rule: { interval: [{ field: "hours", hoursInterval: 2 }] }
  }],
  ["interval", 1, { interval: 7 }, "interval 1", /divides/],
  ["interval", 1, { unit: "minutes", interval: 90 }, "interval 1", /divides/],
  ["interval", 1, { interval: 100 }, "interval 1", /divides/],
  ["emailSend", 1, { text: "t", toEmail: "a@b.c", attachments: "f", options: {} }, "emailSend 2.1", {
    text: "t",
    html: "",
    toEmail: "a@b.c",
    emailFormat: "both",
    options: { fileAttachments: "f", appendAttribution: false }
  }],
  ["readWriteFile", 1, { fileSelector: "/x" }, "readWriteFile 1", /fails/],
  ["readWriteFile", 1, { operation: "write", fileName: "/x" }, "readWriteFile 1.1", {
    operation: "write",
    fileName: "/x"
  }],
  [
    "editImage",
    1,
    { operation: "multiStep", operations: { operations: [{ operation: "text" }, { operation: "blur" }] } },
    "editImage 1.1",
    {
      operation: "multiStep",
      operations: {
        operations: [{ operation: "text", horizontalAlignment: "west", verticalAlignment: "north" }, {
          operation: "blur"
        }]
      }
    }
  ],
  ["html", 1, { operation: "extractHtmlContent", extractionValues: { values: [{ key: "a" }] } }, "html 1.1", /text/],
  ["htmlExtract", 1, { extractionValues: { values: [{ key: "a", returnValue: "html" }] } }, "html 1.2", {
    operation: "extractHtmlContent",
    extractionValues: { values: [{ key: "a", returnValue: "html" }] },
    options: { trimValues: true }
  }],
  ["readPDF", 1, {}, "extractFromFile 1.1", { operation: "pdf", options: { keepSource: "binary" } }],
  ["writeBinaryFile", 1, { fileName: "/x" }, "readWriteFile 1.1", { operation: "write", fileName: "/x" }],
  [
    "spreadsheetFile",
    1,
    {
      operation: "toFile",
      fileFormat: "csv",
      options: { fileName: "=a.{{ $parameter[\"fileFormat\"] }}", headerRow: false }
    },
    "convertToFile 1.1",
    { operation: "csv", options: { headerRow: false, fileName: "=a.{{ \"csv\" }}" } }
  ],
  ["spreadsheetFile", 1, {}, "spreadsheetFile 1", /format/]
]

const garbage = (next: (below: number) => number, depth = 3): unknown => {
  const scalars = ["", "=", "={{ $json.a }}", "={{", null, 0, -1, 1e9, true, false, "a", [], {}]
  const pick = next(depth === 0 ? scalars.length : scalars.length + 4)
  if (pick < scalars.length) return scalars[pick]
  return pick % 2 === 0
    ? Array.from({ length: next(3) }, () => garbage(next, depth - 1))
    : Object.fromEntries(keys.slice(next(keys.length)).slice(0, 3).map((key) => [key, garbage(next, depth - 1)]))
}

const keys = (
  "parameter parameters values item interval operations name value field mode unit fieldType fieldName multiselect " +
  "redirect response returnValue batch operation"
).split(" ")

describe("upgrades of nodes that send, receive and start", () => {
  it.effect("gives each the parameters with the same meaning, or leaves it with the reason", () =>
    Effect.gen(function*() {
      for (const [type, version, parameters, to, expected] of rows) {
        const { after, left } = yield* upgrade([node("要求", type, version, parameters)])
        const label = `${type} ${version} ${JSON.stringify(parameters).slice(0, 100)}`
        assert.strictEqual(`${short(Workflow.typeOf(after))} ${String(after["typeVersion"])}`, to, label)
        if (expected instanceof RegExp) assert.match(left[0]?.why ?? "", expected, label)
        else assert.deepStrictEqual([after["parameters"], left], [expected, []], label)
      }
    }))

  it.effect("makes of an interval a schedule with the same distance between all starts, or leaves it", () =>
    Effect.gen(function*() {
      const lengths = { seconds: 1, minutes: 60, hours: 3600 }
      const known = yield* lookups
      const utc = DateTime.zoneMakeNamedUnsafe("UTC")
      let upgraded = 0
      for (const [unit, length] of Object.entries(lengths)) {
        for (let interval = -1; interval <= 5400; interval += interval < 100 ? 0.5 : 10) {
          const label = `${interval} ${unit}`
          const { left, workflow: { nodes } } = Upgrade.upgrade(
            workflow("w", [node("要求", "interval", 1, { unit, interval })]),
            ["要求"],
            known
          )
          if (left.length > 0) continue
          upgraded++
          const schedule = obj(arr(nodes)[0]) ?? {}
          assert.deepStrictEqual(Schedules.never(schedule, false), [], label)
          const [timing] = Schedules.ofNode(schedule, { isV1: false }) ?? []
          assert(timing !== undefined, label)
          const starts: Array<number> = []
          for (const time of Schedules.starts(timing, Date.parse("2026-11-23T14:20:30Z"), utc)) {
            if (starts.push(time) === 40) break
          }
          const gaps = new Set(starts.slice(1).map((time, at) => time - (starts[at] ?? 0)))
          assert.deepStrictEqual([...gaps], [interval * length * 1000], label)
        }
      }
      // 11 divisors below 60 for seconds and minutes, 7 below 24 for hours, and those written in a smaller unit.
      assert.isAbove(upgraded, 29)
    }))

  it.effect("reads from what follows which response a request gets, and whether more fields matter", () =>
    Effect.gen(function*() {
      const after = (next: Obj, first: Obj) =>
        Effect.map(upgrade([first, next], joined(["要求", "Next"])), ({ left }) => left.map(({ why }) => why))
      const set = (value: string) =>
        node("Next", "set", 3.4, { assignments: { assignments: [{ name: "x", value, type: "string", id: "1" }] } })
      const old = node("要求", "httpRequest", 1, { url })
      assert.deepStrictEqual(yield* after(set("={{ $json.name }}"), old), [])
      assert.deepStrictEqual(yield* after(set("={{ $node[\"要求\"].json[\"name\"] }}"), old), [])
      for (const value of ["={{ $json[0].name }}", "={{ $json.length }}", "={{ 1 }}"]) {
        assert.match((yield* after(set(value), old))[0] ?? "", /list/, value)
      }
      const text = node("要求", "httpRequest", 1, { url, responseFormat: "string" })
      assert.deepStrictEqual(yield* after(set("={{ $json.data.split('\\n') }}"), text), [])
      assert.match((yield* after(set("={{ $json.data.name }}"), text))[0] ?? "", /JSON/)
      const failing = { ...node("要求", "httpRequest", 4.2, { url }), onError: "continueRegularOutput" }
      assert.deepStrictEqual(yield* after(set("={{ $json.error.message }}"), failing), [])
      for (
        const next of [set("={{ JSON.stringify($json) }}"), node("Next", "code", 2, { jsCode: "return $input.all()" })]
      ) {
        assert.match((yield* after(next, failing))[0] ?? "", /details/)
      }
    }))

  it.effect("keeps the starts of schedules", () =>
    Effect.gen(function*() {
      const next = random(7)
      const modes = ["everyMinute", "everyHour", "everyDay", "everyWeek", "everyMonth", "everyX", "custom"]
      const expressions = ["0 9 * * 1-5", " */7 * * * * ", "30 0 6-12 * * *", "0 0 29 2 *"]
      for (let round = 0; round < 30; round++) {
        const time = () => ({
          mode: modes[next(modes.length)],
          hour: next(24),
          minute: next(60),
          weekday: String(next(7)),
          dayOfMonth: 1 + next(31),
          value: 1 + next(70),
          unit: "minutes",
          cronExpression: expressions[next(expressions.length)]
        })
        const cron = node("要求", "cron", 1, { triggerTimes: { item: [time(), time()] } })
        const { after } = yield* upgrade([cron])
        const starts = [cron, after].map((each) =>
          Schedules.upcoming(
            { nodes: [each], settings: { timezone: "America/New_York" } },
            { after: Date.UTC(2026, 9, 25), count: 80, isV1: false }
          )?.starts
        )
        assert.deepStrictEqual(starts[1], starts[0], JSON.stringify([cron["parameters"], after["parameters"]]))
      }
    }))

  it.effect("takes any parameters", () =>
    Effect.gen(function*() {
      const known = yield* lookups
      const next = random(11)
      for (const type of types) {
        const versions = known.find(type)?.descriptions.flatMap(({ version }) => version) ?? []
        const names = [
          ...new Set(known.find(type)?.descriptions.flatMap(({ properties }) => properties.map(({ name }) => name)))
        ]
        for (let round = 0; round < 25; round++) {
          const parameters = Object.fromEntries(names.filter(() => next(3) > 0).map((name) => [name, garbage(next)]))
          const version = versions[next(versions.length)]
          yield* upgrade([node("要求", short(type), Number(version), parameters)])
        }
      }
    }))
})
