/** An in-memory server with an SDK client. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import type { ClientCapabilities } from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Tool from "../../src/answer/Tool.ts"
import * as Services from "../../src/app/Services.ts"
import * as Demo from "../../src/demo/Demo.ts"
import * as McpServer from "../../src/mcp/McpServer.ts"
import * as MemoryTransport from "../../src/mcp/MemoryTransport.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as tools from "../../src/tools/index.ts"
import * as prompts from "../../src/tools/Prompts.ts"
import * as resources from "../../src/tools/Resources.ts"

/** Connects a real SDK client in memory to a server that runs until the test ends. */
export const connected = (
  serve: Effect.Effect<void, never, MemoryTransportNeeds>,
  capabilities: ClientCapabilities = {}
) =>
  Effect.gen(function*() {
    const transport = yield* MemoryTransport.make
    yield* serve.pipe(
      Effect.provide(Layer.mergeAll(FakeN8n.layer(Demo.seed), Services.layerMemory, transport.layer)),
      Effect.forkScoped
    )
    const client = new Client({ name: "test", version: "0" }, { capabilities })
    yield* Effect.acquireRelease(
      Effect.promise(() => client.connect(transport.client)),
      () => Effect.promise(() => client.close())
    )
    return client
  })

type MemoryTransportNeeds = Effect.Services<ReturnType<typeof serve>>

/** A server with all tools, additional tools, resources and prompts; one resource dies. */
export const serve = (more: ReadonlyArray<Tool.Any<never>> = []) =>
  McpServer.serve({
    name: "test",
    version: "0",
    instructions: "how to",
    tools: [...tools.all, ...more],
    prompts: prompts.all,
    resources: [
      ...resources.all,
      { ...resources.all[0], uriTemplate: "test://died/{type}", read: () => Effect.die("secret of the machine") }
    ]
  })
