import { assert, describe, it } from "@effect/vitest"
import * as WatchReport from "../../../src/app/report/WatchReport.ts"
import type { Incident } from "../../../src/watch/Incident.ts"

const incident = (more: Partial<Incident> = {}): Incident => ({
  kind: "failed",
  key: "failed:1",
  workflowId: "w1",
  workflowName: "注文",
  at: "2026-03-29T00:30:00.000Z",
  count: 2,
  what: "'注文' failed at 'Pay': card declined",
  cause: "first seen with version 267a4eeb",
  look: { tool: "get_execution", arguments: { id: "812" } },
  ...more
})

const context = { program: "effect-n8n-mcp --profile prod", zone: "Europe/Berlin" }

describe("a report of a watch", () => {
  it("is a line with time, kind, sentences and the command that looks into it", () => {
    assert.strictEqual(
      WatchReport.line(incident(), context, false),
      "2026-03-29 01:30  failed        '注文' failed at 'Pay': card declined. First seen with version 267a4eeb.  effect-n8n-mcp --profile prod why 812"
    )
    const summer = WatchReport.line(incident({ at: "2026-03-29T01:30:00.000Z", what: "It failed" }), context, true)
    assert.include(summer, "2026-03-29 03:30  \u001b[31mfailed")
    assert.include(summer, "  '注文': It failed. ")
  })

  it("names a command that asks the same, whatever is in the arguments", () => {
    const command = (look: Incident["look"]) =>
      WatchReport.line(incident({ ...look && { look } }), { program: "x", zone: "UTC" }, false).split("  x ")[1]
    assert.strictEqual(
      command({ tool: "list_executions", arguments: { workflowId: "w1", status: "crashed" } }),
      "executions --workflow w1 --status crashed"
    )
    assert.strictEqual(command({ tool: "get_execution", arguments: { id: "7", sortBy: "time" } }), "why 7")
    assert.strictEqual(
      command({ tool: "credential_test", arguments: { id: "it's; rm -rf" } }),
      "call credential_test '{\"id\":\"it'\\''s; rm -rf\"}'"
    )
    assert.strictEqual(command({ tool: "instance_overview", arguments: {} }), "doctor")
  })

  it("as a message has at most 3,000 characters, and counts the others", () => {
    const all = Array.from(
      { length: 100 },
      (_, at) => incident({ key: `failed:${at}`, what: `${at} ${"x".repeat(500)}` })
    )
    const { incidents, text } = WatchReport.message(all, "n8n.example.com", context)
    assert.isAtMost(text.length, 3_000)
    assert.strictEqual(incidents.length, 100)
    const [head = "", ...rest] = text.split("\n\n")
    assert.strictEqual(head, "n8n at n8n.example.com: 100 new incidents (times in CET)")
    assert.strictEqual(rest.at(-1), `… and ${101 - rest.length} more`)
    assert.isAtLeast(rest.length, 5)
    assert.strictEqual(WatchReport.message(all.slice(0, 1), "h", context).text.split("\n\n").length, 2)
  })

  it("mentions, links to and reveals nothing that is in names and messages", () => {
    const hostile = incident({
      workflowName: "<!channel> @everyone [win](https://evil.test) *bold*",
      what: "It failed with Authorization: Bearer abcdef0123456789abcdef0123456789\u202e",
      cause: "<https://evil.test|n8n> said `no`"
    })
    const { incidents, text } = WatchReport.message([hostile], "h", context)
    assert.notMatch(text, /[<>*`]|@everyone|\]\(|abcdef0123456789|\u202e/)
    assert.notMatch(JSON.stringify(incidents), /abcdef0123456789|\u202e/)
    assert.strictEqual(incidents[0]?.workflowName, hostile.workflowName)
  })
})
