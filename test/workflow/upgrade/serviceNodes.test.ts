import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import * as serviceNodes from "../../../src/workflow/upgrade/serviceNodes.ts"
import * as Upgrade from "../../../src/workflow/upgrade/Upgrade.ts"
import * as NodeLookups from "../../../src/workflows/NodeLookups.ts"
import { catalogue } from "../../support/catalogue.ts"
import { node, workflow } from "../../support/workflows.ts"
import { titled, upgrade, versionsOf } from "./upgrades.ts"

/** Type, version, parameters; the version it reaches, what its parameters then have; and what is left, in part. */
type Row = readonly [type: string, version: number, before: Obj, reached: number, after: Obj, left?: RegExp]

const sheet = { documentId: { __rl: true, mode: "id", value: "d" }, sheetName: { __rl: true, mode: "id", value: "0" } }
const auto = { mappingMode: "autoMapInputData", value: {}, matchingColumns: ["id"], schema: [{ id: "gone" }] }
const filter = (...values: ReadonlyArray<string>) => ({
  filtersUI: { values: values.map((lookupValue) => ({ lookupColumn: "a", lookupValue })) }
})
const columns = { mappingMode: "defineBelow", value: { a: "1" }, schema: [] }
const deal = { propertiesValues: { properties: ["a"] } }
const run = (query: string, values?: string) => ({
  operation: "executeQuery",
  query,
  ...values === undefined ? {} : { options: { queryReplacement: values } }
})
const photo = { botProfile: { imageValues: { icon_url: "u" } } }
const preview = "={{ !/(https?|ftp|file):\\/\\/\\S+|www\\.\\S+|\\S+\\.\\S+/.test($parameter.text) }}"

const rows: ReadonlyArray<Row> = [
  ["googleSheets", 4.5, { ...sheet, operation: "append", columns }, 4.7, { columns }],
  ["googleSheets", 4.3, { ...sheet, operation: "append", columns }, 4.3, { columns }, /lacks one of the listed/],
  ["googleSheets", 4.3, { ...sheet, operation: "appendOrUpdate", columns: auto }, 4.7, {
    columns: { ...auto, schema: [] }
  }],
  ["googleSheets", 4, { ...sheet, operation: "update", columns: auto }, 4.7, { options: { cellFormat: "RAW" } }],
  ["googleSheets", 3, { ...sheet, operation: "append", dataMode: "autoMapInputData" }, 4.7, {
    columns: { mappingMode: "autoMapInputData", value: {}, matchingColumns: [], schema: [] },
    dataMode: undefined
  }],
  ["googleSheets", 3, { ...sheet, operation: "append", dataMode: "defineBelow" }, 3, {}, /list of columns/],
  ["googleSheets", 4.4, { ...sheet, ...filter("x") }, 4.7, { options: { returnFirstMatch: true } }],
  ["googleSheets", 4.4, { ...sheet, ...filter("x", "y") }, 4.7, { combineFilters: undefined }],
  ["googleSheets", 4.4, { ...sheet, ...filter("x", "y"), combineFilters: "OR" }, 4.5, {}, /first match of any/],
  ["googleSheets", 4.2, { ...sheet, ...filter("x"), options: { returnAllMatches: "returnAllMatches" } }, 4.7, {
    options: {},
    combineFilters: "OR"
  }],
  ["googleSheets", 4.1, { ...sheet, ...filter("={{ $json.a }}") }, 4.1, {}, /combined into one reading/],
  ["googleSheets", 2, { sheetId: "d", range: "A:F" }, 2, { range: "A:F" }, /new node/],
  ["airtable", 2.1, { operation: "create", columns: auto }, 2.2, { columns: auto }],
  ["airtable", 2.1, { operation: "search" }, 2.1, {}, /`fields`/],
  ["airtable", 2, { operation: "search" }, 2, {}, /searches once/],
  ["airtable", 2, { resource: "base", operation: "getSchema" }, 2.2, {}],
  ["gmail", 2, { sendTo: "a@b.c", message: "m" }, 2.2, { emailType: undefined, options: { appendAttribution: false } }],
  ["gmail", 2.1, { operation: "reply" }, 2.1, {}, /Reply-To/],
  ["gmail", 2.1, { resource: "label", operation: "get" }, 2.2, {}],
  ["gmail", 2.1, { operation: "reply", options: { replyToRecipientsOnly: "={{ $json.x }}" } }, 2.1, {}, /Reply-To/],
  ["slack", 2, { text: "t" }, 2.7, { otherOptions: { includeLinkToWorkflow: "={{ undefined }}" } }],
  ["slack", 2, { text: "t", otherOptions: "={{ {} }}" }, 2, {}, /expression/],
  ["slack", 2.1, { resource: "file", operation: "upload" }, 2.1, {}, /uploaded/],
  ["slack", 2.2, { operation: "search", query: "q" }, 2.6, {}, /Real-time Search/],
  ["slack", 2.2, { authentication: "oAuth2", otherOptions: photo }, 2.5, {}, /photo/],
  ["telegram", 1, { text: "a" }, 1.2, {
    additionalFields: { appendAttribution: false, disable_web_page_preview: preview }
  }],
  ["telegram", 1.1, { operation: "sendPhoto" }, 1.2, { additionalFields: undefined }],
  ["telegram", 1.1, { text: "a", additionalFields: { disable_web_page_preview: true } }, 1.2, {
    additionalFields: { disable_web_page_preview: true }
  }],
  ["telegramTrigger", 1, { updates: ["message"] }, 1.2, {}, /wait at Telegram/],
  ["telegramTrigger", 1.1, { additionalFields: { chatIds: "1" } }, 1.1, {}, /ignored/],
  ["notion", 2, { resource: "block", operation: "getAll" }, 2.1, { simplifyOutput: false }, /address/],
  ["notion", 2.2, { resource: "databasePage", operation: "getAll" }, 2.2, {}, /data sources/],
  ["hubspot", 2, { resource: "contact" }, 2.2, { authentication: undefined }],
  ["hubspot", 2, { resource: "deal", operation: "getAll", filters: { propertiesCollection: deal } }, 2, {}, /deal/],
  [
    "googleCalendar",
    1.1,
    { operation: "update", updateFields: { attendees: ["a@b.c"], timezone: "UTC" } },
    1.3,
    { updateFields: { attendeesUi: { values: { attendees: ["a@b.c"], mode: "replace" } }, timezone: "UTC" } }
  ],
  ["googleCalendar", 1.2, { operation: "getAll", options: { singleEvents: true, timeMin: "={{ $now }}" } }, 1.3, {
    options: {},
    timeMin: "={{ $now }}",
    timeMax: ""
  }],
  ["googleCalendar", 1.2, { operation: "getAll" }, 1.2, {}, /recurring/],
  ["googleCalendar", 1.2, {}, 1.3, { start: "", end: "" }],
  ["postgres", 2.6, run("UPDATE a SET b = 1; DELETE FROM c"), 2.7, {}],
  ["postgres", 2.5, run("SELECT 1"), 2.6, {}, /dates/],
  ["postgres", 2.6, run("DELETE FROM c RETURNING *"), 2.6, {}, /dates/],
  ["postgres", 2.4, run("SELECT $1", "={{ 1 }}"), 2.4, run("SELECT $1", "={{ 1 }}"), /parameters/],
  ["mySql", 2.4, run("SELECT 1"), 2.5, {}],
  ["mySql", 2.4, run("SELECT $1, $2", "a,b"), 2.5, {}],
  ["mySql", 2.4, run("SELECT $1, $2", "a"), 2.4, run("SELECT $1, $2", "a"), /\$1/],
  ["mySql", 2.4, run("SELECT '$1'", "a"), 2.4, {}, /\$1/],
  ["whatsApp", 1, { operation: "send", textBody: "t" }, 1.1, {}],
  ["whatsApp", 1, { operation: "send", messageType: "contacts" }, 1, {}, /phone/],
  ["googleBooks", 1, { resource: "volume", operation: "get" }, 2, { authentication: "serviceAccount" }],
  ["github", 1, { resource: "file", operation: "get" }, 1.1, { authentication: undefined }]
]

