import { assert, describe, it } from "@effect/vitest"
import { str } from "../../../src/base/Json.ts"
import * as NodeFailures from "../../../src/trials/drill/NodeFailures.ts"
import * as Verdict from "../../../src/trials/drill/Verdict.ts"
import * as Graph from "../../../src/workflow/Graph.ts"
import { connected } from "../../suites/n8n/builders.ts"
import { outsideOf, weak } from "../../suites/n8n/weakWorkflows.ts"

const workflows = weak({
  failing: "http://failing",
  working: "http://working",
  path: (name) => name,
  errorWorkflow: "alert",
  noErrorTrigger: "deaf"
})

const errorWorkflows = new Map([
  ["alert", { name: "Alert", isPublished: true, hasErrorTrigger: true }],
  ["deaf", { name: "Deaf", isPublished: true, hasErrorTrigger: false }]
])

const subjectOf = ({ links, nodes, settings }: typeof workflows[number], more: Partial<Verdict.Subject> = {}) => ({
  nodes,
  graph: Graph.make(connected(links)),
  trigger: nodes.find(({ name }) => name === "Orders"),
  errorWorkflow: errorWorkflows.get(str(settings?.["errorWorkflow"]) ?? ""),
  outside: outsideOf(nodes),
  isV1: false,
  ...more
})

const workflowOf = (name: string) => {
  const workflow = workflows.find((each) => each.name === name)
  assert.isDefined(workflow)
  const node = workflow.nodes.find((each) => each.name === "Lookup")
  assert.isDefined(node)
  return { workflow, node }
}

const ran = (items: { readonly [name: string]: ReadonlyArray<number> }, more: Partial<Verdict.Outcome> = {}) => ({
  status: "success",
  items: new Map(Object.entries(items)),
  ...more
})

const good = ran({ Orders: [1], Answer: [1], Each: [3], Lookup: [3], Save: [3] })

