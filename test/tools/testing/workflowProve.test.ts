import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as Deadline from "../../../src/base/Deadline.ts"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import * as tools from "../../../src/tools/index.ts"
import { inMemory } from "../../support/world.ts"
import { records, running, type Version, workflow } from "../../trials/proof/recordings.ts"
import { assertSnapshot } from "../snapshot.ts"

const world = (version: Version, executions = records("plain", 6)) => ({
  seed: { workflows: [workflow(version)], executions },
  runs: running()
})

const prove = (more: Obj = {}) => tools.workflowProve.run({ workflowId: "w1", ...more })

describe("workflow_prove", () => {
  it.effect("answers what differs, token by token", () =>
    inMemory(function*() {
      const answer = yield* prove()
      const shown = JSON.stringify({ tokens: countTokens(JSON.stringify(answer)), ...answer }, null, 2)
      yield* Effect.promise(() => assertSnapshot(shown, "answer-workflow_prove"))
      assert.isAtMost(countTokens(JSON.stringify(answer)), 900)
    }, world("without email")))

  it.effect("shows the items of nodes on both sides, and refuses others", () =>
    inMemory(function*() {
      const answer = yield* prove({ last: 2, show: ["Map", "End"] })
      const shown = arr(obj(obj(answer)?.["data"])?.["shown"]).map((each) => obj(each) ?? {})
      assert.deepStrictEqual(shown.map(({ execution, node }) => [execution, node]), [
        ["106", "Map"],
        ["106", "End"],
        ["105", "Map"],
        ["105", "End"]
      ])
      for (const { after, before } of shown) assert.deepStrictEqual([arr(before).length, arr(after).length], [2, 2])
      assert.match((yield* Effect.flip(prove({ show: ["Mop"] }))).message, /Mop/)
    }, world("without email")))

  it.effect("says of the same that it is the same, and of nothing that it is nothing", () =>
    inMemory(function*() {
      assert.match((yield* prove({ last: 2 })).message, /^2 runs: 2 same; 1 volatile value compared by shape$/)
      assert.match((yield* prove({ executions: ["999"] })).message, /^0 runs: nothing was replayed$/)
    }, world("plain")))

  it.effect("returns the arguments that go on where the time does not suffice", () =>
    inMemory(function*() {
      const now = yield* Clock.currentTimeMillis
      const { next, runs } = yield* tools.workflowProve.call({ workflowId: "w1", executions: ["101", "102"] }).pipe(
        Effect.provideService(Deadline.Current, { until: now + 5_000, waitingFor: undefined })
      )
      assert.deepStrictEqual([runs, next], [0, { workflowId: "w1", executions: ["101", "102"] }])
    }, world("plain")))

  it.effect("refuses wrong arguments before anything runs", () =>
    inMemory(function*(api) {
      const wrong: ReadonlyArray<readonly [Obj, RegExp]> = [
        [{ last: 51 }, /last must be from 1 to 50/],
        [{ last: 0 }, /last must be from 1 to 50/],
        [{ executions: ["x"] }, /must be digits, or a link/],
        [{ ignore: ["'Nope'.email"] }, /'Nope', which is not a node/],
        [{ workflowId: "w9" }, /Workflow 'w9' not found/]
      ]
      for (const [args, message] of wrong) assert.match((yield* Effect.flip(prove(args))).message, message)
      assert.isFalse((yield* api.requests).some(({ method }) => method === "POST"))
    }, world("plain")))
})
