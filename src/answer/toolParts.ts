/** Parts of a tool: its types, annotations and settings. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Errors from "../base/Errors.ts"
import type * as App from "./App.ts"
import { type JsonSchema, withoutParameters } from "./jsonSchemas.ts"
import type * as Locale from "./Locale.ts"
import { CurrentMiddleware, type Middleware } from "./middleware.ts"
import type * as Minimize from "./Minimize.ts"
import type { Next, Totals } from "./Truncated.ts"

/** MCP's behaviour hints; a client may run read-only tools concurrently and without asking. */
export interface Annotations {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

/** Annotations of tools that only read. */
export const readOnly: Annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true
}

/** Annotations of tools that change or delete; the overwritten state is saved as a snapshot. */
export const destructive: Annotations = { ...readOnly, readOnlyHint: false, destructiveHint: true }

/** Annotations of tools that add something with each call. */
export const additive: Annotations = { ...readOnly, readOnlyHint: false, idempotentHint: false }

/** Whether calls of tools that change something are refused. Default: `false`. */
export const ReadOnly = Context.Reference<boolean>("effect-n8n-mcp/ReadOnly", { defaultValue: () => false })

/** Tools that are offered to a client; with `readOnly`, only the ones that change nothing. */
export const offered = <T extends Any>(tools: ReadonlyArray<T>, readOnly: boolean): ReadonlyArray<T> =>
  readOnly ? tools.filter(({ annotations }) => annotations.readOnlyHint) : tools

/** Names of the server's tools that the caller must not see or call. Default: none. */
export const Withheld = Context.Reference<ReadonlySet<string>>("effect-n8n-mcp/Withheld", {
  defaultValue: () => new Set()
})

/** Whether secrets in answers are replaced by `[redacted]`. Default: `true`. */
export const RedactSecrets = Context.Reference<boolean>("effect-n8n-mcp/RedactSecrets", { defaultValue: () => true })

/** Successful answer. */
export interface Answer<Data> {
  readonly success: true
  readonly message: string
  readonly data: Data
}

/** Tool of any type, as a server uses it. */
export interface Any<out R = unknown, out E = Errors.Failure> extends Required<Omit<About, "empty" | "unlisted">> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: InputSchema
  readonly output: OutputSchema
  /** JSON Schema (2020-12) of the listed arguments. */
  readonly inputSchema: JsonSchema
  /** JSON Schema (2020-12) of the whole answer. */
  readonly outputSchema: JsonSchema
  /** Calls the tool with untyped arguments, for transports; returns JSON within the budget, within 50 seconds. */
  readonly run: (args: unknown) => Effect.Effect<Answer<unknown>, E, R>
  readonly [schema]: Pick<Described, "inputSchema" | "unlisted">
}

export interface Described {
  readonly inputSchema: () => JsonSchema
  readonly unlisted: NonNullable<About["unlisted"]>
}

/** Schema of arguments. */
export type InputSchema = Schema.ConstraintCodec<unknown, unknown>

/** Schema of an answer's `data`. */
export type OutputSchema = Schema.ConstraintCodec<object, unknown>

/**
 * Tool with typed input and output. Defaults apply, and invalid input is a `ValidationError`. Both `call` and `answer`
 * refuse to change anything under {@link ReadOnly} and redact secrets ({@link RedactSecrets}).
 */
export interface Tool<
  Name extends string,
  I extends InputSchema,
  O extends OutputSchema,
  out R,
  out E = Errors.N8nError
> extends Any<R, E | Errors.ValidationError | Errors.ApiError> {
  readonly name: Name
  readonly input: I
  readonly output: O
  /**
   * Calls the tool for a program: decoded data, never shortened; pages of lists are marked (`Truncated.marksIn`). Input
   * has exactly its type: an empty text or list for an optional argument is refused, not left out.
   */
  readonly call: (input: I["Encoded"]) => Effect.Effect<O["Type"], E | Errors.ValidationError, R>
  /**
   * Calls the tool for a model: encoded data within the budget, invisible characters escaped, within 50 seconds. Input is
   * taken as clients send it: `"5"` for 5, and an optional argument that is empty or `null` as left out.
   */
  readonly answer: (
    input: I["Encoded"]
  ) => Effect.Effect<Answer<O["Encoded"]>, E | Errors.ValidationError | Errors.ApiError, R>
  readonly [parts]: Parts<I["Type"], O["Type"], R, E>
}

/** Services that a tool or a middleware needs. */
export type Services<T> = T extends Any<infer R> ? R : T extends Middleware<infer R> ? R : never

/** Input of a tool's `call` and `answer`. */
export type Input<T extends Any> = T["input"]["Encoded"]

/** Result of a tool's `call`. */
export type Output<T extends Any> = T["output"]["Type"]

/** Result whose main list is a page of a longer one: its length, and the result that ends after some of its elements. */
export interface Ending<A> {
  readonly size: number
  /** The same result with only the first `count` elements, and the cursor that continues after them. */
  readonly after: (count: number) => A
}

