import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as tools from "../../../src/tools/index.ts"
import { inWorld } from "../../support/world.ts"
import { changesPublication } from "./publishing.ts"

changesPublication(tools.activateWorkflow, true)

it.effect.each(["2", "1"] as const)(
  "activate_workflow on n8n %s says in n8n's words why it cannot publish",
  (version) =>
    inWorld(function*() {
      const { id } = yield* tools.createWorkflow.call({ name: "Idle", nodes: [], connections: {} })
      const error = yield* Effect.flip(tools.activateWorkflow.run({ id }))
      assert.match(JSON.stringify(error), /trigger/)
      assert.isFalse((yield* tools.getWorkflow.call({ id })).active)
    }, version)
)
