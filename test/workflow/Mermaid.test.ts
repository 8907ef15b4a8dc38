import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Connections from "../../src/n8n/model/Connections.ts"
import * as Workflow from "../../src/n8n/model/Workflow.ts"
import { flowchart } from "../../src/workflow/Mermaid.ts"
import { build, node, Recipe } from "../executions/runData.ts"
import { namesOf } from "../support/outputNames.ts"
import * as fixtures from "../support/scenarios/recorded.ts"
import { rounds } from "../support/seed.ts"
import { to } from "../support/workflows.ts"

const chartOf = (name: fixtures.Name) => {
  const { connections, nodes } = Schema.decodeUnknownSync(Workflow.Workflow)(fixtures.workflow(name))
  return draw(nodes, connections).split("\n")
}

const draw = (nodes: Parameters<typeof flowchart>[0], connections: Connections.Connections) =>
  flowchart(nodes, connections, namesOf)

const connections = Schema.decodeUnknownSync(Connections.Connections)

/** Nothing that Mermaid reads as syntax; its entities are `#` and a number. */
const text = "(?:[\\p{L}\\p{M}\\p{N} .,:!?_+=*/@%&-]|#\\d+;)*"
const line = new RegExp(
  [
    `^ {2}n\\d+\\["${text}"\\]$`,
    `^ {2}n\\d+ (?:-->|-\\.->)(?:\\|"${text}"\\|)? n\\d+$`,
    "^ {2}classDef disabled stroke-dasharray: 4 4$",
    "^ {2}class n\\d+(?:,n\\d+)* disabled$"
  ].join("|"),
  "u"
)