describe("verdicts", () => {
  it.each(workflows.map((each) => [each.name, each] as const))("'%s' by its definition", (name, workflow) => {
    const { node } = workflowOf(name)
    const verdict = Verdict.of(subjectOf(workflow), { node, kind: workflow.kind, outputs: 1 }, good)
    assert.strictEqual(verdict?.grade, workflow.isPlain ? workflow.grade : undefined)
    if (verdict !== undefined) assert.match(verdict.because, workflow.because)
  })

  type Items = Readonly<Record<string, ReadonlyArray<number>>>
  const after = (items: Items, more?: Partial<Verdict.Outcome>) => ran({ Orders: [1], Each: [3], ...items }, more)
  const asked = (items: Items) => after({ Lookup: [3], Note: [3], ...items })
  const looped = (loop: number, first: ReadonlyArray<number>, items: Items) =>
    after({ Loop: [loop, 3], "Is first?": first, ...items })
  const apart = (items: Items) => after({ Lookup: [0, 3], ...items })
  const noted = asked({ "Failed?": [0, 3], Save: [3] })
  const before = new Map([
    ["asks first", noted],
    ["ends the loop", looped(3, [1, 2], { Lookup: [1], Other: [2], Save: [3] })]
  ])
  const [found, nothing] = [{ Lookup: [0], Other: [2], Save: [2] }, { Lookup: [0] }]
  const loses = "continues and loses items"
  const stops = /^(?!.*Other).*the loop of 'Loop' stops here/

  it.each<[what: string, name: string, Verdict.Outcome, Verdict.Grade, because?: RegExp]>([
    ["an If sends failures elsewhere", "asks first", asked({ "Failed?": [3, 0], Report: [3] }), "handled"],
    ["an If does not ask", "asks first", noted, loses, /'Save' gets what failed/],
    ["an If sends some on", "asks first", asked({ "Failed?": [2, 1], Save: [1] }), loses],
    ["an If drops all", "asks first", asked({ "Failed?": [0, 0] }), loses, /'Failed\?' drops what failed/],
    ["a caller waits", "caller waits", after(nothing, { response: 500 }), "stops with alert"],
    ["a caller gets an answer", "caller waits", after(nothing, { response: 200 }), "stops silently"],
    ["a loop stops at first", "ends the loop", looped(0, [1, 0], nothing), "stops silently", stops],
    ["a loop stops at last", "ends the loop", looped(0, [1, 2], { ...nothing, Other: [2] }), "stops silently", stops],
    ["a loop has its own way back", "ends the loop", looped(2, [1, 2], found), "handled"],
    ["no one is told", "tells no one", apart({ Mark: [3], Ignore: [3] }), loses, /only to nodes that tell no one/],
    ["someone is told", "tells after a note", apart({ Mark: [3], "Alert team": [3] }), "handled", /'Alert team' gets/],
    ["items do not come so far", "tells after a note", apart({ Mark: [0] }), loses],
    ["the caller is told", "answers with the failure", apart({ No: [3] }), "handled", /'No' gets what failed/]
  ])("where %s, by what ran", (_, name, now, grade, because = /./) => {
    const { node, workflow } = workflowOf(name)
    const kind = name === "caller waits" ? "empty" : workflow.kind
    const verdict = Verdict.of(subjectOf(workflow), { node, kind, outputs: 1 }, before.get(name) ?? good, now)
    assert.strictEqual(verdict?.grade, grade)
    assert.match(verdict?.because ?? "", because)
  })

  it("an error output that leads to the next node as well loses items", () => {
    const { node, workflow } = workflowOf("open end")
    const links = [...workflow.links, ["Lookup", "Save", 1] as const]
    const verdict = Verdict.of(subjectOf({ ...workflow, links }), { node, kind: "500", outputs: 1 }, good)
    assert.include(verdict?.because, "go to 'Save'")
  })

  it("n8n 2 does not start an unpublished error workflow, n8n 1 does", () => {
    const { node, workflow } = workflowOf("alerts")
    const errorWorkflow = { name: "Alert", isPublished: false, hasErrorTrigger: true }
    const grade = (isV1: boolean) =>
      Verdict.of(subjectOf(workflow, { errorWorkflow, isV1 }), { node, kind: "500", outputs: 1 }, good)
    assert.strictEqual(grade(false)?.grade, "stops silently")
    assert.include(grade(false)?.because, "publish the error workflow 'Alert'")
    assert.strictEqual(grade(true)?.grade, "stops with alert")
  })

  it("a caller that gets the last node's items gets the failure", () => {
    const { node, workflow } = workflowOf("tells no one")
    const outcome = ran({ Orders: [1], Each: [3], Lookup: [0, 3], Mark: [3], Ignore: [3] })
    const trigger = workflowOf("caller waits").workflow.nodes[0]
    const verdict = Verdict.of(subjectOf(workflow, { trigger }), { node, kind: "500", outputs: 1 }, good, outcome)
    assert.strictEqual(verdict?.grade, "handled")
    assert.include(verdict?.because, "the caller gets what failed")
  })

  it("an error output that only leads back into the loop tells no one, unless something after the loop does", () => {
    const { node, workflow } = workflowOf("ends the loop")
    const failing = { ...node, onError: "continueErrorOutput" }
    const outcome = ran({
      Orders: [1],
      Each: [3],
      Loop: [3, 3],
      "Is first?": [1, 2],
      Lookup: [0, 1],
      Other: [2],
      Save: [3]
    })
    const grade = (links: typeof workflow.links) =>
      Verdict.of(
        subjectOf({ ...workflow, links: [...links, ["Lookup", "Mark", 1], ["Mark", "Loop"]] }),
        { node: failing, kind: "500", outputs: 1 },
        outcome,
        { ...outcome, items: new Map([...outcome.items, ["Mark", [1]]]) }
      )
    const isLast = ([from, to]: typeof workflow.links[number]) => from === "Loop" && to === "Save"
    assert.include(grade(workflow.links)?.because, "'Save' gets what failed")
    assert.include(grade(workflow.links.filter((link) => !isLast(link)))?.because, "tell no one")
  })

  it("the worst grade is the worst in any order", () => {
    assert.strictEqual(Verdict.worst(["handled", "stops silently", "stops with alert"]), "stops silently")
    assert.strictEqual(Verdict.worst(["continues and loses items", "handled"]), "continues and loses items")
  })

  it("one run decides for all errors, unless something after the node reads them", () => {
    const run = (name: string, kind: NodeFailures.Kind) => {
      const { node, workflow } = workflowOf(name)
      return Verdict.runAs(subjectOf(workflow), { node, kind, outputs: 1 })
    }
    assert.deepStrictEqual(NodeFailures.kinds.map((kind) => run("saves errors", kind)), [
      "401",
      "401",
      "401",
      "401",
      "empty"
    ])
    assert.deepStrictEqual(NodeFailures.kinds.map((kind) => run("asks first", kind)), NodeFailures.kinds)
  })
})
