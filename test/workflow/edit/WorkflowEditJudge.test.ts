/** An edit connects exactly what validation accepts, for every type and version of the catalogue. */
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import type { Obj } from "../../../src/base/Json.ts"
import * as Turn from "../../../src/base/Turn.ts"
import * as NodeType from "../../../src/catalogue/types/NodeType.ts"
import * as Connections from "../../../src/n8n/model/Connections.ts"
import * as Checked from "../../../src/workflow/check/CheckedWorkflow.ts"
import { admits, connectionProblems } from "../../../src/workflow/check/Connection.ts"
import { all } from "../../support/nodeTypes.ts"
import { agent, ai, attempt, flow, hook, lookups, model, node, set } from "./edits.ts"

const known = lookups()
const unknown = node("Unknown", "n8n-nodes-acme.thing", 1)
const tool = (more: Obj = {}) => node("Tool", `${ai}toolCalculator`, 1, {}, more)
const partners = [set("Set"), hook, agent(), model("Model"), tool(), unknown]

/** The newest version of each description of each type. */
const nodes = [...all].flatMap(([type, nodeType]) =>
  nodeType.descriptions.flatMap(({ version }) => {
    const newest = Math.max(...[version].flat())
    return NodeType.at(nodeType, newest) === undefined ? [] : [node("X", type, newest)]
  })
)

/** Errors of validation about the ports of links. */
const errorsOf = (workflow: Obj) =>
  Turn.finish(connectionProblems(Turn.finish(Checked.make(workflow, known))))
    .filter(({ rule }) => rule === "connection-port" || rule === "too-many-connections")
    .map(({ message }) => message)

/** Compares the verdict of an edit with that of validation on the same link, beside links that are good. */
const compare = (nodes: ReadonlyArray<Obj>, link: Connections.Link, others: ReadonlyArray<Connections.Link> = []) => {
  const before = flow(nodes, Connections.fromLinks(others))
  const after = flow(nodes, Connections.fromLinks([...others, link]))
  const result = attempt(before, {
    op: "connect",
    from: link.from,
    to: link.to,
    sourceOutput: `${link.output.type}[${link.output.index}]`,
    targetInput: `${link.input.type}[${link.input.index}]`
  })
  const errors = errorsOf(after)
  const what = JSON.stringify([nodes.map(({ disabled, type, typeVersion }) => [type, typeVersion, disabled]), link])
  if (Result.isSuccess(result)) {
    assert.deepStrictEqual(errors, [], what)
    assert.deepStrictEqual(result.success.workflow["connections"], after["connections"], what)
  } else {
    assert.strictEqual(errors.length, 1, `${what}: ${result.failure.message}`)
    const [message] = errors
    if (!/ are connected: /.test(message ?? "")) assert.strictEqual(result.failure.message, message, what)
  }
}

const portsOf = (each: Obj) => {
  const { inputs, outputs } = Turn.finish(Checked.make({ nodes: [each] }, known)).nodes[0] ?? {}
  return { inputs: inputs ?? [], outputs: outputs ?? [] }
}

/** Ports of a side to try: those that there are, one beyond them, and those of another kind. */
const tried = (ports: ReadonlyArray<Connections.Port>) => {
  const all = [...ports, { type: "main", index: ports.length }, { type: "ai_tool", index: 0 }, {
    type: "main",
    index: 0
  }]
  return [...new Map(all.map(({ index, type }) => [`${type}[${index}]`, { type, index }])).values()].slice(-6)
}

describe("every type", () => {
  it.each(partners.map((partner) => [String(partner["name"]), partner] as const))("to and from %s", (name, partner) => {
    const there = portsOf(partner)
    for (const each of nodes) {
      const here = portsOf(each)
      const pair = [each, partner]
      for (const output of tried(here.outputs)) {
        compare(pair, { from: "X", output, to: name, input: { ...output, index: 0 } })
      }
      for (const input of tried(here.inputs)) {
        compare(pair, { from: name, output: { ...input, index: 0 }, to: "X", input })
      }
      const [output, input] = [here.outputs[0], there.inputs[0]]
      if (output && input && output.type !== input.type) compare(pair, { from: "X", output, to: name, input })
    }
  })
})

