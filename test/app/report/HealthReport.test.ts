import { assert, describe, it } from "@effect/vitest"
import { displayWidth } from "effect/cli/CliOutput"
import { stripVTControlCharacters } from "node:util"
import * as HealthPage from "../../../src/app/report/HealthPage.ts"
import * as HealthReport from "../../../src/app/report/HealthReport.ts"
import type { Health } from "../../../src/watch/Health.ts"
import { week } from "../../support/scenarios/health.ts"

const context = { program: "effect-n8n-mcp", zone: undefined, host: "n8n.example.com" }

const text = (health: Health, width: number, isColoured = false) =>
  HealthReport.text(health, context, { width, isColoured })

/** Rows of the grid by the beginning of their names. */
const rowOf = (lines: ReadonlyArray<string>, name: string) => lines.find((line) => line.startsWith(name)) ?? ""

const healthy = (): Health => ({ ...week(), rows: [], shared: [], unknown: [], idle: 0, clock: {}, failed: 0 })

const hostile = (health: Health): Health => {
  const [first, ...rest] = health.rows
  const name = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u202e Bearer abcdef0123456789abcdef0123456789"
  return first === undefined ? health : {
    ...health,
    unknown: [name],
    rows: [
      {
        ...first,
        workflowId: "\"><b>/../x",
        workflowName: name,
        changes: [{ at: first.incidents[0]?.at ?? "", event: "published", version: "<b>\"'" }],
        incidents: first.incidents.map((each) => ({
          ...each,
          workflowId: "\"><b>/../x",
          what: name,
          cause: name,
          look: { tool: "get_execution", arguments: { id: name } },
          workflows: [{ id: name, name }]
        }))
      },
      ...rest
    ]
  }
}

describe("a health in a terminal", () => {
  it("shows a week at a glance: what happened to which workflow on which day", () => {
    const lines = text(week(), 80)
    assert.deepStrictEqual(lines.slice(0, 2), [
      "✗ n8n at n8n.example.com: 7 incidents in 4 workflows, 12 healthy, 3 published",
      "without a run"
    ])
    assert.strictEqual(
      lines[2],
      "2026-11-21 08:00 – 2026-11-28 08:00 (CET, Europe/Berlin): 25,392 runs, 16 failed"
    )
    assert.include(
      lines.join(" "),
      "n8n's clock is 2.4 s behind this computer's; its time zone is Europe/Berlin, as run 188 shows"
    )
    assert.match(lines.join("\n"), /Sa Su Mo Tu We Th Fr Sa\nWORKFLOW +21 22 23 24 25 26 27 28  FAILED  RUNS\n/)
    assert.match(rowOf(lines, "n8n, or several"), /workflows {18,}!$/)
    assert.match(rowOf(lines, "Sync orders to CRM"), /CRM +· {2}· {2}· {2}✗\+ ✗ {2}✗ {2}· {2}· +16 +384$/)
    assert.match(rowOf(lines, "Nightly export"), /export +(· {2}){6}○ {2}○ +0 +8$/)
    assert.match(rowOf(lines, "請求書"), /処理 {15,}… +0 +0$/)
    assert.match(rowOf(lines, "Runs of 12 healthy"), /( 3k){8}$/)
    assert.include(lines.join("\n"), "! unreachable   ✗ failed   ○ missed   ∞ stuck   … silent   ∅ empty   » slow")
    assert.notInclude(lines.join("\n"), "↓ unpublished")
  })

  it("then lists each incident with its time, cause and command, and last what is not known", () => {
    const lines = text(week(), 80)
    const from = lines.indexOf("Sync orders to CRM  cR5mSyNc9bVh4KqE")
    assert.deepStrictEqual(lines.slice(from + 1, from + 7), [
      "  2026-11-24 21:10  published version 267a4eeb",
      "  failed        2026-11-24 22:10 – 2026-11-26 09:10, 16 times",
      "    'Sync orders to CRM' failed at 'Upsert CRM contact': Your request is invalid",
      "    or could not be processed by the service (HTTP 422). First seen with version",
      "    267a4eeb, published at 2026-11-24T20:44Z.",
      "    effect-n8n-mcp why 239"
    ])
    assert.include(lines.join("\n"), "  missed        2026-11-27 02:10 – goes on, 2 times")
    assert.match(lines.at(-3) ?? "", /^Not known: Successful runs of 'Newsletter'/)
  })

  it.each([[7, 40], [7, 60], [7, 80], [14, 80], [18, 80], [31, 80], [31, 100], [31, 120], [31, 200]] as const)(
    "of %i days fits %i columns, with colours and names in Japanese, as days or else as weeks",
    (days, width) => {
      const plain = text(week(days), width)
      assert.deepStrictEqual(
        text(week(days), width, true).map((line) => stripVTControlCharacters(line).trimEnd()),
        plain
      )
      // A terminal wraps times and commands, which are never cut.
      const from = plain.indexOf("n8n, or several workflows")
      for (const line of width < 70 ? plain.slice(0, from) : plain) assert.isAtMost(displayWidth(line), width, line)
      const [, head = ""] = /^WORKFLOW (.*)$/m.exec(plain.join("\n")) ?? []
      assert.strictEqual(/\d–\d/.test(head), (days + 1) * 3 > width - 21, head)
      // The newest days are never left out.
      assert.match(rowOf(plain, "Nightly"), /○/)
    }
  )

  it("is short and green for a healthy n8n, and says what is not known of its clock", () => {
    const lines = text(healthy(), 100, true)
    assert.strictEqual(lines[0], "\u001b[32m✓\u001b[0m n8n at n8n.example.com: no incidents, 12 healthy")
    assert.include(lines.join(" "), "n8n's clock is not known; its time zone is not known: name it with --timezone")
    assert.isAtMost(lines.length, 9)
    const part = text({ ...healthy(), healthy: [], readFrom: "2026-11-25T07:00:00.000Z" }, 100)
    assert.include(part.join("\n"), "Runs are known from 2026-11-25 07:00 on")
    assert.notInclude(part.join("\n"), "WORKFLOW")
  })

  it("counts days in n8n's zone, or the one that the caller names, also over a change of the clock", () => {
    const health: Health = {
      ...week(),
      since: "2026-10-24T22:30:00.000Z",
      until: "2026-10-27T22:30:00.000Z",
      rows: [],
      healthy: []
    }
    const dates = (zone?: string) =>
      HealthReport.grid(health, { ...context, zone }, 31).columns.flatMap(({ dates }) => dates)
    assert.deepStrictEqual(dates(), ["2026-10-25", "2026-10-26", "2026-10-27"])
    assert.deepStrictEqual(dates("Asia/Tokyo"), ["2026-10-25", "2026-10-26", "2026-10-27", "2026-10-28"])
    assert.deepStrictEqual(dates("America/New_York"), ["2026-10-24", "2026-10-25", "2026-10-26", "2026-10-27"])
  })

  it("counts what is too long to show, and shows the most urgent of many incidents of a workflow", () => {
    const health = week()
    const [row] = health.rows
    const [failure] = row?.incidents ?? []
    if (row === undefined || failure === undefined) throw new Error("no row")
    const incidents = Array.from(
      { length: 30 },
      (_, at) => ({ ...failure, key: `${at}`, kind: at === 29 ? "failed" as const : "slow" as const })
    )
    const rows = Array.from({ length: 60 }, (_, at) => ({ ...row, workflowName: `Many ${at}`, incidents }))
    const lines = text({ ...health, rows }, 100)
    assert.isAtMost(lines.length, 1_000)
    assert.include(lines, "… and 21 workflows more: --json lists all")
    assert.include(lines, "… and 41 workflows more: --json lists all")
    assert.include(lines, "  … and 24 incidents more: --json lists all")
    assert.include(lines.slice(0, 80).join("\n"), "  failed        2026-11-24 22:10")
  })

  it("neither reveals secrets nor hides or reverses text", () => {
    const lines = text(hostile(week()), 80).join("\n")
    assert.notMatch(lines, /abcdef0123456789|\u202e/)
    assert.include(lines, "\\u202e")
  })
})

