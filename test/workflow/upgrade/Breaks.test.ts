import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Hints from "../../../src/answer/Hints.ts"
import type { Obj } from "../../../src/base/Json.ts"
import { isNewer } from "../../../src/catalogue/types/Releases.ts"
import * as Breaks from "../../../src/workflow/upgrade/Breaks.ts"
import * as NodeLookups from "../../../src/workflows/NodeLookups.ts"
import { Json } from "../../support/arbitrary.ts"
import { catalogue } from "../../support/catalogue.ts"
import { node, workflow } from "../../support/workflows.ts"

const agent = "@n8n/n8n-nodes-langchain.agent"

const types = [
  ...["function", "start", "if", "set", "code", "executeWorkflow", "executeCommandTool", "gmailTrigger"].map((name) =>
    `n8n-nodes-base.${name}`
  ),
  agent
]

const Text = Schema.Union([Schema.Literals(["each", "=a", "={{ $env.a }}", "any", "python"]), Json])

const Node = Schema.Struct({
  name: Schema.Union([Schema.String, Json]),
  type: Schema.Union([Schema.Literals(Breaks.rules.flatMap(({ types = [] }) => types)), Json]),
  typeVersion: Schema.Union([Schema.Literals([1, 1.5, 2]), Json]),
  parameters: Schema.Union([
    Schema.Record(Schema.Literals(["agent", "mode", "options", "source", "workflowId", "jsCode", "language"]), Text),
    Json
  ]),
  alwaysOutputData: Schema.Union([Schema.Literal(true), Json]),
  onError: Json
})

/** Workflows of any shape, many with nodes that rules are about. */
const Workflow = Schema.Struct({
  id: Json,
  nodes: Schema.Union([Schema.Array(Schema.Union([Node, Json])), Json]),
  settings: Schema.Union([Schema.Struct({ callerPolicy: Text }), Json])
})

const lookups = await Effect.runPromise(Effect.provide(NodeLookups.make(types), catalogue))

/** Breaks of a workflow as `[since, node, rule]`. */
const of = (value: Obj, upgrade: Breaks.Upgrade, more: Partial<Breaks.Lookups> = {}) =>
  Breaks.find(value, upgrade, { ...lookups, ...more }).map(({ node, rule, since }) => [since, node, rule])

const nodes = (...each: ReadonlyArray<Obj>) => workflow("W", each)

describe("a target", () => {
  it.each([
    ...["3", "3.0", "v3", "V3", "03"].map((text) => [text, "3.0"]),
    [" 2.41.1 ", "2.41.1"],
    ["n8n@2.41.1", "2.41.1"],
    ["3.0.0-rc.1", "3.0.0"],
    ["1.123", "1.123"]
  ])("is a release as people write it: %s", (text = "", release = "") => {
    assert.deepStrictEqual(Breaks.parseTarget(text), Result.succeed(release))
  })

  const unknown = ["", "next", "latest", "three", "2.x", "2..1", "2.41.1.1", "-3", "3 0", "0.236", "4", "41.1", "３"]
  it.each([...unknown, "x".repeat(1e6)])("that is not a known release is refused: %.20s", (text) => {
    const refusal = Result.getOrThrow(Result.flip(Breaks.parseTarget(text)))
    assert.deepStrictEqual([refusal._tag, refusal.field], ["ValidationError", "to"])
    assert.include(Hints.text(refusal.hint), `up to n8n ${Breaks.newest}`)
    assert.isBelow(refusal.message.length, 100)
  })
})