/** Data of an answer, the full lengths of its lists that are pages, and how its main list can end earlier. */
export interface Page<Out> {
  readonly data: Out
  readonly totals: Totals
  readonly ending?: Ending<Out> | undefined
  readonly view?: Effect.Effect<App.View> | undefined
}

export interface Parts<In, Out, out R, out E> extends About {
  readonly page: (input: In) => Effect.Effect<Page<Out>, E, R>
  /** Middleware of the tool itself, outermost first, inside that of the caller. */
  readonly middleware: ReadonlyArray<Middleware>
  readonly message: (data: Out, input: In) => string | Locale.Message
  readonly next?: ((input: In, data: Out) => Next) | undefined
  readonly budget?: ((data: Out, input: In) => Minimize.Budget) | undefined
}

/** Properties of a tool that are known without calling it. */
export interface About {
  /** Parameters that are never listed (`never`) or only on request (`onRequest`), since each costs tokens. */
  readonly unlisted?: { readonly [parameter: string]: "never" | "onRequest" } | undefined
  /** Optional parameters of which an empty list, or the text `null`, is a value, with the reason. */
  readonly empty?: { readonly [parameter: string]: string } | undefined
  /** Everyday words for its purpose, by which clients find tools before loading them. */
  readonly searchHint?: string | undefined
  /** Whether clients that load tools on demand should load it from the start. */
  readonly isEntry?: boolean
  readonly annotations: Annotations
  /** Scopes of n8n's API that it needs, such as `workflow:read`. */
  readonly scopes?: ReadonlyArray<string>
  /** Scopes that only a part of the tool needs, with the name of that part. */
  readonly partialScopes?: { readonly [scope: string]: string }
  /** Page that shows its answers, for clients that show pages. */
  readonly app?: App.App | undefined
}

/** Tools that are served to the caller, wrappers included; resources read through these. */
export const CurrentTools = Context.Reference<ReadonlyArray<Any<never>>>("effect-n8n-mcp/CurrentTools", {
  defaultValue: () => []
})

/** Runs an effect with these tools as the caller's, and with middleware around their calls, outermost first. */
export const serving =
  <T extends Any, M extends Middleware = never>(tools: ReadonlyArray<T>, middleware: ReadonlyArray<M> = []) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Services<T | M>> =>
    Effect.flatMap(Effect.context<R | Services<T | M>>(), (context) =>
      Effect.provideContext(
        effect,
        context.pipe(
          // The context contains the services of the tools.
          Context.add(CurrentTools, tools as ReadonlyArray<Any> as never),
          Context.add(CurrentMiddleware, middleware)
        )
      ))

/** Tool as it is served to the caller. */
export interface Served<T extends Any> {
  readonly call: (input: Input<T>) => Effect.Effect<Output<T>, Errors.Failure>
  readonly run: (args: unknown) => Effect.Effect<Answer<unknown>, Errors.Failure>
}

/** Returns the tool of the same name as it is served to the caller; fails with a `ValidationError` if it is not. */
export const served = <T extends Any>(tool: T): Effect.Effect<Served<T>, Errors.ValidationError> =>
  Effect.flatMap(CurrentTools, (tools) => {
    const match = tools.find(({ name }) => name === tool.name)
    return match === undefined
      ? Effect.fail(
        new Errors.ValidationError({
          reason: `${tool.name} is not served here`,
          hint: "A resource is read through its tool: serve both, or provide Tool.serving."
        })
      )
      : Effect.succeed(match as unknown as Served<T>)
  })

export const parts: unique symbol = Symbol("effect-n8n-mcp/Tool/parts")

export const schema: unique symbol = Symbol("effect-n8n-mcp/Tool/schema")

/** Tool that also lists the parameters marked `onRequest`. */
export const extended = <T extends Any>(tool: T): T => {
  const { inputSchema, unlisted } = tool[schema]
  const hidden = Object.keys(unlisted).filter((name) => unlisted[name] === "never")
  return hidden.length === Object.keys(unlisted).length
    ? tool
    : {
      ...tool,
      inputSchema: withoutParameters(inputSchema(), hidden),
      [schema]: { inputSchema, unlisted: Object.fromEntries(hidden.map((name) => [name, "never" as const])) }
    }
}

/**
 * Schema of the arguments that a client sends, for the payload of an `HttpApi` endpoint whose handler passes it to
 * `call`; arguments with a default may be omitted.
 */
export const payload = <T extends Any>(tool: T): Schema.toEncoded<T["input"]> => Schema.toEncoded(tool.input)

/**
 * Result of a handler, or advice for the author of a tool: TypeScript infers the result of a generic function that
 * returns a function, such as `Effect.fn`, only after all parts of the definition.
 */
export type Known<Raw> = 0 extends 1 & Raw ? Raw
  : unknown extends Raw ?
    "Omit summarize, write handler as (input) => Effect.gen(…), or define its Effect.fn before the tool"
  : Raw

/** Schema of no arguments. */
export type NoInput = Schema.Struct<{}>
