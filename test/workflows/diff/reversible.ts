/** The property that nothing is lost in a difference. */
import { assert } from "@effect/vitest"
import type { Obj } from "../../../src/base/Json.ts"
import * as WorkflowDiff from "../../../src/workflows/diff/WorkflowDiff.ts"

const withoutPositions = (workflow: Obj) => {
  const { nodes, ...rest } = WorkflowDiff.normalize(workflow)
  return { ...rest, nodes: nodes.map(({ position: _, ...node }) => node) }
}

const isEqual = (a: unknown, b: unknown) => {
  try {
    assert.deepStrictEqual(a, b)
    return true
  } catch {
    return false
  }
}

/** The difference makes the second state of the first, and its reverse the first of the second. */
export const isReversible = (a: Obj, b: Obj) => {
  const diff = WorkflowDiff.make(a, b)
  assert.deepStrictEqual(WorkflowDiff.normalize(WorkflowDiff.apply(a, diff)), WorkflowDiff.normalize(b))
  assert.deepStrictEqual(
    WorkflowDiff.normalize(WorkflowDiff.apply(b, WorkflowDiff.invert(diff))),
    WorkflowDiff.normalize(a)
  )
  assert.strictEqual(WorkflowDiff.view(diff).same, isEqual(withoutPositions(a), withoutPositions(b)))
}
