import { assert, describe, it } from "@effect/vitest"
import { str } from "../../../src/base/Json.ts"
import * as Failures from "../../../src/trials/drill/Failures.ts"
import * as Verdict from "../../../src/trials/drill/Verdict.ts"
import { connected } from "../../suites/n8n/builders.ts"
import { weak } from "../../suites/n8n/weakWorkflows.ts"

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
  connections: connected(links),
  trigger: nodes.find(({ name }) => name === "Orders"),
  errorWorkflow: errorWorkflows.get(str(settings?.["errorWorkflow"]) ?? ""),
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

  it("the worst is the node's", () => {
    const [silent, handled] = [workflowOf("no one hears"), workflowOf("tries again")].map(({ node, workflow }) =>
      Verdict.of(subjectOf(workflow), { node, kind: workflow.kind, outputs: 1 }, good)
    )
    assert.isDefined(silent)
    assert.isDefined(handled)
    assert.deepStrictEqual(Verdict.worst([handled, silent, handled]), silent)
    assert.isUndefined(Verdict.worst([]))
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
