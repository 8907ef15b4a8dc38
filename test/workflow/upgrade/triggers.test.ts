import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import type { Obj } from "../../../src/base/Json.ts"
import * as Schedules from "../../../src/workflow/Schedules.ts"
import { random } from "../../support/random.ts"
import { joined, node } from "../../support/workflows.ts"
import { becomes, type Row, titled, upgrade } from "./upgrades.ts"

const hour = { timeout: 3_600_000 }
const stays = { redirect: { redirect: { followRedirects: false } } }
const json = { response: { response: { responseFormat: "json" } } }
const split = { splitIntoItems: true }
const fields = (...list: ReadonlyArray<readonly [name: string, value: string]>) =>
  list.map(([name, value]) => ({ name, value }))
const url = "https://example.com/花"

const lists = {
  url,
  requestMethod: "POST",
  authentication: "headerAuth",
  allowUnauthorizedCerts: true,
  options: { ...split, timeout: 5000, batchSize: 2, batchInterval: 10 },
  bodyParametersUi: { parameter: fields(["a", "1"], ["a", "2"]) },
  headerParametersUi: { parameter: fields(["X-A", "1"], ["x-a", "2"]) },
  queryParametersUi: { parameter: fields(["q", "1"], ["q", "2"]) }
}
const put = { url, requestMethod: "PUT", jsonParameters: true, options: split }
const post = (bodyContentType: string) => ({ ...put, requestMethod: "POST", options: { ...split, bodyContentType } })
const posted = (contentType: string) => ({
  method: "POST",
  url,
  sendBody: true,
  contentType,
  options: { ...stays, ...json, ...hour }
})
const slack = { url, authentication: "predefinedCredentialType", nodeCredentialType: "slackApi", sendQuery: true }
const writing = { operation: "write", fileName: "/x" }
const steps = (text: Obj) => ({ operation: "multiStep", operations: { operations: [text, { operation: "blur" }] } })
const aligned = steps({ operation: "text", horizontalAlignment: "west", verticalAlignment: "north" })
const every = (field: string, count: number) => ({ rule: { interval: [{ field, [`${field}Interval`]: count }] } })
const list = { parameters: fields(["a", "={{ $json.list }}"]) }
const multipart = { url, sendBody: true, contentType: "multipart-form-data", bodyParameters: list }

const rows: ReadonlyArray<Row> = [
  ["iCal", 1, { start: "2024-02-01" }, "convertToFile 1.1", { operation: "iCal", start: "2024-02-01" }],
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
  ["httpRequest", 1, lists, "httpRequest 4.5", {
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
  }],
  ["httpRequest", 1, { ...post("raw"), bodyParametersJson: "=<a>{{ $json.a }}</a>" }, "httpRequest 4.5", {
    ...posted("raw"),
    rawContentType: "application/x-www-form-urlencoded",
    body: "=<a>{{ $json.a }}</a>"
  }],
  [
    "httpRequest",
    1,
    { ...put, bodyParametersJson: "={{ $json.x }}", queryParametersJson: "={{ $json }}" },
    "httpRequest 4.5",
    {
      method: "PUT",
      url,
      sendQuery: true,
      specifyQuery: "json",
      sendBody: true,
      specifyBody: "json",
      jsonQuery: "={{ (value => typeof value === \"string\" ? value || \"{}\" : JSON.stringify(value))($json) }}",
      jsonBody: "={{ (body => body === \"\" ? null : body)($json.x) }}",
      options: { ...stays, ...json, ...hour }
    }
  ],
  [
    "httpRequest",
    1,
    { ...post("multipart-form-data"), sendBinaryData: true, binaryPropertyName: "a:data, b:other" },
    "httpRequest 4.5",
    {
      ...posted("multipart-form-data"),
      bodyParameters: {
        parameters: [["a", "data"], ["b", "other"]].map(([name, inputDataFieldName]) => ({
          parameterType: "formBinaryData",
          name,
          inputDataFieldName
        }))
      }
    }
  ],
  [
    "httpRequest",
    3,
    { url, options: {}, sendBody: true, bodyParameters: { parameters: fields(["a.b", "1"]) } },
    "httpRequest 4.5",
    { url, options: stays, sendBody: true, specifyBody: "json", jsonBody: "{\n  \"a.b\": \"1\"\n}" }
  ],
  [
    "httpRequest",
    4.2,
    { ...slack, queryParameters: { parameters: fields(["q", "1"], ["q", "2"]) } },
    "httpRequest 4.5",
    {
      ...slack,
      queryParameters: { parameters: fields(["q", "2"]) },
      options: { sendCredentialsOnCrossOriginRedirect: true }
    }
  ],
  ["httpRequest", 4.1, multipart, "httpRequest 4.1", /form field/],
  ["graphql", 1, { endpoint: url }, "graphql 1.1", { endpoint: url, requestFormat: "graphql" }],
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
    { formFields: { values: [{ fieldLabel: "a", fieldName: "b", fieldType: "dropdown", multiselect: true }] } },
    "form 2.5",
    { formFields: { values: [{ fieldLabel: "a", fieldType: "checkbox" }] } }
  ],
  ["scheduleTrigger", 1.1, every("minutes", 90), "scheduleTrigger 1.2", /minutesInterval 90/],
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
  ["interval", 1, { unit: "minutes", interval: 120 }, "scheduleTrigger 1.4", every("hours", 2)],
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
  ["readWriteFile", 1, writing, "readWriteFile 1.1", writing],
  ["editImage", 1, steps({ operation: "text" }), "editImage 1.1", aligned],
  ["html", 1, { operation: "extractHtmlContent", extractionValues: { values: [{ key: "a" }] } }, "html 1.1", /text/],
  ["htmlExtract", 1, { extractionValues: { values: [{ key: "a", returnValue: "html" }] } }, "html 1.2", {
    operation: "extractHtmlContent",
    extractionValues: { values: [{ key: "a", returnValue: "html" }] },
    options: { trimValues: true }
  }],
  ["readPDF", 1, {}, "extractFromFile 1.1", { operation: "pdf", options: { keepSource: "binary" } }],
  ["writeBinaryFile", 1, { fileName: "/x" }, "readWriteFile 1.1", writing],
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

