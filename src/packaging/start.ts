/** Answers of the server before the program is loaded. */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Tool from "../answer/Tool.ts"
import * as LeanStart from "../app/LeanStart.ts"
import * as Mcp from "../app/Mcp.ts"
import * as McpServer from "../mcp/McpServer.ts"
import { McpTransport, type Served } from "../mcp/McpTransport.ts"
import * as Methods from "../mcp/Methods.ts"
import * as tools from "../tools/index.ts"

const caller = { client: undefined }

/** Empty context: these methods use no services. */
const nothing = Context.empty() as Context.Context<Tool.Services<typeof tools.byDefault[number]>>

/** Description of a server without options: itself, its tools and its prompts. */
export const prepared: Effect.Effect<LeanStart.Prepared> = Effect.gen(function*() {
  const deferred = yield* Deferred.make<Served>()
  yield* McpServer.serveWith(Mcp.options(tools.byDefault), () => Effect.succeed(nothing)).pipe(
    Effect.provide(
      Layer.succeed(McpTransport, { serve: (served) => Effect.asVoid(Deferred.succeed(deferred, served)) })
    )
  )
  const { about, methods } = yield* Deferred.await(deferred)
  const results = yield* Effect.forEach(LeanStart.constant, (method) =>
    Methods.run(methods, method, {
      params: {},
      caller,
      capabilities: {},
      notify: () => Effect.void,
      ask: () => Effect.die(new Error(`${method} must not ask`))
    }).pipe(Effect.map((result) => [method, result] as const), Effect.orDie))
  return { about, methods: Object.keys(methods), results: Object.fromEntries(results) }
})
