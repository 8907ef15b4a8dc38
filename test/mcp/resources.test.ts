import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Tool from "../../src/answer/Tool.ts"
import * as Services from "../../src/app/Services.ts"
import * as McpServer from "../../src/mcp/McpServer.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as tools from "../../src/tools/index.ts"
import * as prompts from "../../src/tools/Prompts.ts"
import * as resources from "../../src/tools/Resources.ts"
import { connected } from "../support/connected.ts"

class Denied extends Schema.TaggedError<Denied>()("Denied", { hint: Schema.String }) {
  override readonly message = "policy: no"
}
const denied = Effect.fail(new Denied({ hint: "Ask a person." }))

const n8n = Layer.merge(
  FakeN8n.layer({
    workflows: [{ id: "w1", name: "Payroll", active: false, nodes: [], connections: {} }],
    executions: []
  }),
  Services.layerMemory
)

/** Serves some tools with everything that may be served beside them. */
const served = <T extends Tool.Any>(some: ReadonlyArray<T>) =>
  McpServer.serve({ name: "some", version: "1", tools: some, resources: resources.all, prompts: prompts.all })

const uri = "n8n://workflow/w1"

describe("resources of a server", () => {
  it.live("are read through the tools that it serves, with their policy", () =>
    Effect.gen(function*() {
      const audit: Array<string> = []
      const audited = Tool.wrap(tools.getWorkflow, (run, input) =>
        Effect.tap(run(input), () => Effect.sync(() => audit.push(input.id))))
      const open = yield* connected(served([audited, tools.listWorkflows]).pipe(Effect.provide(n8n)))
      const { contents: [text] } = yield* Effect.promise(() =>
        open.readResource({ uri })
      )
      assert.include(JSON.stringify(text), "Payroll")
      assert.deepStrictEqual(audit, ["w1"])

      const closed = yield* connected(
        served([Tool.wrap(tools.getWorkflow, () => denied), Tool.wrap(tools.listWorkflows, () => denied)])
          .pipe(Effect.provide(n8n))
      )
      const refusal = yield* Effect.flip(Effect.tryPromise({ try: () => closed.readResource({ uri }), catch: String }))
      assert.include(refusal, "policy: no. Ask a person.")
      const listed = yield* Effect.promise(() => closed.listResources())
      assert.deepStrictEqual(listed.resources, [])
      const complete = (ref: { type: "ref/resource"; uri: string }) =>
        Effect.promise(() => closed.complete({ ref, argument: { name: "id", value: "" } }))
      const { completion } = yield* complete({ type: "ref/resource", uri: "n8n://workflow/{id}" })
      assert.deepStrictEqual(completion.values, [])
      const call = yield* Effect.promise(() => closed.callTool({ name: "get_workflow", arguments: { id: "w1" } }))
      assert.deepStrictEqual([call.isError, JSON.stringify(call.content).includes("policy: no")], [true, true])
    }))

  it.live("need no more than the served tools do: what reads through another tool lists nothing", () =>
    Effect.gen(function*() {
      const client = yield* connected(served([tools.getWorkflow]).pipe(Effect.provide(n8n)))
      const { resourceTemplates } = yield* Effect.promise(() => client.listResourceTemplates())
      assert.deepStrictEqual(resourceTemplates.map(({ name }) => name), ["workflow"])
      assert.deepStrictEqual((yield* Effect.promise(() => client.listResources())).resources, [])
    }))

  it.effect("are refused outside of a server that serves their tool", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(resources.workflow.read("w1"))
      assert.strictEqual(error.message, "get_workflow is not served here")
      const text = yield* resources.workflow.read("w1").pipe(Tool.serving([tools.getWorkflow]), Effect.provide(n8n))
      assert.include(text, "Payroll")
    }))
})
