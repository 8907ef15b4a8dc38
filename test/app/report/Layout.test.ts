import { assert, describe, it } from "@effect/vitest"
import { displayWidth } from "effect/cli/CliOutput"
import { stripVTControlCharacters } from "node:util"
import * as Layout from "../../../src/app/report/Layout.ts"

interface Row {
  readonly id: string
  readonly name: string
  readonly status: string
}

const columns: ReadonlyArray<Layout.Column<Row>> = [
  { title: "ID", of: ({ id }) => id, isRight: true },
  { title: "NAME", of: ({ name }) => name, min: 6 },
  { title: "STATUS", of: ({ status }) => status, colour: ({ status }) => Layout.statusColour(status) },
  { title: "EMPTY", of: () => "" }
]

const rows: ReadonlyArray<Row> = [
  { id: "1", name: "Sync orders to CRM", status: "success" },
  { id: "240", name: "請求書リマインダー", status: "error" },
  { id: "9", name: "👩‍💻 café", status: "waiting" }
]

/** Columns before a part of a line. */
const before = (line: string, part: string) => displayWidth(line.slice(0, line.indexOf(part)))

describe("Layout", () => {
  it("aligns wide names, which take two columns a character, and leaves out empty columns", () => {
    const [title = "", ...lines] = Layout.table(columns, rows, { width: 80, isColoured: false })
    assert.notInclude(title, "EMPTY")
    for (const [index, line] of lines.entries()) {
      assert.strictEqual(before(line, rows[index]?.status ?? ""), before(title, "STATUS"), line)
      assert.strictEqual(before(line, rows[index]?.name ?? ""), before(title, "NAME"), line)
    }
    assert.isTrue(lines[0]?.startsWith("  1  "))
  })

  it("fits every width, cutting names before other columns", () => {
    for (let width = 1; width <= 80; width++) {
      const lines = Layout.table(columns, rows, { width, isColoured: false })
      for (const line of lines) assert.isAtMost(displayWidth(line), width, `${width}: ${line}`)
      if (width >= 20) assert.include(lines[1], "success")
    }
    const [, , line] = Layout.table(columns, rows, { width: 24, isColoured: false })
    assert.strictEqual(line, "240  請求書リ…   error")
  })

  it("gives the space of a column that is left out to the others", () => {
    const wide = [...columns.slice(0, 2), { title: "AT", of: () => "2026-11-28 11:46:11" }]
    const [title = "", first = ""] = Layout.table(wide, rows, { width: 29, isColoured: false })
    assert.notInclude(title, "AT")
    assert.include(first, "Sync orders to CRM")
  })

  it("begins further lines of an entry below its second column, unless that leaves no room", () => {
    const line = "created        orders.json: a draft"
    assert.deepStrictEqual(Layout.inWidth(line, 34), ["created        orders.json: a", "               draft"])
    assert.deepStrictEqual(Layout.inWidth(line, 28), ["created        orders.json:", "a draft"])
    assert.deepStrictEqual(Layout.inWidth("  two words", 8), ["  two", "  words"])
    for (let width = 12; width < 40; width++) {
      for (const part of Layout.inWidth(line, width)) assert.isAtMost(displayWidth(part), width)
    }
  })

  it("colours statuses on request only, without moving columns", () => {
    const plain = Layout.table(columns, rows, { width: 80, isColoured: false })
    const coloured = Layout.table(columns, rows, { width: 80, isColoured: true })
    assert.notInclude(plain.join("\n"), "\u001b")
    assert.include(coloured[2], "\u001b[31merror\u001b[0m")
    assert.deepStrictEqual(coloured.map((line) => stripVTControlCharacters(line).trimEnd()), plain)
  })

  it("wraps between words and gives a long term a line of its own", () => {
    assert.deepStrictEqual(Layout.wrap("one two three", 7), ["one two", "three"])
    assert.deepStrictEqual(Layout.pairs([["a", "one two"], ["longer-than-that", "three"]], 12, 3), [
      "  a  one two",
      "  longer-than-that",
      "     three"
    ])
  })

  it("writes durations with the unit that fits", () => {
    assert.deepStrictEqual(
      [null, 0, 999, 1_500, 61_000, 21_720_000].map(Layout.duration),
      ["", "0 ms", "999 ms", "1.5 s", "1 min 1 s", "6 h 2 min"]
    )
    assert.match(Layout.exactTime("2026-11-21T02:14:07.366Z"), /^2026-11-2\d \d\d:\d\d:07$/)
    assert.strictEqual(Layout.time(null), "")
  })

  it("shows times in a zone and its short name, which summer time changes", () => {
    const [winter, summer] = ["2026-11-21T02:14:07.366Z", "2026-07-21T02:14:07.366Z"]
    assert.strictEqual(Layout.time(winter, "America/New_York"), "2026-11-20 21:14")
    assert.strictEqual(Layout.time(winter, "UTC", true), "2026-11-21 02:14:07")
    const names = ["America/New_York", "Europe/Berlin", "UTC"].map((zone) =>
      [winter, summer].map((iso) => Layout.zoneName(iso, zone)).join(" ")
    )
    assert.deepStrictEqual(names, ["EST EDT", "CET CEST", "UTC UTC"])
    assert.strictEqual(Layout.timeTitle("AT", [winter, null, winter]), `AT (${Layout.zoneName(winter)})`)
    assert.strictEqual(Layout.timeTitle("AT", [undefined]), "AT")
  })
})