describe("every input for sub-nodes", () => {
  const read = (each: Obj) => Turn.finish(Checked.make({ nodes: [each] }, known)).nodes[0]
  const servers = Map.groupBy(
    nodes.filter((each) => portsOf(each).inputs.length === 0),
    (each) => portsOf(each).outputs[0]?.type
  )
  const pairs = nodes.flatMap((host) =>
    portsOf(host).inputs.flatMap((port) => {
      const server = servers.get(port.type)?.find((each) => {
        const node = read(each)
        return node !== undefined && admits(port, node)
      })
      return port.type === "main" || server === undefined ? [] : [{ host, port, server }]
    })
  )

  it("occurs", () => {
    assert.isAbove(pairs.length, 50)
    assert.isTrue(pairs.some(({ port }) => port.maxConnections === 1) && pairs.some(({ port }) => port.only))
  })

  const off = { disabled: true }
  it.each<[string, Obj, Obj, Obj]>([
    ["one more", {}, {}, {}],
    ["one more, disabled", {}, {}, off],
    ["one beside a disabled one", {}, off, {}],
    ["one more at a disabled node", off, {}, {}]
  ])("%s", (_, ofHost, ofFirst, ofSecond) => {
    for (const { host, port: { index, type }, server } of pairs) {
      const group = [
        { ...host, ...ofHost },
        { ...server, id: "first", name: "First", ...ofFirst },
        { ...server, id: "second", name: "Second", ...ofSecond }
      ]
      const output = { type, index: 0 }
      const first = { from: "First", output, to: "X", input: { type, index } }
      compare(group, first)
      // n8n ignores the index at such inputs.
      for (const at of [index, 7]) {
        compare(group, { from: "Second", output, to: "X", input: { type, index: at } }, [first])
      }
    }
  })
})

describe("the output for errors", () => {
  it("is where a failing node of any type has it", () => {
    for (const each of nodes) {
      const failing = { ...each, onError: "continueErrorOutput" }
      const count = portsOf(failing).outputs.filter(({ type }) => type === "main").length
      for (const index of [count - 1, count]) {
        if (index >= 0) {
          compare([failing, set("Set")], {
            from: "X",
            output: { type: "main", index },
            to: "Set",
            input: { type: "main", index: 0 }
          })
        }
      }
      const made = attempt(flow([each, set("Set")]), { op: "connect", from: "X", to: "Set", sourceOutput: "error" })
      if (Result.isSuccess(made)) assert.deepStrictEqual(errorsOf(made.success.workflow), [], String(each["type"]))
    }
  })
})

describe("ports that cannot be computed", () => {
  const base = "n8n-nodes-base."
  it.each<[string, Obj]>([
    [
      "a number of outputs by an expression",
      node("X", `${base}switch`, 3.2, { mode: "expression", numberOutputs: "={{ 3 }}" })
    ],
    ["rules under another key", node("X", `${base}switch`, 3.2, { rules: { conditions: [] } })],
    ["rules as an object", node("X", `${base}switch`, 3.2, { rules: { values: {} } })],
    ["a number of inputs as text", node("X", `${base}merge`, 3.2, { numberInputs: "abc" })],
    ["categories as text", node("X", `${ai}textClassifier`, 1.1, { categories: { categories: "={{ $json.all }}" } })],
    ["a type of a package", unknown]
  ])("%s fit every link", (_, odd) => {
    const { name } = odd as { readonly name: string }
    for (const index of [0, 1, 9]) {
      const port = { type: "main", index }
      const first = { type: "main", index: 0 }
      for (
        const link of [
          { from: name, output: port, to: "Set", input: first },
          { from: "Set", output: first, to: name, input: port }
        ]
      ) {
        const side = link.from === name ? "outputs" : "inputs"
        const isKnown = Turn.finish(Checked.make({ nodes: [odd] }, known)).nodes[0]?.[side] !== undefined
        compare([odd, set("Set")], link)
        if (!isKnown) assert.deepStrictEqual(errorsOf(flow([odd, set("Set")], Connections.fromLinks([link]))), [])
      }
    }
    const { inputs, outputs } = Turn.finish(Checked.make({ nodes: [odd] }, known)).nodes[0] ?? {}
    assert.isTrue(inputs === undefined || outputs === undefined)
  })
})
