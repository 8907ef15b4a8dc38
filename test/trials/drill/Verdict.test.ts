import { assert, describe, it } from "@effect/vitest"
import { str } from "../../../src/base/Json.ts"
import * as Failures from "../../../src/trials/drill/Failures.ts"
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

  const decided = (name: string, before: Verdict.Outcome, after: Verdict.Outcome) => {
    const { node, workflow } = workflowOf(name)
    return Verdict.of(subjectOf(workflow), { node, kind: workflow.kind, outputs: 1 }, before, after)
  }

  it("an If that sends failures to another branch handles them, one that does not ask loses them", () => {
    const start = { Orders: [1], Each: [3] }
    const before = ran({ ...start, Lookup: [3], Note: [3], "Failed?": [0, 3], Save: [3] })
    const asks = ran({ ...start, Lookup: [3], Note: [3], "Failed?": [3, 0], Report: [3] })
    assert.strictEqual(decided("asks first", before, asks)?.grade, "handled")
    const ignores = decided("asks first", before, before)
    assert.strictEqual(ignores?.grade, "continues and loses items")
    assert.include(ignores?.because, "'Save' gets what failed")
    const some = decided("asks first", before, ran({ ...start, Lookup: [3], Note: [3], "Failed?": [2, 1], Save: [1] }))
    assert.strictEqual(some?.grade, "continues and loses items")
    const none = decided("asks first", before, ran({ ...start, Lookup: [3], Note: [3], "Failed?": [0, 0] }))
    assert.include(none?.because, "'Failed?' drops what failed")
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

  it("a caller that waits sees that nothing was found", () => {
    const { node, workflow } = workflowOf("caller waits")
    const subject = subjectOf(workflow)
    const found = (outcome?: Verdict.Outcome) => Verdict.of(subject, { node, kind: "empty", outputs: 1 }, good, outcome)
    assert.isUndefined(found())
    const after = { Orders: [1], Each: [3], Lookup: [0] }
    assert.strictEqual(found(ran(after, { response: 500 }))?.grade, "stops with alert")
    assert.strictEqual(found(ran(after, { response: 200 }))?.grade, "stops silently")
  })

  it("a loop that ends with an empty list is named, not a branch of its other items", () => {
    const start = { Orders: [1], Each: [3] }
    const before = ran({ ...start, Loop: [3, 3], "Is first?": [1, 2], Lookup: [1], Other: [2], Save: [3] })
    const stops = ran({ ...start, Loop: [0, 1], "Is first?": [1, 0], Lookup: [0] })
    const verdict = decided("ends the loop", before, stops)
    assert.strictEqual(verdict?.grade, "stops silently")
    assert.match(verdict?.because ?? "", /the loop of 'Loop' stops here/)
    assert.notInclude(verdict?.because, "Other")
    const last = ran({ ...start, Loop: [0, 3], "Is first?": [1, 2], Lookup: [0], Other: [2] })
    assert.include(decided("ends the loop", before, last)?.because, "the loop of 'Loop' stops here")
    // With its own way back, the loop goes on.
    const goesOn = ran({ ...start, Loop: [2, 3], "Is first?": [1, 2], Lookup: [0], Other: [2], Save: [2] })
    assert.strictEqual(decided("ends the loop", before, goesOn)?.grade, "handled")
  })

  it("an error output handles failures if it leads to a node that tells someone", () => {
    const start = { Orders: [1], Each: [3], Lookup: [0, 3] }
    const silent = decided("tells no one", good, ran({ ...start, Mark: [3], Ignore: [3] }))
    assert.strictEqual(silent?.grade, "continues and loses items")
    assert.include(silent?.because, "only to nodes that tell no one")
    const after = ran({ ...start, Mark: [3], "Alert team": [3] })
    assert.include(decided("tells after a note", good, after)?.because, "'Alert team' gets what failed")
    // Not if the items do not come so far.
    const dropped = decided("tells after a note", good, ran({ ...start, Mark: [0] }))
    assert.strictEqual(dropped?.grade, "continues and loses items")
    const answered = decided("answers with the failure", good, ran({ ...start, No: [3] }))
    assert.include(answered?.because, "'No' gets what failed")
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
    const run = (name: string, kind: Failures.Kind) => {
      const { node, workflow } = workflowOf(name)
      return Verdict.runAs(subjectOf(workflow), { node, kind, outputs: 1 })
    }
    assert.deepStrictEqual(Failures.kinds.map((kind) => run("saves errors", kind)), [
      "401",
      "401",
      "401",
      "401",
      "empty"
    ])
    assert.deepStrictEqual(Failures.kinds.map((kind) => run("asks first", kind)), Failures.kinds)
  })
})
