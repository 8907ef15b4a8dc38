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
    assert.match(Layout.time("2026-11-21T02:14:07.366Z"), /^2026-11-2\d \d\d:\d\d:07$/)
    assert.strictEqual(Layout.time(null), "")
  })
})