const assertSafe = (chart: string, nodes: number) => {
  const [head, ...rest] = chart.split("\n")
  assert.strictEqual(head, "flowchart LR")
  for (const one of rest) assert.match(one, line)
  const boxes = rest.flatMap((one) => /^ {2}(n\d+)\["/.exec(one)?.[1] ?? [])
  assert.deepStrictEqual(boxes, Array.from({ length: nodes }, (_, index) => `n${index}`))
  const ids = rest.flatMap((one) => one.replaceAll(/"[^"]*"/g, "").match(/n\d+/g) ?? [])
  assert.isTrue(ids.every((id) => boxes.includes(id)))
}

/** As Mermaid shows it. */
const shown = (label: string) => label.replaceAll(/#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))

describe("flowchart", () => {
  it("draws a branch", () => {
    assert.deepStrictEqual(chartOf("branch"), [
      "flowchart LR",
      ...["Webhook", "Ten Items", "Even?", "Evens", "Odds"].map((name, index) => `  n${index}["${name}"]`),
      ...["n0 --> n1", "n1 --> n2", "n2 -->|\"true\"| n3", "n2 -->|\"false\"| n4"].map((link) => `  ${link}`)
    ])
  })

  it("labels loops, error outputs and second inputs", () => {
    assert.include(chartOf("loop"), "  n2 -->|\"done\"| n4")
    assert.include(chartOf("loop"), "  n2 -->|\"loop\"| n3")
    assert.include(chartOf("loop"), "  n3 --> n2")
    assert.include(chartOf("contErr"), "  n1 -->|\"error\"| n2")
    assert.include(chartOf("merge"), "  n2 -->|\"main#91;0#93; to main#91;1#93;\"| n3")
    assert.include(chartOf("merge"), "  n1 --> n3")
  })

  it("dots what sub-nodes lend, and dashes what is disabled", () => {
    const nodes = [node("Model"), node("Agent"), ...["Off", "Too"].map((name) => node(name, "x", { disabled: true }))]
    const chart = draw(nodes, connections({ Model: { ai_languageModel: [[to("Agent", "ai_languageModel")]] } }))
    assert.deepStrictEqual(chart.split("\n").slice(5), [
      "  n0 -.->|\"ai_languageModel\"| n1",
      "  classDef disabled stroke-dasharray: 4 4",
      "  class n2,n3 disabled"
    ])
  })

  it("leaves out links to and from nodes that are not there", () => {
    const chart = draw([node("A")], connections({ A: { main: [[to("gone")], null] }, gone: { main: [[to("A")]] } }))
    assert.strictEqual(chart, "flowchart LR\n  n0[\"A\"]")
    assert.strictEqual(draw([], {}), "flowchart LR")
  })

  it("takes the last connected output of a node it does not know for the error output", () => {
    const classifier = node("A", "n8n-nodes-acme.classifier", { onError: "continueErrorOutput" })
    const out = connections({ A: { main: [[to("B")], [to("B")], [to("B")]] } })
    const arrows = draw([classifier, node("B")], out).split("\n").slice(3)
    assert.deepStrictEqual(arrows, ["  n0 --> n1", "  n0 -->|\"main#91;1#93;\"| n1", "  n0 -->|\"error\"| n1"])
  })

  it("shows any name, and parses no name as syntax", () => {
    const names = [
      "say \"hi\"",
      "a]; b[c](d){e}|f|<g>`h`#i;\\j",
      "end",
      "click n0 call",
      "%%{init: {}}%% x",
      "請求書を送信（月次）",
      "주문 확인",
      "हिन्दी ไทย が",
      "إرسال",
      "🚚👨‍👩‍👧",
      "\ud83d",
      "&quot;",
      "- dash",
      " ",
      "1. Fetch",
      "two\nlines\r\n--> n9"
    ]
    const rule = (outputKey: string) => ({ renameOutput: true, outputKey })
    const chart = draw(
      names.map((name) =>
        node(name, "n8n-nodes-base.switch", { typeVersion: 3, parameters: { rules: { values: [rule(name), {}] } } })
      ),
      connections(Object.fromEntries(names.map((name) => [name, { main: [[to(names[0] ?? "")]] }])))
    )
    assertSafe(chart, names.length)
    const boxes = chart.split("\n").flatMap((one) => /^ {2}n\d+\["(.*)"\]$/.exec(one)?.[1] ?? [])
    assert.deepStrictEqual(boxes.map(shown), names)
    for (const name of ["請求書を送信（月次）", "주문 확인", "إرسال", "हिन्दी ไทย が"]) {
      assert.include(chart, name.replaceAll(/[（）]/g, (sign) => `#${sign.codePointAt(0)};`))
    }
    assert.include(chart, "\"1#46; Fetch\"")
    const labels = chart.split("\n").flatMap((one) => /\|"(.*)"\|/.exec(one)?.[1] ?? [])
    assert.deepStrictEqual(labels.map(shown), names)
  })

  it.prop("is safe for any names", { names: Schema.Array(Schema.String) }, ({ names }) => {
    const distinct = [...new Set(names)]
    const links = Object.fromEntries(distinct.map((name) => [name, { [name]: [[], [to(distinct[0] ?? "", name, 3)]] }]))
    assertSafe(draw(distinct.map((name) => node(name)), connections(links)), distinct.length)
  }, { arbitrary: { runs: rounds(300), size: 20 } })

  it.prop("has an arrow for each link between nodes that are there", { recipe: Recipe }, ({ recipe }) => {
    const { connections, nodes } = build({ ...recipe, odd: false, maxItems: 0 })["workflowData"] as {
      readonly connections: Connections.Connections
      readonly nodes: ReadonlyArray<ReturnType<typeof node>>
    }
    const chart = draw(nodes, connections)
    assertSafe(chart, nodes.length)
    const names = new Set(nodes.map(({ name }) => name))
    const links = Connections.links(connections).filter(({ from, to }) => names.has(from) && names.has(to))
    assert.strictEqual(chart.match(/ (?:-->|-\.->)/g)?.length ?? 0, links.length)
  }, { arbitrary: { runs: rounds(40) } })
})
