import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import * as Connections from "../../../src/n8n/model/Connections.ts"
import { joined } from "../../support/workflows.ts"
import { agent, ai, base, edit, flow, hook, model, node, nodeOf, set } from "./edits.ts"

const same = (actual: unknown, expected: unknown) => assert.deepStrictEqual(actual, expected)
const tidy = (workflow: Obj) => edit(workflow, { op: "tidy" })

interface Box {
  readonly name: string
  readonly x: number
  readonly y: number
  readonly width: number
}
const boxes = (workflow: Obj): ReadonlyMap<string, Box> =>
  new Map(
    arr(workflow["nodes"]).map((value) => {
      const [x = 0, y = 0] = arr(obj(value)?.["position"]).map(Number)
      const name = String(obj(value)?.["name"])
      return [name, { name, x, y, width: name.startsWith("Agent") ? 256 : 96 }]
    })
  )
const overlapping = (all: ReadonlyMap<string, Box>) =>
  [...all.values()].flatMap((a) =>
    [...all.values()].filter((b) =>
      a.name < b.name && a.x < b.x + b.width && b.x < a.x + a.width && Math.abs(a.y - b.y) < 96
    ).map((b) => `${a.name} ${b.name}`)
  )
const at = (x: number, y: number) => ({ position: [x, y] })

describe("tidy", () => {
  it("lays a flow out from left to right, branches below each other in the order of outputs", () => {
    const workflow = flow(
      [hook, set("B"), set("A"), node("If", `${base}if`, 2.2), node("M", `${base}merge`, 3)].map((each) => ({
        ...each,
        ...at(100, 50)
      })),
      joined(["Hook", "If"], ["If", "A"], ["If", "B", "main", 1], ["A", "M"], ["B", "M", "main", 0, 1])
    )
    const { changes, workflow: edited } = tidy(workflow)
    const places = Object.fromEntries([...boxes(edited)].map(([name, { x, y }]) => [name, [x, y]]))
    same(places, { Hook: [100, 50], If: [320, 50], A: [540, 50], B: [540, 250], M: [760, 150] })
    same(changes, ["tidied: moved 4 nodes"])
    same(tidy(edited).changes, ["every node is already in place"])
    same({ ...edited, nodes: [] }, { ...workflow, nodes: [] })
  })

  it("puts sub-nodes below what they serve, and makes room for them", () => {
    const tool = (name: string) => node(name, `${ai}toolCalculator`, 1)
    const workflow = flow(
      [
        hook,
        agent(),
        model("Model"),
        tool("T1"),
        tool("T2"),
        set("Next"),
        model("M2"),
        node("Agent2", `${ai}agentTool`, 2.2)
      ],
      joined(
        ["Hook", "Agent"],
        ["Agent", "Next"],
        ["Model", "Agent", "ai_languageModel"],
        ["T1", "Agent", "ai_tool"],
        ["T2", "Agent", "ai_tool"],
        ["Agent2", "Agent", "ai_tool"],
        ["M2", "Agent2", "ai_languageModel"]
      )
    )
    const all = boxes(tidy(workflow).workflow)
    const y = (name: string) => all.get(name)?.y
    same(["Hook", "Agent", "Next", "Model", "T1", "T2", "Agent2", "M2"].map(y), [0, 0, 0, 200, 200, 200, 200, 400])
    same(overlapping(all), [])
    assert.isAbove(all.get("Next")?.x ?? 0, (all.get("Agent2")?.x ?? 0) + 256)
  })

  it("lets a loop lead back, and puts what is apart below", () => {
    const workflow = flow(
      [hook, node("Loop", `${base}splitInBatches`, 3), set("Work"), set("Done"), set("Alone"), set("Self")],
      joined(["Hook", "Loop"], ["Loop", "Done"], ["Loop", "Work", "main", 1], ["Work", "Loop"], ["Self", "Self"])
    )
    const all = boxes(tidy(workflow).workflow)
    const x = (name: string) => all.get(name)?.x ?? -1
    assert.isBelow(x("Hook"), x("Loop"))
    assert.isBelow(x("Loop"), Math.min(x("Work"), x("Done")))
    same([x("Alone"), x("Self")], [0, 0])
    same(overlapping(all), [])
  })

  it("keeps sticky notes, the corner of the whole, and what cannot be moved", () => {
    const note = node("Note", `${base}stickyNote`, 1, {}, at(-500, -500))
    const workflow = flow([note, set("A", at(300, 70)), set("B", at(700, 20)), { id: "x" }, null], joined(["B", "A"]))
    const { workflow: edited } = tidy(workflow)
    same(nodeOf(edited, "Note"), note)
    same([nodeOf(edited, "B")["position"], nodeOf(edited, "A")["position"]], [[300, 20], [520, 20]])
    same(arr(edited["nodes"]).slice(3), [{ id: "x" }, null])
    same(tidy({}).changes, ["every node is already in place"])
  })

  const names = ["Agent1", "Agent2", "Model", "A", "B", "C", "D", "E"]
  const Ends = Schema.Struct({ from: Schema.Literals(names), to: Schema.Literals(names), isMain: Schema.Boolean })
  it.prop("overlaps nothing for any links; targets are to the right", {
    ends: Schema.Array(Ends).check(Schema.isMaxLength(14))
  }, ({ ends }) => {
    const workflow = flow(
      names.map((name) => name.startsWith("Agent") ? agent({ name }) : name === "Model" ? model(name) : set(name)),
      joined(...ends.map(({ from, isMain, to }) => [from, to, isMain ? "main" : "ai_tool"] as const))
    )
    const edited = tidy(workflow).workflow
    const all = boxes(edited)
    same(overlapping(all), [])
    const links = Connections.links(workflow["connections"])
    const leads = (from: string, to: string, seen = new Set<string>()): boolean =>
      links.some((link) => {
        if (link.from !== from || link.output.type !== "main" || seen.has(link.to)) return false
        seen.add(link.to)
        return link.to === to || leads(link.to, to, seen)
      })
    for (const { from, output, to } of links) {
      if (output.type !== "main" || leads(to, from)) continue
      assert.isAbove(all.get(to)?.x ?? 0, all.get(from)?.x ?? 0)
    }
  })
})