describe("a health as a page", () => {
  const instance = { url: "https://n8n.example.com/", key: "" }
  const page = (health: Health) => HealthPage.html(health, context, instance)

  it("is one file that loads and runs nothing, with the grid as a table and links to what its cells mean", () => {
    const html = page(week())
    assert.match(html, /^<!doctype html>\n<html lang="en">/)
    assert.notMatch(html, /<script|<link|<img|\ssrc=|url\(|@import|\son\w+=|\sstyle=/)
    assert.include(html, "default-src 'none'; style-src 'sha256-")
    assert.lengthOf(html.match(/<th scope="col"/g) ?? [], 11)
    assert.lengthOf(html.match(/<th scope="row"/g) ?? [], 6)
    const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    assert.strictEqual(new Set(ids).size, ids.length)
    for (const [, target] of html.matchAll(/href="#([^"]+)"/g)) assert.include(ids, target)
    assert.include(
      html,
      "<a class=\"cell bad\" href=\"#i2\" title=\"failed, empty; 48 runs, 3 of them failed\"><span aria-hidden=\"true\">✗ 3+</span><span class=\"sr\">failed, empty; 48 runs, 3 of them failed</span></a>"
    )
    assert.include(html, "href=\"https://n8n.example.com/workflow/cR5mSyNc9bVh4KqE/executions/239\"")
    assert.include(html, "<code>effect-n8n-mcp why 239</code>")
    assert.include(page(healthy()), "no incidents, 12 healthy")
  })

  it("escapes all that n8n says, and reveals no secrets", () => {
    const html = page(hostile(week()))
    assert.notMatch(html, /<script|<img|<b>"|abcdef0123456789|\u202e/)
    assert.include(html, "&lt;script&gt;alert(1)&lt;/script&gt;")
    for (const [, href = ""] of html.matchAll(/ href="([^"]*)"/g)) {
      assert.match(href, /^(#[iw]\d+|https:\/\/n8n\.example\.com\/workflow\/[\w%./-]+)$/)
    }
  })
})
