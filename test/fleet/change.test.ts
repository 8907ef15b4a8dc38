import { assert, it } from "@effect/vitest"
import { digester } from "../../src/fleet/change.ts"
import { joined, node } from "../support/workflows.ts"

it("has the digests of plans that earlier versions have stored", () => {
  const workflow = {
    name: "Orders",
    nodes: [
      node("Hook", "webhook", 2, { path: "in" }, { id: "hook" }),
      node("End", "noOp", 1, {}, { id: "end", disabled: false })
    ],
    connections: joined(["Hook", "End"]),
    settings: { executionOrder: "v0", callerPolicy: "any", timezone: "DEFAULT", saveManualExecutions: true }
  }
  assert.deepStrictEqual(
    [
      digester({ operations: [{ op: "enable", node: "End" }] })(workflow),
      digester({ operations: [{ op: "settings", settings: { executionOrder: "v1" } }] })(workflow)
    ],
    ["695bd3dac807c72153ea0d81771410be", "75af1d770958b7f63c18d6af375d8d19"]
  )
})
