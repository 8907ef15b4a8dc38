/** What the keys of a node may hold is the same to validation, repair and edits, and is what n8n itself answers. */
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { type Obj } from "../../src/base/Json.ts"
import { problems } from "../../src/workflow/check/WorkflowProblems.ts"
import { prepare } from "../../src/workflow/repair/WorkflowInput.ts"
import { node } from "../support/workflows.ts"
import { lookups } from "../workflow/check/lookups.ts"
import { attempt } from "../workflow/edit/edits.ts"

/** What `POST /workflows` of both 2.41.1 and 1.123.81 refuses with 400, and what it stores. */
const recorded: ReadonlyArray<readonly [key: string, refuses: ReadonlyArray<unknown>, stores: ReadonlyArray<unknown>]> =
  [
    ["id", [5], ["", "a"]],
    ["webhookId", [5], ["", "a"]],
    ["notes", [5], ["", "a"]],
    ["onError", [5], ["stopWorkflow", "continueRegularOutput", "continueErrorOutput"]],
    ["typeVersion", ["2", "x"], [1]],
    ["maxTries", ["many", "3"], [5, 0, -1, 2.5, 100]],
    ["waitBetweenTries", ["x", "10"], [6000, -1]],
    ["disabled", ["true", 1], [true]],
    ["notesInFlow", ["true"], [true]],
    ["executeOnce", ["yes"], [false]],
    ["alwaysOutputData", [1], [true]],
    ["retryOnFail", [5, "true"], [false]],
    ["continueOnFail", ["x"], [true]],
    ["parameters", [[], "x"], [{}]],
    ["credentials", [[], "x"], [{}, { a: { id: "1", name: "b" } }]],
    ["position", [["0", "0"]], [[1.5, 2]]],
    ["name", [5], ["A"]],
    ["type", [5], ["n8n-nodes-base.manualTrigger"]],
    // 2.41 alone; 1.x does not know the key at all.
    ["customTelemetryTags", [5, [], "x"], [{}, { tag: [{ key: "a", value: "b" }] }]]
  ]

const flow = (more: Obj): Obj => ({
  name: "Flow",
  nodes: [node("A", "manualTrigger", 1, {}, { id: "a", ...more })],
  connections: {},
  settings: {}
})

const errors = (workflow: Obj) =>
  problems(workflow, lookups).filter(({ severity }) => severity === "error").map(({ path }) => path)

const create = (workflow: Obj) => prepare(workflow, { source: "caller", newId: () => "new", versionOf: () => 1 })

describe.each(recorded)("%s", (key, refused, stored) => {
  it.each(refused.map((value) => [value]))("is an error where n8n refuses it: %j", (value) => {
    assert.include(errors(flow({ [key]: value })), `nodes[0].${key}`)
  })

  it.each(stored.map((value) => [value]))("is right where n8n stores it: %j", (value) => {
    const workflow = flow({ [key]: value })
    assert.deepStrictEqual(errors(workflow), [])
    assert.isTrue(Result.isSuccess(create(workflow)))
  })
})

describe("validate_workflow reports an error for each refusal of create_workflow", () => {
  const hostile: ReadonlyArray<unknown> = ["many", 5, true, [], [1], {}, { a: 1 }, ""]
  it.each(recorded.map(([key]) => key).filter((key) => key !== "position"))("%s", (key) => {
    assert.isTrue(hostile.some((value) => Result.isFailure(create(flow({ [key]: value })))), `any ${key} will do`)
    for (const value of hostile) {
      const workflow = flow({ [key]: value })
      if (Result.isFailure(create(workflow))) {
        assert.notDeepEqual(errors(workflow), [], `${key}: ${JSON.stringify(value)}`)
      }
    }
  })

  it("such as two of one node", () => {
    const workflow = flow({ retryOnFail: 5, maxTries: "many" })
    assert.isTrue(Result.isFailure(create(workflow)))
    assert.deepStrictEqual(errors(workflow), ["nodes[0].retryOnFail", "nodes[0].maxTries"])
  })
})

describe("an update refuses what n8n does", () => {
  const own = new Set(["name", "type", "id", "position", "parameters"])
  it.each(recorded.filter(([key]) => !own.has(key)))("%s", (key, refused, stored) => {
    const update = (value: unknown) => attempt(flow({}), { op: "update", node: "A", [key]: value })
    for (const value of refused) assert.isTrue(Result.isFailure(update(value)), JSON.stringify(value))
    for (const value of stored) assert.isTrue(Result.isSuccess(update(value)), JSON.stringify(value))
  })
})
