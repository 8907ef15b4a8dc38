import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Picture from "../../src/pictures/Picture.ts"
import * as Pictures from "../../src/pictures/Pictures.ts"
import * as Svg from "../../src/pictures/Svg.ts"
import { main, node } from "../support/workflows.ts"
import * as workflows from "./workflows.ts"

const nodeIn = (picture: Picture.Picture, name: string) => {
  const found = picture.nodes.find((each) => each.name === name)
  if (found === undefined) throw new Error(`no node '${name}'`)
  return found
}

describe("Picture", () => {
  it.effect("distinguishes triggers, agents and their sub-nodes by the catalogue", () =>
    Effect.gen(function*() {
      const picture = yield* Pictures.make(workflows.agent)
      assert.deepStrictEqual(picture.nodes.map(({ kind, name }) => `${name}: ${kind}`), [
        "New ticket: trigger",
        "Triage agent: root",
        "Chat model: sub",
        "Ticket memory: sub",
        "Look up order: sub",
        "Hand to support: action",
        "Workflow failed: trigger",
        "Tell support: action"
      ])
      assert.deepStrictEqual(
        nodeIn(picture, "Triage agent").inputs.map(({ name, required, type }) => [type, name, required]),
        [
          ["main", undefined, undefined],
          ["ai_languageModel", "Chat Model", true],
          ["ai_memory", "Memory", undefined],
          ["ai_tool", "Tool", undefined]
        ]
      )
      assert.strictEqual(nodeIn(picture, "Hand to support").subtitle, "post: message")
    }).pipe(Effect.provide(workflows.world)))

  it("works without a catalogue: links and names suffice for most of it", () => {
    const picture = Picture.make(workflows.agent)
    const kinds = ["Triage agent", "Chat model", "New ticket"].map((name) => nodeIn(picture, name).kind)
    assert.deepStrictEqual(kinds, ["root", "sub", "trigger"])
  })

  // What is drawn of a run and of a difference is in the README's pictures, which `Svg.test.ts` compares.
  it.effect("shows of a run what failed, with its input, and what did not run", () =>
    Effect.gen(function*() {
      const execution = yield* workflows.failed
      const picture = yield* Pictures.make(workflows.orders, { overlay: { _tag: "Execution", execution } })
      assert.strictEqual(picture.focus, nodeIn(picture, "Charge card").id)
      const [error, input] = nodeIn(picture, "Charge card").sections
      assert.strictEqual(error?.title, "Error")
      assert.include(error?.text ?? "", "Order 1045 has no card")
      assert.strictEqual(input?.title, "Input (last of 3 runs): 2 items")
      assert.include(input?.text ?? "", `"orderNo": 1045`)
      assert.match(nodeIn(picture, "Report").sections[0]?.text ?? "", /did not run/)
    }).pipe(Effect.provide(workflows.world)))

  it.effect("shows of a difference what changed in a node", () =>
    Effect.gen(function*() {
      const picture = yield* Pictures.make(workflows.mended, {
        overlay: { _tag: "Difference", before: workflows.orders }
      })
      const sections = nodeIn(picture, "Charge the card").sections
      assert.deepStrictEqual(sections.map(({ title }) => title), ["Former name", "parameters.jsCode"])
      assert.match(sections[1]?.text ?? "", /^-if \(\$json\.card === null\)/m)
    }).pipe(Effect.provide(workflows.world)))

  it("shows code as code and leaves out empty notices, for added nodes too", () => {
    const jsCode = "const a = \"x\"\nreturn a"
    const code = {
      name: "Total",
      type: "n8n-nodes-base.code",
      parameters: { mode: "x", notice: "", list: ["a", jsCode, "b"], jsCode }
    }
    const after = { name: "A", nodes: [code], connections: {} }
    const sections = Picture.make(after).nodes[0]?.sections.map(({ text, title }) => [title, text])
    assert.deepStrictEqual(sections, [
      ["Parameters", JSON.stringify({ mode: "x", list: ["a", "b"] }, undefined, 2)],
      ["list[1]", jsCode],
      ["jsCode", jsCode]
    ])
    const before = { ...after, nodes: [] }
    const added = Picture.make(after, { overlay: { _tag: "Difference", before } }).nodes[0]?.sections ?? []
    assert.deepInclude(added, { title: "parameters.jsCode", text: "+ const a = \"x\"\n+ return a", isDiff: true })
  })

  it("distinguishes a removed node from one that got its name", () => {
    const of = (id: string, name: string, x: number) => node(name, "noOp", 1, {}, { id, position: [x, 0] })
    const before = { nodes: [of("1", "A", 0), of("2", "B", 200), of("3", "C", 400)], connections: { A: main("B") } }
    const after = { nodes: [of("1", "A", 0), of("3", "B", 400)], connections: { A: main("B") } }
    const picture = Picture.make(after, { overlay: { _tag: "Difference", before } })
    assert.deepStrictEqual(picture.nodes.map(({ formerName, name, status }) => [name, status, formerName]), [
      ["A", undefined, undefined],
      ["B", "renamed", "C"],
      ["B", "removed", undefined]
    ])
    assert.deepStrictEqual(picture.links.map(({ status, to }) => [to, status]), [["n1", "added"], ["r1", "removed"]])
  })

  it("shows problems at their nodes, the others with the workflow", () => {
    const picture = Picture.make(workflows.orders, {
      overlay: {
        _tag: "Problems",
        problems: [
          { severity: "warning", node: "Ship", path: "nodes[6]", message: "Ship is slow", fix: "Hurry." },
          { severity: "error", node: "Ship", path: "nodes[6].parameters", message: "No address" },
          { severity: "error", path: "connections.Gone", message: "Gone is no node" }
        ]
      }
    })
    assert.strictEqual(picture.subtitle, "2 errors · 1 warning")
    assert.strictEqual(nodeIn(picture, "Ship").status, "error")
    assert.strictEqual(nodeIn(picture, "Report").status, undefined)
    assert.strictEqual(picture.focus, nodeIn(picture, "Ship").id)
    assert.deepStrictEqual(nodeIn(picture, "Ship").sections[0], {
      title: "warning: nodes[6]",
      text: "Ship is slow\nHurry."
    })
    assert.deepStrictEqual(picture.sections, [{ title: "error: connections.Gone", text: "Gone is no node" }])
  })

  it("marks deactivated and pinned nodes, and those that run a workflow", () => {
    const picture = Picture.make({
      name: "Marks",
      nodes: [
        node("Off", "noOp", 1, {}, { disabled: true }),
        node("Pinned", "noOp", 1, {}, { position: [200, 0] }),
        node("Calls", "executeWorkflow", 1, {}, { position: [400, 0] })
      ],
      connections: {},
      pinData: { Pinned: [{ json: { a: 1 } }], Off: [] }
    })
    assert.deepStrictEqual(
      picture.nodes.map(({ isDisabled, isPinned, isSubWorkflow }) => [isDisabled, isPinned, isSubWorkflow]),
      [[true, false, false], [false, true, false], [false, false, true]]
    )
    const svg = Svg.render(picture)
    assert.include(svg, "(Deactivated)")
    assert.include(svg, "Pinned, noOp, pinned data")
    assert.include(svg, "Calls, executeWorkflow, runs a workflow")
  })

  it("redacts secrets everywhere, unless they are requested", () => {
    const key = `sk-proj-${"aB3dE5fG7h".repeat(4)}`
    const parameters = { headers: [{ name: "Authorization", value: "Bearer abcdefgh12345678" }], text: key }
    const nodes = [
      node(`Call ${key}`, "httpRequest", 1, parameters, { notes: key }),
      node("Note", "stickyNote", 1, { content: key })
    ]
    const workflow = { name: `Uses ${key}`, nodes, connections: {} }
    const hidden = JSON.stringify(Picture.make(workflow))
    assert.notInclude(hidden, key)
    assert.notInclude(hidden, "abcdefgh12345678")
    assert.include(JSON.stringify(Picture.make(workflow, { showsSecrets: true })), key)
    const difference = Picture.make({ ...workflow, nodes: [] }, { overlay: { _tag: "Difference", before: workflow } })
    assert.notInclude(JSON.stringify(difference), key)
  })

  it("draws what can be read of anything", () => {
    const at = (name: string, ...position: ReadonlyArray<unknown>) => ({ name, type: "t", position })
    const target = { node: "__proto__", type: "main", index: 1e15 }
    const strange = [null, 1, {}, { name: 3 }, { name: "A" }, { name: "A", type: "x" }]
    for (
      const workflow of [
        {},
        { nodes: "none", connections: 1 },
        { nodes: strange, connections: { A: { main: [[{}]] } } },
        { nodes: [at("A", "x", Infinity)], connections: { A: { main: { 0: [] } }, B: null } },
        { nodes: [at("A", 0, 0), at("__proto__", 1e300, 0)], connections: { A: { main: [[target]] } } }
      ]
    ) {
      const svg = Svg.render(Picture.make(workflow))
      assert.notMatch(svg, /NaN|undefined|Infinity/, JSON.stringify(workflow))
    }
  })
})
