import { assert, describe, it } from "@effect/vitest"
import * as SyncReport from "../../../src/app/report/SyncReport.ts"
import type * as Sync from "../../../src/sync/Sync.ts"

const screen = { width: 80, isColoured: false }

const entries: ReadonlyArray<Sync.Outcome> = [
  { status: "changed here", id: "1", name: "Send daily report", file: "send-daily-report.json", action: "updated" },
  { status: "changed here", id: "2", name: "Renamed", file: "before.json", held: ["name: \"Before\" → \"Renamed\""] },
  { status: "both", id: "3", name: "Both", file: "sub/both.json" },
  { status: "new there", id: "4", name: "Theirs\rsame" },
  { status: "new here", name: "Mine", file: "mine.json", action: "created", notPublished: true }
]

const result: Sync.Report<Sync.Outcome> = {
  entries,
  counts: {},
  isSame: false,
  hasConflicts: true,
  hasSecrets: false,
  hasErrors: true
}

describe("the report of a sync", () => {
  it("names a workflow by its file, with its name only if that says more, and prints what is done as a step", () => {
    assert.deepStrictEqual(entries.map((entry) => SyncReport.outcomeLine(entry, screen).split("\n")), [
      ["updated        send-daily-report.json"],
      ["held           before.json  Renamed", "               waits for --publish: name: \"Before\" → \"Renamed\""],
      ["both           sub/both.json"],
      ["new there      Theirs same  (4)"],
      ["created        mine.json"]
    ])
  })

  it("lists the others once, and counts all of them", () => {
    const { exit, text } = SyncReport.sync(result, { isOpen: true, listsNew: false })
    assert.deepStrictEqual(text(screen), [
      "both           sub/both.json",
      "1 updated, 1 held, 1 changed on both sides, 1 created but not published, 1 new there"
    ])
    assert.strictEqual(exit, 1)
    assert.include(SyncReport.sync(result, { isOpen: true }).text(screen), "new there      Theirs same  (4)")
    const [coloured] = SyncReport.sync(result, { isOpen: true }).text({ ...screen, isColoured: true })
    assert.include(coloured, "\u001b[31mboth\u001b[0m")
  })

  it("exits with 2 only for what a person has to decide", () => {
    const fine = { ...result, hasErrors: false }
    assert.deepStrictEqual(
      [true, false].map((isOpen) => SyncReport.sync(fine, { isOpen }).exit),
      [2, 0]
    )
  })
})
