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
const partners = [set("Set"), hook, agent(), model("Model"), node("Tool", `${ai}toolCalculator`, 1), unknown]
const main = (index: number) => ({ type: "main", index })

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

const portsIn = (each: Obj) => Turn.finish(Checked.make({ nodes: [each] }, known)).nodes[0]

const portsOf = (each: Obj) => {
  const { inputs, outputs } = portsIn(each) ?? {}
  return { inputs: inputs ?? [], outputs: outputs ?? [] }
}

/** Ports of a side to try: those that there are, one beyond them, and those of another kind. */
const tried = (ports: ReadonlyArray<Connections.Port>) => {
  const all = [...ports, main(ports.length), { type: "ai_tool", index: 0 }, main(0)]
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
  const servers = Map.groupBy(
    nodes.filter((each) => portsOf(each).inputs.length === 0),
    (each) => portsOf(each).outputs[0]?.type
  )
  const pairs = nodes.flatMap((host) =>
    portsOf(host).inputs.flatMap((port) => {
      const server = servers.get(port.type)?.find((each) => {
        const node = portsIn(each)
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
        if (index < 0) continue
        compare([failing, set("Set")], { from: "X", output: main(index), to: "Set", input: main(0) })
      }
      const made = attempt(flow([each, set("Set")]), { op: "connect", from: "X", to: "Set", sourceOutput: "error" })
      if (Result.isSuccess(made)) assert.deepStrictEqual(errorsOf(made.success.workflow), [], String(each["type"]))
    }
  })
})

describe("ports that cannot be computed", () => {
  const choice = (parameters: Obj) => node("X", "n8n-nodes-base.switch", 3.2, parameters)
  it.each<[string, Obj]>([
    ["a number of outputs by an expression", choice({ mode: "expression", numberOutputs: "={{ 3 }}" })],
    ["rules under another key", choice({ rules: { conditions: [] } })],
    ["rules as an object", choice({ rules: { values: {} } })],
    ["a number of inputs as text", node("X", "n8n-nodes-base.merge", 3.2, { numberInputs: "abc" })],
    ["categories as text", node("X", `${ai}textClassifier`, 1.1, { categories: { categories: "={{ $json.all }}" } })],
    ["a type of a package", { ...unknown, name: "X" }]
  ])("%s fit every link", (_, odd) => {
    const { inputs, outputs } = portsIn(odd) ?? {}
    assert.isTrue(inputs === undefined || outputs === undefined)
    for (const index of [0, 1, 9]) {
      const [from, to] = [
        { from: "X", output: main(index), to: "Set", input: main(0) },
        { from: "Set", output: main(0), to: "X", input: main(index) }
      ]
      for (const [link, ports] of [[from, outputs], [to, inputs]] as const) {
        compare([odd, set("Set")], link)
        const isWrong = errorsOf(flow([odd, set("Set")], Connections.fromLinks([link]))).length > 0
        if (ports === undefined) assert.isFalse(isWrong)
      }
    }
  })
})
