import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Connections from "../../src/n8n/model/Connections.ts"
import * as Workflow from "../../src/n8n/model/Workflow.ts"
import * as Graph from "../../src/workflow/Graph.ts"
import { build, node, Recipe } from "../executions/runData.ts"
import { namesOf } from "../support/outputNames.ts"
import * as fixtures from "../support/scenarios/recorded.ts"
import { rounds } from "../support/seed.ts"
import { to } from "../support/workflows.ts"

const recorded = (name: fixtures.Name) => Schema.decodeUnknownSync(Workflow.Workflow)(fixtures.workflow(name))

const graphOf = (name: fixtures.Name) => {
  const { connections, nodes } = recorded(name)
  return Object.fromEntries(graph(nodes, connections).map(({ node, ...rest }) => [node, rest]))
}

const graph = (nodes: Parameters<typeof Graph.neighbours>[1], connections: Connections.Connections) =>
  Graph.neighbours(Graph.make(connections), nodes, namesOf)

const simplify = (nodes: Parameters<typeof Graph.simplify>[2], connections: unknown) => {
  const graph = Graph.make(connections)
  return Graph.simplify(graph, graph.links, nodes, namesOf)
}

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
const agentNodes = ["Chat", "Model", "Memory", "Search", "Agent", "Log", "Other agent", "Nothing", "Empty", "Alone"]
  .map((name) => node(name))

describe("neighbours", () => {
  it("has the neighbours of each node, and ports that are not the default", () => {
    assert.deepStrictEqual<unknown>(graphOf("branch"), {
      Webhook: { id: "h", type: "n8n-nodes-base.webhook", inputs: [], outputs: ["Ten Items"] },
      "Ten Items": { id: "tenitems", type: "n8n-nodes-base.code", inputs: ["Webhook"], outputs: ["Even?"] },
      "Even?": {
        id: "if",
        type: "n8n-nodes-base.if",
        inputs: ["Ten Items"],
        outputs: ["Evens", "Odds"],
        ports: [{ output: "main[1]", name: "false", to: "Odds", input: "main[0]" }]
      },
      Evens: { id: "evens", type: "n8n-nodes-base.code", inputs: ["Even?"], outputs: [] },
      Odds: { id: "odds", type: "n8n-nodes-base.code", inputs: ["Even?"], outputs: [] }
    })
  })

  it("has loops, error outputs and second inputs", () => {
    const port = (name: string, to: string) => [{ output: "main[1]", name, to, input: "main[0]" }]
    const { id: _, type: __, ...loop } = graphOf("loop")["Loop Over Items"] ?? {}
    assert.deepStrictEqual<unknown>(loop, {
      inputs: ["Twelve Items", "Inside"],
      outputs: ["Done", "Inside"],
      ports: port("loop", "Inside")
    })
    assert.deepStrictEqual<unknown>(graphOf("contErr")["Risky"]?.ports, port("error", "Handler"))
    const { A, B, Merge } = graphOf("merge")
    assert.deepStrictEqual<unknown>([A?.ports, B?.ports, Merge?.inputs], [
      undefined,
      [{ output: "main[0]", to: "Merge", input: "main[1]" }],
      ["A", "B"]
    ])
  })

  it("has the connections of sub-nodes, and links to missing nodes", () => {
    const rows = new Map(graph(agentNodes, agent).map((row) => [row.node, row]))
    assert.deepStrictEqual([...rows.keys()], agentNodes.map(({ name }) => name))
    const { id: _, type: __, ...row } = rows.get("Agent") ?? {}
    assert.deepStrictEqual<unknown>(row, {
      node: "Agent",
      inputs: ["Chat", "Model", "Memory", "Search"],
      outputs: ["Gone", "Log"],
      ports: [{ output: "main[2]", to: "Gone", input: "main[0]" }, { output: "main[2]", to: "Log", input: "main[2]" }]
    })
    assert.deepStrictEqual<unknown>(rows.get("Search")?.ports, [
      { output: "ai_tool", to: "Agent", input: "ai_tool" },
      { output: "ai_tool", to: "Other agent", input: "ai_tool[1]" }
    ])
    for (const name of ["Nothing", "Empty", "Alone"]) {
      const row = { node: name, id: `id of ${name}`, type: "n8n-nodes-base.code", inputs: [], outputs: [] }
      assert.deepStrictEqual<unknown>(rows.get(name), row)
    }
  })

  it("takes the last connected output of an unknown node for the error output", () => {
    const classifier = { onError: "continueErrorOutput" }
    const three = connections({ A: { main: [[to("B")], [to("C")], [to("D")]] } })
    const [row] = graph([node("A", "n8n-nodes-acme.classifier", classifier)], three)
    assert.deepStrictEqual(row?.ports?.map(({ name }) => name), [undefined, "error"])
  })
})