describe("upgrading nodes of services", () => {
  it.each(titled(rows))("$name", ({ row: [type, version, before, reached, after, left] }) => {
    const outcome = upgrade([node("結果", type, version, before)])
    assert.strictEqual(outcome.node["typeVersion"], reached)
    for (const [key, value] of Object.entries(after)) assert.deepStrictEqual(outcome.parameters[key], value, key)
    if (left === undefined) assert.deepStrictEqual(outcome.left, [])
    else assert.match(`${outcome.left[0]?.why} ${outcome.left[0]?.decision}`, left)
  })

  it("lets a sheet be read once, as up to 4.1", () => {
    const { after } = upgrade([node("S", "googleSheets", 4.1, sheet), node("T", "googleSheetsTool", 4.1, sheet)])
    assert.deepStrictEqual(arr(after["nodes"]).map((each) => obj(each)?.["executeOnce"]), [true, undefined])
  })

  it.effect("stops at the newest version that the connected n8n has", () =>
    Effect.gen(function*() {
      const before = workflow("w", [node("S", "slack", 2.2, {})])
      const known = yield* NodeLookups.make(["n8n-nodes-base.slack"], "1.123.81")
      const { left, upgraded } = Upgrade.upgrade(before, undefined, known)
      assert.deepStrictEqual([upgraded.map(({ to }) => to), left], [["n8n-nodes-base.slack 2.4"], []])
    }).pipe(Effect.provide(catalogue)))

  it("names versions that exist, in ascending order", () => {
    for (const [type, steps] of Object.entries(serviceNodes.steps)) {
      const to = steps.map((step) => step.to)
      assert.deepStrictEqual(to, versionsOf(type).filter((version) => to.includes(version)), type)
    }
  })
})
