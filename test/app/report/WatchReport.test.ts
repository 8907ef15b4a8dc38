import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
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

const log = (isColoured = false) => ({ isColoured, width: Infinity })

const context = { program: "effect-n8n-mcp --profile prod", zone: "Europe/Berlin" }

describe("a report of a watch", () => {
  it("is a line with time, kind, sentences and the command that looks into it", () => {
    assert.strictEqual(
      WatchReport.lines(incident(), context, log()).join("\n"),
      "2026-03-29 01:30  failed        '注文' failed at 'Pay': card declined. First seen with version 267a4eeb.  effect-n8n-mcp --profile prod why 812"
    )
    const summer = WatchReport.lines(
      incident({ at: "2026-03-29T01:30:00.000Z", what: "It failed" }),
      context,
      log(true)
    ).join()
    assert.include(summer, "2026-03-29 03:30  \u001b[31mfailed")
    assert.include(summer, "  '注文': It failed. ")
  })

  it("has the times of its sentences in the zone of the others", () => {
    const cause = "its first failure since version 267a4eeb, published at 2026-03-29 00:20 UTC"
    const what = "It did not start at 2026-03-29 00:30 UTC and 2 later times, until 2026-03-29 01:30 UTC"
    const { text } = WatchReport.parts(incident({ what, cause }), context)
    assert.strictEqual(
      text,
      "It did not start at 2026-03-29 01:30 and 2 later times, until 2026-03-29 03:30. Its first failure since version 267a4eeb, published at 2026-03-29 01:20."
    )
  })

  it("names a command that asks the same, whatever is in the arguments", () => {
    const command = (look: Incident["look"]) =>
      WatchReport.lines(incident({ ...look && { look } }), { program: "x", zone: "UTC" }, log())[0]?.split("  x ")[1]
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

  it("of the past says how long it lasted and how often it occurred, in the width of a terminal", () => {
    const past = incident({ until: "2026-03-29T01:10:00.000Z", count: 3, isOver: true })
    // Of runs without items only some are read.
    const [empty] = WatchReport.lines({ ...past, kind: "empty" }, context, { isColoured: false, width: 60 })
    assert.strictEqual(empty, "empty         2026-03-29 01:30 – 03:10")
    assert.deepStrictEqual(WatchReport.lines(past, context, { isColoured: false, width: 60 }), [
      "failed        2026-03-29 01:30 – 03:10, 3 times",
      "  '注文' failed at 'Pay': card declined. First seen with",
      "  version 267a4eeb.",
      "  effect-n8n-mcp --profile prod why 812"
    ])
    const heading = (more: Partial<Incident>) =>
      WatchReport.lines({ ...past, ...more }, context, { isColoured: false, width: 60 })[0]?.slice(14)
    assert.strictEqual(heading({ isOver: false }), "2026-03-29 01:30 – goes on, 3 times")
    assert.strictEqual(
      heading({ until: "2026-03-30T08:00:00.000Z", count: 1 }),
      "2026-03-29 01:30 – 2026-03-30 10:00"
    )
    assert.strictEqual(heading({ until: past.at, count: 1 }), "2026-03-29 01:30")
  })

  const several = (count: number, name: (at: number) => string) =>
    incident({
      kind: "missed",
      what: `${count} workflows did not start as scheduled`,
      workflows: Array.from({ length: count }, (_, at) => ({ id: `w${at}`, name: name(at) }))
    })

  it("names the first ten of many workflows, and all of them in JSON", () => {
    const many = several(14, (at) => `Export ${at}`)
    const [line = ""] = WatchReport.lines(many, context, log())
    assert.include(line, "Workflows: 'Export 0', ")
    assert.include(line, "'Export 9' and 4 more.")
    assert.strictEqual(WatchReport.json(many).workflows?.length, 14)
    assert.notInclude(
      WatchReport.lines({ ...many, what: "'A' and 'B'", workflows: [{ id: "a", name: "A" }] }, context, log()).join(),
      "Workflows"
    )
  })

  it("as a message has at most 400 tokens, the most urgent first, and counts the others with their command", () => {
    const kinds = ["slow", "empty", "failed", "missed", "unreachable"] as const
    const names = [
      "Sync orders to CRM",
      "請求書リマインダーと入金確認の自動処理",
      "🧾🧾🧾🧾🧾🧾🧾🧾🧾🧾",
      "ẞ\u0301ⱦ".repeat(30),
      "x".repeat(500)
    ]
    for (const name of names) {
      for (const count of [1, 2, 5, 16, 100]) {
        const all = Array.from({ length: count }, (_, at) =>
          incident({
            kind: kinds[at % kinds.length] ?? "failed",
            key: `failed:${at}`,
            workflowName: name,
            what:
              `'${name}' failed at 'Upsert CRM contact ${at}': Your request is invalid or could not be processed by the service`,
            cause: `First seen with version 267a4eeb, published at 2026-11-24T20:44Z; ${name}`
          }))
        const { incidents, text } = WatchReport.message(all, "n8n.example.com", context)
        assert.isAtMost(countTokens(text), WatchReport.maxTokens, text)
        assert.strictEqual(incidents.length, count)
        const [head, ...paragraphs] = text.split("\n\n")
        assert.strictEqual(
          head,
          `n8n at n8n.example.com: ${count} new incident${count === 1 ? "" : "s"} (times in CET)`
        )
        const rest = paragraphs.at(-1)?.startsWith("and ") === true ? paragraphs.pop() : undefined
        assert.isAtLeast(paragraphs.length, 1, text)
        if (name === names[0] && count > 4) assert.isAtLeast(paragraphs.length, 4)
        const ranks = paragraphs.map((each) => / (\w+): /.exec(each)?.[1]).map((kind) =>
          Object.keys(WatchReport.kinds).indexOf(kind ?? "")
        )
        assert.deepStrictEqual(ranks, ranks.toSorted((a, b) => a - b))
        if (paragraphs.length === count) assert.isUndefined(rest)
        else {
          assert.match(
            rest ?? "",
            /^and \d+ more \((\d+ \w+(, )?)+\) → effect-n8n-mcp --profile prod health --since 2026-03-29T00:30Z$/
          )
          assert.include(rest, `and ${count - paragraphs.length} more`)
        }
      }
    }
    const text = WatchReport.message([several(500, (at) => `Export ${at}`)], "h", context).text
    assert.isAtMost(countTokens(text), WatchReport.maxTokens)
    assert.include(text, "more. → effect-n8n-mcp --profile prod why 812")
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