it("simplify has ports only for links that are not main[0] to main[0], also of nodes with odd names", () => {
  const branch = recorded("branch")
  assert.deepStrictEqual<unknown>(simplify(branch.nodes, branch.connections), {
    Webhook: [{ to: "Ten Items" }],
    "Ten Items": [{ to: "Even?" }],
    "Even?": [{ to: "Evens" }, { to: "Odds", output: "main[1]", name: "false", input: "main[0]" }]
  })
  const odd = connections(JSON.parse("{\"__proto__\":{\"main\":[[{\"node\":\"constructor\"}]]}}"))
  assert.strictEqual(JSON.stringify(simplify([], odd)), "{\"__proto__\":[{\"to\":\"constructor\"}]}")
})

describe("any connections", () => {
  const { connections: Shape, nodes: Nodes } = Workflow.Workflow.schema.fields

  it.prop("neighbours, simplify and links agree", { recipe: Recipe }, ({ recipe }) => {
    const workflow = build({ ...recipe, odd: false, maxItems: 0 })["workflowData"] as Record<string, unknown>
    const connections = Schema.decodeUnknownSync(Shape)(workflow["connections"])
    const nodes = Schema.decodeUnknownSync(Nodes)(workflow["nodes"])
    const links = Connections.links(connections)
    const rows = graph(nodes, connections)
    assert.strictEqual(rows.length, nodes.length)
    const simplified = Object.entries(simplify(nodes, connections))
      .flatMap(([from, out]) => out.map(({ to }) => `${from}>${to}`))
    assert.sameMembers(simplified, links.map(({ from, to }) => `${from}>${to}`))
    for (const { inputs, node, outputs, ports = [] } of rows) {
      const out = links.filter(({ from }) => from === node)
      assert.sameMembers([...outputs], [...new Set(out.map(({ to }) => to))])
      assert.sameMembers([...inputs], [...new Set(links.filter(({ to }) => to === node).map(({ from }) => from))])
      assert.strictEqual(ports.length, out.filter((link) => !Connections.isPlain(link)).length)
    }
  }, { arbitrary: { runs: rounds(40) } })
})

/** Links whose ends count how often they are read. */
const countedLinks = (links: ReadonlyArray<Connections.PlacedLink>) => {
  const counter = { reads: 0 }
  const read = <A>(value: A) => (counter.reads++, value)
  const all = links.map((link): Connections.PlacedLink => ({
    ...link,
    get from() {
      return read(link.from)
    },
    get to() {
      return read(link.to)
    }
  }))
  return { counter, all }
}

