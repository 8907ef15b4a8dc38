import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Connections from "../../../src/n8n/model/Connections.ts"
import * as Workflow from "../../../src/n8n/model/Workflow.ts"
import * as fixtures from "../../support/scenarios/recorded.ts"
import { to } from "../../support/workflows.ts"

const recorded = (name: fixtures.Name) => Schema.decodeUnknownSync(Workflow.Workflow)(fixtures.workflow(name))

const connections = Schema.decodeUnknownSync(Connections.Connections)

/** An AI workflow, and what else n8n may keep. */
const agent = connections({
  Chat: { main: [[to("Agent")]] },
  Model: { ai_languageModel: [[to("Agent", "ai_languageModel")]] },
  Memory: { ai_memory: [[to("Agent", "ai_memory")]] },
  Search: { ai_tool: [[to("Agent", "ai_tool"), to("Other agent", "ai_tool", 1)]] },
  Agent: { main: [null, [], [to("Gone"), to("Log", "main", 2)]] },
  Nothing: { main: null },
  Empty: {}
})
describe("links", () => {
  it("are all connections in n8n's order", () => {
    const all = Connections.links(recorded("branch").connections)
    assert.deepStrictEqual(all.map(({ from, output, to }) => `${from} ${Connections.portLabel(output)} ${to}`), [
      "Webhook main[0] Ten Items",
      "Ten Items main[0] Even?",
      "Even? main[0] Evens",
      "Even? main[1] Odds"
    ])
  })

  it("skip outputs that are null or empty, and keep the index of those after them", () => {
    const output = { type: "main", index: 2 }
    assert.deepStrictEqual(Connections.links(agent).filter(({ from }) => from === "Agent"), [
      { from: "Agent", output, to: "Gone", input: { type: "main", index: 0 }, source: "Agent", position: 0 },
      { from: "Agent", output, to: "Log", input: { type: "main", index: 2 }, source: "Agent", position: 1 }
    ])
  })

  it("default to the first port of the same type", () => {
    const [link] = Connections.links(connections({ A: { ai_tool: [[{ node: "B" }]] } }))
    const port = { type: "ai_tool", index: 0 }
    assert.deepStrictEqual(link, { from: "A", output: port, to: "B", input: port, source: "A", position: 0 })
  })
})

describe("fromLinks", () => {
  it("writes what links reads", () => {
    const all = Connections.links(agent)
    assert.deepStrictEqual(Connections.links(Connections.fromLinks(all)), all)
    assert.deepStrictEqual(Connections.fromLinks(all)["Agent"], { main: [[], [], [to("Gone"), to("Log", "main", 2)]] })
  })

  it("keeps nodes with names of object members", () => {
    const port = { type: "main", index: 0 }
    const all = Connections.fromLinks([{ from: "__proto__", output: port, to: "constructor", input: port }])
    assert.deepStrictEqual(Object.entries(all), [["__proto__", { main: [[to("constructor")]] }]])
  })
})

describe("labels", () => {
  it("have the type, and the index unless it is obvious", () => {
    const ports = [{ type: "main", index: 0 }, { type: "main", index: 3 }]
    const tools = [{ type: "ai_tool", index: 0 }, { type: "ai_tool", index: 2 }]
    const labels = [...ports, ...tools].map(Connections.portLabel)
    assert.deepStrictEqual(labels, ["main[0]", "main[3]", "ai_tool", "ai_tool[2]"])
  })

  it("are needed only if a link is not main[0] to main[0]", () => {
    const first = { type: "main", index: 0 }
    const plain = (output: object, input: object) =>
      Connections.isPlain({ from: "A", to: "B", output: { ...first, ...output }, input: { ...first, ...input } })
    assert.isTrue(plain({}, {}))
    for (const odd of [{ index: 1 }, { type: "ai_tool" }]) {
      assert.isFalse(plain(odd, {}))
      assert.isFalse(plain({}, odd))
    }
  })
})

describe("outputName", () => {
  const none = undefined
  const names = (known: ReadonlyArray<string | undefined> | undefined, onError: string | null, count?: number) =>
    [0, 1, 2, 3, 4].map((index) =>
      Connections.outputName({ type: "any", onError }, { type: "main", index }, () => known, count)
    )

  it("is the type's name, and error for the output after the last", () => {
    assert.deepStrictEqual(names(["true", "false"], null), ["true", "false", none, none, none])
    assert.deepStrictEqual(names(["true", "false"], "continueErrorOutput", 5), ["true", "false", "error", none, none])
    assert.deepStrictEqual(names([none], "continueRegularOutput"), [none, none, none, none, none])
  })

  it("takes the last output for the error output if the outputs are not known", () => {
    const onError = "continueErrorOutput"
    assert.deepStrictEqual(names(none, onError), [none, "error", none, none, none])
    assert.deepStrictEqual(names(none, onError, 1), [none, "error", none, none, none])
    assert.deepStrictEqual(names(none, onError, 4), [none, none, none, "error", none])
    assert.deepStrictEqual(names(none, null), [none, none, none, none, none])
  })

  it("names main outputs only", () => {
    const shape = { type: "n8n-nodes-base.if", onError: "continueErrorOutput" }
    for (const index of [0, 1, 2]) {
      assert.isUndefined(Connections.outputName(shape, { type: "ai_tool", index }, () => ["true", "false"]))
    }
  })
})
