import { assert, describe, it } from "@effect/vitest"
import type { ClientCapabilities } from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as App from "../../src/answer/App.ts"
import * as Tool from "../../src/answer/Tool.ts"
import * as Services from "../../src/app/Services.ts"
import { obj, str } from "../../src/base/Json.ts"
import * as Demo from "../../src/demo/Demo.ts"
import { isPictureMessage, metaKey } from "../../src/pictures/Message.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as tools from "../../src/tools/index.ts"
import { connected, serve } from "../support/connected.ts"

const uri = "ui://n8n/workflow"

const drawn = ["get_execution", "get_workflow_connections", "validate_workflow", "workflow_diff"]

const showing: ClientCapabilities = {
  extensions: { "io.modelcontextprotocol/ui": { mimeTypes: [App.mimeType] } }
}

const layer = Layer.merge(FakeN8n.layer(Demo.seed), Services.layerMemory)

const orders = "cR5mSyNc9bVh4KqE"

/** One call of each tool that has a picture. */
const calls: ReadonlyArray<readonly [name: string, args: Record<string, unknown>, subtitle: RegExp]> = [
  ["get_workflow_connections", { id: orders }, /^6 nodes$/],
  ["get_execution", { id: "239" }, /^Run 239: error/],
  ["validate_workflow", {
    workflow: { name: "X", nodes: [{ name: "A", type: "no.such", position: [0, 0] }], connections: {} }
  }, /error/],
  ["workflow_diff", { a: orders, b: "dS8rQ2vLk0pXw3Ta" }, /added/]
]

describe("MCP Apps", () => {
  it.live("are announced only to clients that show them", () =>
    Effect.gen(function*() {
      const [plain, shows] = [yield* connected(serve()), yield* connected(serve(), showing)]
      const list = (client: typeof plain) => Effect.promise(() => client.listTools())
      const [without, listed] = [yield* list(plain), yield* list(shows)]
      assert.notInclude(JSON.stringify(without), "ui://")
      const apps = listed.tools.filter(({ _meta }) => _meta?.["ui"] !== undefined)
      assert.sameMembers(apps.map(({ name }) => name), drawn)
      for (const { _meta } of apps) assert.deepStrictEqual(_meta?.["ui"], { resourceUri: uri })
      const other = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/plain"] } } }
      assert.notInclude(JSON.stringify(yield* list(yield* connected(serve(), other))), "ui://")
      for (const client of [plain, shows]) {
        const { resources } = yield* Effect.promise(() => client.listResources())
        const { resourceTemplates } = yield* Effect.promise(() => client.listResourceTemplates())
        assert.notInclude(JSON.stringify([resources, resourceTemplates]), "ui://")
      }
    }))

  it.live("are read as pages that may connect to nothing", () =>
    Effect.gen(function*() {
      const client = yield* connected(serve(), showing)
      const { contents: [content] } = yield* Effect.promise(() => client.readResource({ uri }))
      assert.deepInclude(content, { uri, mimeType: App.mimeType, _meta: { ui: { csp: {}, prefersBorder: true } } })
      assert.match(str(obj(content)?.["text"]) ?? "", /^<!doctype html>/)
      const other = yield* Effect.promise(() =>
        client.readResource({ uri: `${uri}s` }).catch((error: Error) => error.message)
      )
      assert.match(String(other), /No resource 'ui:\/\/n8n\/workflows'/)
    }))

  it.live("get a picture past the model with each answer, which is the same as without", () =>
    Effect.gen(function*() {
      const [plain, shows] = [yield* connected(serve()), yield* connected(serve(), showing)]
      for (const [name, args, subtitle] of calls) {
        const without = yield* Effect.promise(() => plain.callTool({ name, arguments: args }))
        const { _meta, ...answer } = yield* Effect.promise(() => shows.callTool({ name, arguments: args }))
        assert.deepStrictEqual(answer, without, name)
        const message = _meta?.[metaKey]
        if (!isPictureMessage(message)) return assert.fail(`${name} has no picture`)
        assert.match(message.svg, /^<svg /)
        assert.match(String(obj(message.shown)?.["subtitle"]), subtitle, name)
        assert.isBelow(JSON.stringify(message).length, 500_000)
      }
      const failed = yield* Effect.promise(() => shows.callTool({ name: "get_execution", arguments: { id: "1" } }))
      assert.isTrue(failed.isError)
      assert.notProperty(failed, "_meta")
    }))

  it.live("show nothing that a policy around a tool took out of its answer", () =>
    Effect.gen(function*() {
      const same = Tool.wrap(tools.getExecution, (run, input) => run(input))
      const less = Tool.wrap(tools.getExecution, (run, input) =>
        Effect.map(run(input), (data) => ({ ...data, availableNodes: [] })))
      const views: Array<App.View> = []
      const call = (tool: typeof same) =>
        tool.run({ id: "239" }).pipe(
          Effect.provideService(App.Show, (view) =>
            Effect.sync(() => void views.push(view))),
          Effect.provide(layer)
        )
      yield* call(less)
      assert.deepStrictEqual(views, [])
      yield* call(same)
      assert.deepStrictEqual(views.map((view) => Object.keys(view)), [[metaKey]])
    }))
})
