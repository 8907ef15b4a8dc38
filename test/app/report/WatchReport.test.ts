import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
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
    assert.strictEqual(rest.at(-1), `and ${101 - rest.length} more`)
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

  /** Forms that one of the chats would show as a link, a mention, an emoji or markup. */
  const live: ReadonlyArray<RegExp> = [
    /[\p{L}\d]:\/\//u,
    /[a-z]:[^\s]/i,
    /[\p{L}\d-]\.[\p{L}]/u,
    /\d[․.]\d+[․.]\d+\.\d/,
    /\w[。．｡]\w/,
    /[@#&<>*`~|\\]/,
    /\]\(/,
    /(?<!\d):[\w+-]+:/,
    /(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/u
  ]

  const textOf = (more: Partial<Incident>) => WatchReport.message([incident(more)], "n8n.example.com", context).text

  const fragments = [
    "sign in again at https://evil.example/login",
    "evil.example/login",
    "www.evil.example",
    "пример.рф",
    "http://10.0.0.1/x",
    "http://localhost:8080",
    "mailto:a@evil.example",
    "tel:+49123456",
    "slack://open",
    "evil。example",
    "@alice",
    "@team",
    "@here",
    "<!channel>",
    "<@U1>",
    "[win](https://evil.example)",
    "![x](evil.example)",
    "~town-square",
    "#general",
    "# Heading",
    ":rotating_light:",
    ":+1:",
    ":100:",
    "_it_",
    "__all__",
    "||hidden||",
    "\\(\\href{x}{y}\\)",
    "&#64;here",
    "&commat;here",
    "`code`",
    "::1"
  ]

  it.effect.prop(
    "shows foreign texts as they are in every chat, whatever is beside them",
    [Schema.Array(Schema.Union([Schema.Literals(fragments), Schema.String])), Schema.Literals(fragments)],
    ([parts, last]) =>
      Effect.sync(() => {
        const name = [...parts, last].join("").slice(-60)
        const [, paragraph = ""] = textOf({ workflowName: last, what: `It failed: ${name}`, cause: name }).split("\n\n")
        const [foreign = ""] = paragraph.split(" → ")
        for (const form of live) assert.notMatch(foreign, form)
      })
  )

  it("leaves sentences, numbers and times as they are", () => {
    const what =
      "'order_items' took 1.5 s instead of 0.2 s. It began at 2026-11-23T21:44Z (22:44:07); n8n answered HTTP 502"
    assert.include(textOf({ what }), `${what}. First seen`)
    assert.include(textOf({}), "n8n at n8n.example.com: 1 new incident")
    const look = { tool: "list_executions", arguments: { startedAfter: "2026-11-23T21:44:07.018Z" } }
    assert.include(textOf({ look }), "prod executions --since 2026-11-23T21:44:07.018Z")
  })

  it.each([
    "`; rm -rf ~ #`",
    "$(id)",
    "'; id; '",
    "'".repeat(400),
    "x".repeat(400),
    "@here :tada: https://evil.example"
  ])(
    "names a command of which a shell makes one word of %s",
    (id) => {
      for (
        const look of [{ tool: "get_execution", arguments: { id } }, { tool: "credential_test", arguments: { id } }]
      ) {
        const [, command = ""] = textOf({ look }).split(" → effect-n8n-mcp --profile prod ")
        assert.match(command, /^(?:why|call credential_test) (?:'[^']*'|\\'|[\w…])+$/)
        assert.notMatch(command, /[@`~]|:\/\/|:tada:/)
      }
    }
  )
})
