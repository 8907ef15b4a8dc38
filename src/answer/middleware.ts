/** Middleware: behaviour around the calls of any tool. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Errors from "../base/Errors.ts"
import type { Any } from "./toolParts.ts"

declare const own: unique symbol

/** Result of the tool's own work, which a middleware passes on; {@link Tool.wrap} can change it. */
export interface Result {
  readonly [own]: "Result"
}

/** Failure of the tool's own work. */
export interface OwnFailure extends Errors.Failure {
  readonly [own]: "Failure"
}

/** Services of the tool's own work. */
export interface OwnServices {
  readonly [own]: "Services"
}

/** The tool's own work, for a middleware to run. */
export type Run = Effect.Effect<Result, OwnFailure, OwnServices>

/** Call of a tool: `input` is decoded. */
export interface Call {
  readonly tool: Any
  readonly input: unknown
}

/** Behaviour around the calls of any tool; it needs `R` and may fail with `E`. */
export interface Middleware<out R = unknown, out E = Errors.Failure> {
  readonly around: (run: (input: unknown) => Run, call: Call) => Effect.Effect<Result, E | OwnFailure, R | OwnServices>
}

/**
 * Makes a behaviour around every call of a server, a `Toolkit` or a single tool, such as an audit, a limit, a policy or
 * a retry.
 *
 * `run` is the tool's own work: the middleware decides whether and how often it runs, and returns its result.
 *
 * **Details**
 *
 * It applies to `call`, `answer` and `run`, and to resources, which are read through their tools. The first of several
 * is the outermost, and all are around the tool's own {@link Tool.wrap}s. Invalid input, and changes under
 * {@link ReadOnly}, are refused before; secrets are redacted after.
 *
 * **Example** (One audit and one limit around all tools)
 *
 * ```ts
 * import { Services, Tool, tools } from "effect-n8n-mcp"
 * import { McpServer } from "effect-n8n-mcp/mcp"
 * import { FakeN8n } from "effect-n8n-mcp/testing"
 * import * as Context from "effect/Context"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Schema from "effect/Schema"
 *
 * class Quota extends Context.Service<Quota, { readonly left: Effect.Effect<number> }>()("app/Quota") {}
 *
 * class Exhausted extends Schema.TaggedError<Exhausted>()("Exhausted", { hint: Schema.String }) {
 *   override readonly message = "No calls are left today"
 * }
 *
 * const audit = Tool.middleware((run, { tool }) => Effect.tap(run, () => Effect.logInfo(tool.name)))
 *
 * const limit = Tool.middleware((run) =>
 *   Effect.gen(function*() {
 *     const { left } = yield* Quota
 *     return (yield* left) > 0 ? yield* run : yield* new Exhausted({ hint: "Call again tomorrow." })
 *   }))
 *
 * export const server = McpServer.serve({
 *   name: "our-n8n",
 *   version: "1.0.0",
 *   tools: tools.standard,
 *   middleware: [audit, limit]
 * })
 *
 * export const limited = tools.all.map((tool) => Tool.wrap(tool, limit))
 *
 * export const test = Tool.wrap(tools.getWorkflow, limit).run({ id: "1" }).pipe(
 *   Effect.flip,
 *   Effect.map(({ message }) => message), // "No calls are left today"
 *   Effect.provide(Layer.mergeAll(
 *     FakeN8n.layer(),
 *     Services.layerMemory,
 *     Layer.succeed(Quota, { left: Effect.succeed(0) })
 *   ))
 * )
 * ```
 */
export const middleware = <Around extends Effect.Effect<Result, Errors.Failure, unknown>>(
  around: (run: Run, call: Call) => Around
): Middleware<Exclude<Effect.Services<Around>, OwnServices>, Exclude<Effect.Error<Around>, OwnFailure>> =>
  // The compiler does not know that the excluded parts are added again.
  ({ around: (run: (input: unknown) => Run, call: Call) => around(run(call.input), call) }) as never

/** Middleware around the calls of this fiber, outermost first. */
export const CurrentMiddleware = Context.Reference<ReadonlyArray<Middleware>>("effect-n8n-mcp/Tool/Middleware", {
  defaultValue: () => []
})

/** Tool's work inside middleware, outermost first; the types of the caller include its services and failures. */
export const inside = <I, A, E, R>(
  middleware: ReadonlyArray<Middleware>,
  tool: Any,
  run: (input: I) => Effect.Effect<A, E, R>
): (input: I) => Effect.Effect<A, E, R> =>
  middleware.reduceRight(
    (inner, { around }) => (input) => Effect.suspend(() => around(inner as never, { tool, input })) as never,
    run
  )