describe("breaks", () => {
  const old = [
    node("古い関数", "function"),
    node("Go", "start"),
    node("Ask", agent, 1.5),
    node("Mail", "gmailTrigger", 1.2, {}, { disabled: true }),
    node("Fine", "set", 3.4),
    node("Run", "executeCommandTool")
  ]

  it("are those between two releases", () => {
    const [start, disabled] = [["2.0", "Go", "type-removed"], ["2.0", "Run", "type-disabled"]]
    const refused = ["2.42", "古い関数", "deprecated-refused"]
    const removed = ["3.0", "古い関数", "type-removed"]
    const changed = [["3.0", "Ask", "agent-version"], ["3.0", "Mail", "gmail-trigger"]]
    const rows: ReadonlyArray<readonly [from: string | undefined, to: string, breaks: ReadonlyArray<unknown>]> = [
      [undefined, "3.0", [removed, start, ...changed, disabled]],
      ["2.41.1", "3.0", [removed, ...changed]],
      ["2.41.1", "3.4", [removed, ...changed]],
      ["1.123.81", "2.0.0", [start, disabled]],
      ["2.41.1", "2.46.5", [refused]],
      ["2.42.6", "2.46.5", []],
      ["3.0", "3.0", []],
      ["2.0.1", "2.41.1", []]
    ]
    for (const [from, to, breaks] of rows) {
      const upgrade = from === undefined ? { to } : { from, to }
      assert.deepStrictEqual<unknown>(of(nodes(...old), upgrade), breaks, `${from} ${to}`)
    }
  })

  it("are of the settings, without a node", () => {
    const any = { ...workflow("W", []), settings: { callerPolicy: "any" } }
    assert.deepStrictEqual(of(any, { to: "3" }), [["3.0", undefined, "caller-policy-any"]])
    assert.deepStrictEqual(of({ settings: { callerPolicy: ["any"] } }, { to: "3" }), [])
  })

  it("name types and versions that an older target lacks", () => {
    const value = nodes(node("New", "gmailTrigger", 1.4), node("Old", "gmailTrigger", 1.2), node("None", "acme.x", 9))
    const lacking = (upgrade: Breaks.Upgrade) =>
      Breaks.find(value, upgrade, lookups).map(({ fix, node, what }) => [node, what, fix])
    const last = lookups.knownReleases.findLast((each) => lookups.isLackedIn("n8n-nodes-base.gmailTrigger", 1.4, each))
    if (last === undefined) return assert.fail("Every known release has version 1.4.")
    assert.deepStrictEqual(lacking({ from: lookups.release, to: last }), [[
      "New",
      `n8n ${last} does not have version 1.4 of this type yet.`,
      "Set typeVersion to 1.3 and adapt the parameters."
    ]])
    assert.deepStrictEqual(lacking({ from: lookups.release, to: lookups.release }), [])
    // The n8n before lacks it too: that is a problem of today.
    assert.deepStrictEqual(lacking({ from: "1.123", to: last }), [])
  })

  it("name removed types that have no rule", () => {
    const removed = (type: string) => type === "n8n-nodes-base.gone" ? "2.20" : undefined
    const value = nodes(node("A", "gone"), node("B", "set"))
    const knownReleases = ["1.123", "2.10", "2.20", "2.30", "2.41.1"]
    const upgrade = { from: "2.10", to: "2.41" }
    assert.deepStrictEqual(of(value, upgrade, { removed, knownReleases }), [["2.30", "A", "type-removed"]])
    assert.deepStrictEqual(of(value, { from: "2.30", to: "3.0" }, { removed, knownReleases }), [])
  })

  it("of a variable are its uses, not its mentions", () => {
    const code = (jsCode: string) => node(jsCode, "code", 2, { jsCode })
    const set = (value: string) => node(value, "set", 3.4, { assignments: [{ value }] })
    const uses = [
      ...["={{ $env.A }}", "=a {{ 1 }} b {{ f($env['A']) }}"].map(set),
      ...["return [{ json: { a: $env.A } }]", "return `${$env.A}` +", "const a = process.env.A"].map(code)
    ]
    const mentions = [
      ...["{{ $env.A }}", "=$env.A {{ 1 }}", "={{ 1 }} $env"].map(set),
      ...["// $env.A\nreturn '$env' + x.$environment", "return 1n"].map(code)
    ]
    assert.deepStrictEqual(
      of(nodes(...uses, ...mentions), { to: "2.0" }).map(([, name]) => name),
      uses.map(({ name }) => name)
    )
  })

  it("of a call depend on the workflow that it calls", () => {
    const call = (name: string, workflowId: unknown) => node(name, "executeWorkflow", 1.2, { workflowId })
    const waits = workflow("waits", [node("In", "executeWorkflowTrigger"), node("Wait", "wait")])
    const runs = workflow("runs", [node("In", "executeWorkflowTrigger"), node("Set", "set")])
    const value = nodes(
      call("A", "waits"),
      call("B", { __rl: true, value: "runs" }),
      call("C", "={{ $json.id }}"),
      call("D", "none")
    )
    const byId = new Map<string, Obj>([["waits", waits], ["runs", runs]])
    const found = of(value, { to: "2.0" }, { workflow: (id) => byId.get(id) })
    assert.deepStrictEqual(found.map(([, name]) => name), ["A", "C"])
    assert.deepStrictEqual(Breaks.asked(value, { to: "2.0" }), ["waits", "runs", "none"])
    assert.deepStrictEqual(Breaks.asked(value, { from: "2.41.1", to: "3.0" }), [])
  })

  it.prop("of any JSON are found without an exception", { value: Workflow }, ({ value }) => {
    const found = Breaks.find(value, { to: "3.0" }, { ...lookups, workflow: () => value })
    assert.deepStrictEqual(Schema.decodeUnknownSync(Schema.Array(Breaks.Break))(found), found)
    const named = Breaks.brief(found).flatMap((each) => "nodes" in each ? each.nodes : each.node ?? [])
    assert.sameMembers(named, found.flatMap(({ node }) => node ?? []))
    assert.isTrue(Breaks.asked(value, { to: "3.0" }).every((id) => typeof id === "string"))
  })

  it("have a source each, a known release and texts that are short", () => {
    for (const { fix, since, source, what } of Breaks.rules) {
      assert.match(source, /^https:\/\/|^[a-z-]+(-v[23])?$/)
      assert.isFalse(isNewer(since, Breaks.newest))
      assert.isBelow(what.length + fix.length, 260, what)
    }
  })
})

describe("breaks in brief", () => {
  const one = (node: string | undefined, more: Partial<Breaks.Break> = {}): Breaks.Break => ({
    since: "3.0",
    what: "Function is removed.",
    fix: "Use Code.",
    rule: "type-removed",
    severity: "error",
    ...node === undefined ? {} : { node },
    ...more
  })

  it("say once what several nodes share, errors first", () => {
    const since = "3.0"
    const warning = { what: "It differs.", fix: "Check it.", severity: "warning" as const }
    assert.deepStrictEqual(
      Breaks.brief([one("A", warning), one("B"), one("C"), one(undefined, { what: "Settings." })]),
      [
        { since, nodes: ["B", "C"], what: "Function is removed.", fix: "Use Code." },
        { since, what: "Settings.", fix: "Use Code." },
        { since, node: "A", what: "It differs.", fix: "Check it." }
      ]
    )
    assert.deepStrictEqual(Breaks.brief([]), [])
  })

  it("come with a remark about a target that is older, or newer than what is known", () => {
    assert.include(Breaks.remark({ from: "2.41.1", to: "2.10" }), "n8n 2.10 is older than this n8n (2.41.1)")
    assert.include(Breaks.remark({ from: "2.41.1", to: "3.2" }), `after n8n ${Breaks.newest}`)
    assert.isUndefined(Breaks.remark({ from: "2.41.1", to: "2.41.0" }))
    assert.isUndefined(Breaks.remark({ to: "3.0" }))
  })
})