describe("a graph of 5,000 nodes and 20,000 links, most of them in loops", () => {
  const count = { nodes: 5_000, links: 20_000 }
  const names = Array.from({ length: count.nodes }, (_, index) => `N${index}`)
  // Each node leads to four others, some of them before it; every tenth serves the next.
  const connected = Connections.fromLinks([1, 7, 61, 4_900].flatMap((step) =>
    names.map((from, index) => {
      const port = { type: index % 10 === 9 ? "ai_tool" : "main", index: 0 }
      return { from, output: port, to: `N${(index + step) % count.nodes}`, input: port }
    })
  ))

  it.each<[string, (graph: Graph.Graph) => unknown]>([
    ["after", (graph) => Graph.after(graph, ["N0"])],
    ["after, without a node", (graph) => Graph.after(graph, ["N0"], "N7")],
    ["before", (graph) => Graph.before(graph, ["N0"])],
    ["withSubNodes", (graph) => Graph.withSubNodes(graph, names)],
    ["running", (graph) => Graph.running(graph, ["N0"])],
    ["outputTowards", (graph) => Graph.outputTowards(graph, "gone", "N0")],
    ["loops", Graph.loops],
    ["layers", (graph) => Graph.layers(graph, names)],
    ["the neighbours of all", (graph) => names.map((each) => Graph.around(graph, [each]))],
    ["the inputs of all", (graph) => names.map((each) => Graph.isFedTwice(graph, each))],
    ["the outputs of all", (graph) => names.map((each) => Graph.outputCount(graph, each))],
    ["neighbours", (graph) => Graph.neighbours(graph, names.map((each) => node(each)), namesOf)]
  ])("%s reads each link a few times", (_, read) => {
    const { all, counter } = countedLinks(Connections.links(connected))
    read(Graph.of(all))
    assert.isAtMost(counter.reads, 12 * (count.nodes + count.links))
  })

  it("is one loop but for the nodes that serve", () => {
    const graph = Graph.make(connected)
    const [loop = [], ...others] = Graph.loops(graph)
    assert.deepStrictEqual([others.length, new Set(loop).size], [0, loop.length])
    assert.strictEqual(loop.length, count.nodes * 9 / 10)
  })
})

describe("reach", () => {
  const graph = Graph.make({
    Start: { main: [[to("If")]] },
    If: { main: [[to("Yes")], [to("No")]] },
    Yes: { main: [[to("Merge")]] },
    No: { main: [[to("Merge", "main", 1), to("Back")]] },
    Back: { main: [[to("If")]] },
    Merge: { main: [[to("Agent")]] },
    Model: { ai_languageModel: [[to("Agent", "ai_languageModel")]] },
    Inner: { ai_tool: [[to("Model", "ai_tool")]] }
  })
  const sorted = (names: Iterable<string>) => [...names].toSorted()

  it("follows items, not sub-nodes", () => {
    assert.deepStrictEqual(sorted(Graph.after(graph, ["Yes"])), ["Agent", "Merge", "Yes"])
    assert.deepStrictEqual(sorted(Graph.after(graph, ["Start"], "If")), ["Start"])
    assert.deepStrictEqual(sorted(Graph.after(graph, ["If"], "If")), [])
    assert.deepStrictEqual(sorted(Graph.before(graph, ["No"])), ["Back", "If", "No", "Start"])
    assert.deepStrictEqual(Graph.next(graph, "If", 1), ["No"])
    assert.deepStrictEqual(Graph.previous(graph, "If"), ["Start", "Back"])
    assert.deepStrictEqual(Graph.served(graph, "Model"), ["Agent"])
  })

  it("adds sub-nodes at any depth", () => {
    assert.deepStrictEqual(sorted(Graph.withSubNodes(graph, ["Agent"])), ["Agent", "Inner", "Model"])
    assert.deepStrictEqual(sorted(Graph.running(graph, ["Merge"])), ["Agent", "Inner", "Merge", "Model"])
  })

  it("knows the output that leads to a node by the shortest way, loops, and inputs with two links", () => {
    const pairs = [["If", "Back"], ["If", "Yes"], ["Yes", "No"], ["Model", "Agent"]] as const
    assert.deepStrictEqual(pairs.map(([from, to]) => Graph.outputTowards(graph, from, to)), [
      1,
      0,
      undefined,
      undefined
    ])
    assert.deepStrictEqual(sorted(Graph.looping(graph)), ["Back", "If", "No"])
    assert.deepStrictEqual(Graph.loops(Graph.make({ A: { main: [[to("A")]] } })), [["A"]])
    assert.deepStrictEqual(["Merge", "If"].map((name) => Graph.isFedTwice(graph, name)), [false, true])
  })

  it("resolves ids as a repair does, and leaves out what is not there", () => {
    const workflow = {
      nodes: [{ id: "1", name: "A" }, { id: "2", name: "B" }, { id: "A", name: "C" }],
      connections: { "1": { main: [[to("2"), to("Gone")]] }, A: { main: [[to("C")]] }, Gone: { main: [[to("A")]] } }
    }
    assert.deepStrictEqual(
      Graph.resolved(workflow).links.map(({ from, source, to }) => [from, source, to]),
      [["A", "1", "B"], ["A", "A", "C"]]
    )
  })
})