describe("upgrades of nodes that send, receive and start", () => {
  it.each(titled(rows))("$name", ({ row }) => becomes(row))

  it("make of an interval a schedule with the same distance between all starts, or leave it", () => {
    const lengths = { seconds: 1, minutes: 60, hours: 3600 }
    const utc = DateTime.zoneMakeNamedUnsafe("UTC")
    let upgraded = 0
    for (const [unit, length] of Object.entries(lengths)) {
      for (let interval = -1; interval <= 5400; interval += interval < 100 ? 0.5 : 50) {
        const label = `${interval} ${unit}`
        const { left, node: schedule } = upgrade([node("要求", "interval", 1, { unit, interval })])
        if (left.length > 0) continue
        upgraded++
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
  })

  const old = node("要求", "httpRequest", 1, { url })
  const text = node("要求", "httpRequest", 1, { url, responseFormat: "string" })
  const failing = { ...node("要求", "httpRequest", 4.2, { url }), onError: "continueRegularOutput" }
  const set = (value: string) =>
    node("Next", "set", 3.4, { assignments: { assignments: [{ name: "x", value, type: "string", id: "1" }] } })

  it.each<[first: Obj, next: Obj, why?: RegExp]>([
    [old, set("={{ $json.name }}")],
    [old, set("={{ $node[\"要求\"].json[\"name\"] }}")],
    [old, set("={{ $json[0].name }}"), /list/],
    [old, set("={{ $json.length }}"), /list/],
    [old, set("={{ 1 }}"), /list/],
    [text, set("={{ $json.data.split('\\n') }}")],
    [text, set("={{ $json.data.name }}"), /JSON/],
    [failing, set("={{ $json.error.message }}")],
    [failing, set("={{ JSON.stringify($json) }}"), /details/],
    [failing, node("Next", "code", 2, { jsCode: "return $input.all()" }), /details/]
  ])(
    "read from what follows which response a request gets, and whether more fields matter: %j %j",
    (first, next, why) => {
      const { left } = upgrade([first, next], joined(["要求", "Next"]), true)
      if (why === undefined) assert.deepStrictEqual(left, [])
      else assert.match(left[0]?.why ?? "", why)
    }
  )

  it("keep the starts of schedules", () => {
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
      const after = upgrade([cron]).node
      const [before, now] = [cron, after].map((each) =>
        Schedules.upcoming(
          { nodes: [each], settings: { timezone: "America/New_York" } },
          { after: Date.UTC(2026, 9, 25), count: 80, isV1: false }
        )?.starts
      )
      assert.deepStrictEqual(now, before, JSON.stringify([cron["parameters"], after["parameters"]]))
    }
  })
})
