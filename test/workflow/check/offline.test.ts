/** Checks without a catalogue, as a page makes them. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Demo from "../../../src/demo/Demo.ts"
import * as WorkflowProblems from "../../../src/workflow/check/WorkflowProblems.ts"
import { main, node } from "../../support/workflows.ts"

describe("a workflow checked offline", () => {
  it.effect("has the problems that need no node types, errors first", () =>
    Effect.gen(function*() {
      const problems = yield* WorkflowProblems.offline({
        name: "Broken",
        nodes: [
          node("Start", "manualTrigger"),
          node("Sum", "set", 1, { value: "={{ $json.a + }}" }),
          node("Code", "acme", 1, { jsCode: "return [" }),
          node("Alone", "noOp")
        ],
        connections: { Start: main("Summ"), Sum: main("Code") }
      })
      const told = problems.map(({ message, path, severity }) => `${severity} ${path} ${message}`).join("\n")
      assert.match(told, /^error .*Summ/m)
      assert.match(told, /^error nodes\[1\]\.parameters\.value/m)
      assert.notInclude(told, "has no type")
      const severities = problems.map(({ severity }) => severity)
      assert.deepStrictEqual(severities, severities.toSorted())
    }))

  it.effect("has no problem in a correct workflow", () =>
    Effect.gen(function*() {
      for (const workflow of Demo.seed.workflows) {
        const errors = (yield* WorkflowProblems.offline({ ...workflow })).filter(({ severity }) => severity === "error")
        assert.deepStrictEqual(errors, [], String(workflow.name))
      }
    }))
})
