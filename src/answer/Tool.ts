/** Tool as one value: its description, and the pipeline from arguments to an answer; `call` ends after `redact`. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Deadline from "../base/Deadline.ts"
import * as Errors from "../base/Errors.ts"
import * as Redact from "../base/Redact.ts"
import * as Visible from "../base/Visible.ts"
import * as App from "./App.ts"
import * as Arguments from "./Arguments.ts"
import * as Hints from "./Hints.ts"
import { type JsonSchema, ofAnswer, ofArguments, withoutParameters } from "./jsonSchemas.ts"
import * as Locale from "./Locale.ts"
import { CurrentMiddleware, inside, type Middleware } from "./middleware.ts"
import * as Minimize from "./Minimize.ts"
import { markable, type Next, type Totals } from "./Truncated.ts"

export { type JsonSchema, jsonSchema } from "./jsonSchemas.ts"
export {
  type Call,
  CurrentMiddleware,
  type Middleware,
  middleware,
  type OwnFailure,
  type OwnServices,
  type Result,
  type Run
} from "./middleware.ts"

const parts: unique symbol = Symbol("effect-n8n-mcp/Tool/parts")

const schema: unique symbol = Symbol("effect-n8n-mcp/Tool/schema")

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

/** Whether tools that change something are refused. Default: `false`. */
export const ReadOnly = Context.Reference<boolean>("effect-n8n-mcp/ReadOnly", { defaultValue: () => false })

/** Tools that are offered to a client: all, or with `readOnly` only those that change nothing. */
export const offered = <T extends Any>(tools: ReadonlyArray<T>, readOnly: boolean): ReadonlyArray<T> =>
  readOnly ? tools.filter(({ annotations }) => annotations.readOnlyHint) : tools

/** Names of the server's tools that are withheld from a caller. Default: none. */
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
export interface Any<out R = unknown, out E = Errors.Failure> extends Required<Omit<About, "unlisted">> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: InputSchema
  readonly output: OutputSchema
  /** JSON Schema (2020-12) of the listed arguments. */
  readonly inputSchema: JsonSchema
  /** JSON Schema (2020-12) of the whole answer. */
  readonly outputSchema: JsonSchema
  /** Calls the tool with untyped arguments, for transports; answers JSON within the budget, within 50 seconds. */
  readonly run: (args: unknown) => Effect.Effect<Answer<unknown>, E, R>
  readonly [schema]: Pick<Described, "inputSchema" | "unlisted">
}

interface Described {
  readonly inputSchema: () => JsonSchema
  readonly unlisted: NonNullable<About["unlisted"]>
}

/** Schema of arguments. */
export type InputSchema = Schema.ConstraintCodec<unknown, unknown>

/** Schema of an answer's `data`. */
export type OutputSchema = Schema.ConstraintCodec<object, unknown>

/**
 * Tool with typed input and output. `call` and `answer` take what a client would send: defaults apply, and invalid
 * input is a `ValidationError`. Both refuse to change anything under {@link ReadOnly} and redact secrets ({@link
 * RedactSecrets}).
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
  /** Calls the tool, for programs: decoded data, never shortened; pages of lists are marked (`Truncated.marksIn`). */
  readonly call: (input: I["Encoded"]) => Effect.Effect<O["Type"], E | Errors.ValidationError, R>
  /** Answer for a model: encoded, within the budget, with invisible characters escaped, within 50 seconds. */
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

/** Data of an answer, and the full lengths of its lists that are pages. */
interface Page<Out> {
  readonly data: Out
  readonly totals: Totals
  readonly view?: Effect.Effect<App.View> | undefined
}

interface Parts<In, Out, out R, out E> extends About {
  readonly page: (input: In) => Effect.Effect<Page<Out>, E, R>
  readonly message: (data: Out, input: In) => string | Locale.Message
  readonly next?: ((input: In, data: Out) => Next) | undefined
  readonly maxChars?: ((data: Out, input: In) => number) | undefined
  readonly trim?: ((data: Out, input: In) => Out) | undefined
}

/** Properties of a tool that are known without calling it. */
export interface About {
  /** Parameters that are listed to no one (`never`) or on request (`onRequest`), since each costs tokens. */
  readonly unlisted?: { readonly [parameter: string]: "never" | "onRequest" } | undefined
  /** Everyday words for its purpose, for clients that search tools before loading them. */
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

/** The caller's tool of the same name, for resources and completions; fails if it is not served. */
export const served = <T extends Any>(tool: T): Effect.Effect<Served<T>, Errors.ValidationError> =>
  Effect.flatMap(CurrentTools, (tools) => {
    const match = tools.find(({ name }) => name === tool.name)
    return match === undefined
      ? new Errors.ValidationError({
        reason: `${tool.name} is not served here`,
        hint: "A resource is read through its tool: serve both, or provide Tool.serving."
      })
      : Effect.succeed(match as unknown as Served<T>)
  })

const lazy = <A>(make: () => A) => {
  let result: { readonly value: A } | undefined
  return () => (result ??= { value: make() }).value
}

/** Characters of the budget reserved for everything around `data`. */
const envelopeRoom = 600

const build = <const Name extends string, I extends InputSchema, O extends OutputSchema, R, E extends Errors.Failure>(
  tool: {
    readonly name: Name
    readonly title: string
    readonly description: string
    readonly input: I
    readonly output: O
    readonly outputSchema: () => JsonSchema
  } & Described,
  own: Parts<I["Type"], O["Type"], R, E>
): Tool<Name, I, O, R, E> => {
  type In = I["Type"]
  type Out = O["Type"]
  const { annotations, message, page } = own
  const { inputSchema, name, outputSchema, unlisted } = tool
  const listed = lazy(() => withoutParameters(inputSchema(), Object.keys(unlisted)))
  const decode = lazy(() => Arguments.decoder<In, never>(name, tool.input, inputSchema()))
  const encode = lazy(() => Schema.encodeEffect(markable<Out, unknown>(tool.output)))

  const attributes = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name }
  const handle = Effect.fn(`execute_tool ${name}`, { attributes })(function*(input: In) {
    if (!annotations.readOnlyHint && (yield* ReadOnly)) {
      return yield* new Errors.ValidationError({
        reason: `${name} changes something, and this server is read-only`,
        field: "--read-only",
        hint: "Ask the operator to start the server without --read-only (N8N_MCP_READ_ONLY)."
      })
    }
    const { data, totals, view } = yield* inside(yield* CurrentMiddleware, { tool: self, input })(page(input))
    return { data: (yield* RedactSecrets) ? Redact.redact(data) : data, totals, view }
  })

  const call = Effect.fnUntraced(function*(args: unknown) {
    const input = yield* decode()(args)
    const { data, totals } = yield* handle(input)
    return Hints.withoutGuidance(Minimize.markPages(data, totals))
  })

  const fit = Effect.fnUntraced(function*(input: In) {
    const { data, totals, view } = yield* handle(input)
    const show = yield* App.Show
    // A failing picture must not fail the answer.
    if (show !== undefined && view !== undefined) {
      yield* Effect.catchDefect(Effect.flatMap(view, show), (defect) => Effect.logError("no view for the app", defect))
    }
    const whole = Visible.json(data)
    const next: Next = (path, length) => Visible.json(Redact.redact(own.next?.(input, whole)(path, length)))
    const marked = Minimize.markPages(whole, totals, next)
    const budget = Math.min(own.maxChars?.(marked, input) ?? Infinity, (yield* Minimize.MaxResultChars) - envelopeRoom)
    return Minimize.fit(own.trim?.(marked, input) ?? marked, budget, next)
  })

  const run = Effect.fnUntraced(function*(args: unknown) {
    const input = yield* decode()(args)
    const data = yield* Deadline.bounded(fit(input), !annotations.readOnlyHint)
    const text = message(data, input)
    const local = typeof text === "string" ? text : text[yield* Locale.CurrentLocale]
    return {
      success: true as const,
      message: Minimize.fit(Visible.text(Redact.redactText(local)), envelopeRoom / 2),
      // An answer that does not match our own schema is a bug, not a failure.
      data: (yield* Effect.orDie(encode()(data))) as O["Encoded"]
    }
  })

  const self: Tool<Name, I, O, R, E> = {
    ...Struct.pick(tool, ["name", "title", "description", "input", "output"]),
    annotations,
    searchHint: own.searchHint,
    isEntry: own.isEntry ?? false,
    scopes: own.scopes ?? [],
    partialScopes: own.partialScopes ?? {},
    app: own.app,
    get inputSchema() {
      return listed()
    },
    get outputSchema() {
      return outputSchema()
    },
    call,
    answer: run,
    run,
    [parts]: own,
    [schema]: { inputSchema, unlisted }
  }
  return self
}

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
 * Schema of what a client sends, such as the payload of an `HttpApi` endpoint whose handler passes it to `call`: what
 * has a default may be left out.
 */
export const payload = <T extends Any>(tool: T): Schema.toEncoded<T["input"]> => Schema.toEncoded(tool.input)

/**
 * The result of a handler, or advice: TypeScript infers the result of a generic function that returns a function, such
 * as `Effect.fn`, only after all parts of the definition.
 */
export type Known<Raw> = 0 extends 1 & Raw ? Raw
  : unknown extends Raw ?
    "Leave summarize out, write handler as (input) => Effect.gen(…), or define its Effect.fn before"
  : Raw

/** Definition of a tool apart from `summarize`. */
export interface Definition<
  Name extends string,
  I extends InputSchema,
  O extends OutputSchema,
  Raw,
  R,
  E extends Errors.Failure
> extends About {
  readonly name: Name
  readonly title: string
  readonly description: string
  readonly input: I
  readonly output: O
  readonly handler: (input: I["Type"]) => Effect.Effect<Raw, E, R>
  /** Sentence about the data; an object if it exists in Japanese too. */
  readonly message: (data: O["Type"], input: I["Type"]) => string | Locale.Message
  readonly totals?: (raw: NoInfer<Raw>) => Totals
  readonly next?: (input: I["Type"], data: O["Type"]) => Next
  readonly maxChars?: (data: O["Type"], input: I["Type"]) => number
  readonly trim?: (data: O["Type"], input: I["Type"]) => O["Type"]
  /** View of the answer for {@link About.app}; made only for clients that show it. */
  readonly view?: (raw: NoInfer<Raw>, input: I["Type"]) => Effect.Effect<App.View, never, NoInfer<R>>
}

/**
 * Makes a tool.
 *
 * `handler` does the work, and `summarize`, unless left out, turns its result into the answer's `data`. `totals` has the full lengths of
 * lists that are pages of longer ones; `next` is the call that fetches the rest of a page or of a shortened list.
 * `maxChars` is the tool's own budget, below the general one; `trim` first cuts parts to budgets of their own. Only the
 * answer for a model is cut, not the result of a program's `call`.
 *
 * Beside `summarize`, `handler` is an arrow function, `(input) => Effect.gen(…)`, or an `Effect.fn` that is defined
 * before: TypeScript cannot infer the result of one that is written here. It may fail with any error that has a `_tag` and a `message`; its optional `hint` is the next step for a model.
 *
 * **Example** (A custom tool)
 *
 * ```ts
 * import { N8nClient, Tool } from "effect-n8n-mcp"
 * import { FakeN8n } from "effect-n8n-mcp/testing"
 * import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 *
 * export const countWorkflows = Tool.make({
 *   name: "count_workflows",
 *   title: "Count workflows",
 *   description: "How many workflows have a name with this word?",
 *   annotations: Tool.readOnly,
 *   input: Schema.Struct({ word: Schema.String }),
 *   output: Schema.Struct({ count: Schema.Int }),
 *   handler: ({ word }) =>
 *     N8nClient.N8nClient.use((n8n) => n8n.listWorkflows({ name: word, limit: 100, archived: false })),
 *   summarize: ({ workflows }) => ({ count: workflows.length }),
 *   message: ({ count }, { word }) => `${count} workflows with '${word}'`
 * })
 *
 * const workflows = [{ id: "1", name: "New order", nodes: [] }]
 *
 * export const test = Effect.map(countWorkflows.call({ word: "order" }), ({ count }) => count).pipe(
 *   Effect.provide(FakeN8n.layer({ workflows, executions: [] }))
 * )
 * ```
 */
export const make: {
  <const Name extends string, const I extends InputSchema, const O extends OutputSchema, R, E extends Errors.Failure>(
    definition: Definition<Name, I, O, O["Type"], R, E> & { readonly summarize?: undefined }
  ): Tool<Name, I, O, R, E>
  <
    const Name extends string,
    const I extends InputSchema,
    const O extends OutputSchema,
    Raw,
    R,
    E extends Errors.Failure
  >(
    definition: Definition<Name, I, O, Raw, R, E> & {
      readonly summarize: (raw: Known<NoInfer<Raw>>, input: I["Type"]) => O["Type"]
    }
  ): Tool<Name, I, O, R, E>
} = <
  const Name extends string,
  const I extends InputSchema,
  const O extends OutputSchema,
  Raw,
  R,
  E extends Errors.Failure
>(
  definition: Definition<Name, I, O, Raw, R, E> & {
    readonly summarize?: ((raw: Known<Raw>, input: I["Type"]) => O["Type"]) | undefined
  }
): Tool<Name, I, O, R, E> => {
  const { handler, input, output, summarize, totals, view } = definition
  return build({
    ...definition,
    // Lazy, so that `initialize` is answered before any schema is made.
    inputSchema: lazy(() => ofArguments(input)),
    unlisted: definition.unlisted ?? {},
    outputSchema: lazy(() => ofAnswer(output))
  }, {
    ...definition,
    page: (input) =>
      Effect.flatMap(handler(input), (raw) =>
        Effect.map(Effect.context<R>(), (context) => ({
          data: summarize === undefined ? raw as O["Type"] : summarize(raw as Known<Raw>, input),
          totals: totals?.(raw) ?? {},
          view: view && Effect.provideContext(Effect.suspend(() => view(raw, input)), context)
        })))
  })
}

/** Behaviour around a tool, whose own is `run`. */
export type Around<In, Out, R, E, R2, E2> = (
  run: (input: In) => Effect.Effect<Out, E, R>,
  input: In
) => Effect.Effect<Out, E2, R2>

/** Tool in a middleware. */
export type Wrapped<T extends Any, R, E extends Errors.Failure> = T extends
  Tool<infer Name, infer I, infer O, infer R1, infer E1> ? Tool<Name, I, O, R | R1, E | E1> : never

/**
 * Wraps a tool's behaviour, for example with a policy, an audit or a retry.
 *
 * `around` receives `run`, the tool's own behaviour, and the decoded input; it decides whether, how often and with which
 * input `run` is called, and which errors it fails with. It applies to `call`, `answer` and `run`, and to the resources
 * of a server that serves the wrapped tool.
 *
 * **Gotchas**
 *
 * Invalid input, and changes under {@link ReadOnly}, are refused before `around`. The data is not redacted yet.
 *
 * **Example** (A policy and an audit)
 *
 * ```ts
 * import { Services, Tool, tools } from "effect-n8n-mcp"
 * import { FakeN8n } from "effect-n8n-mcp/testing"
 * import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Schema from "effect/Schema"
 *
 * class Denied extends Schema.TaggedError<Denied>()("Denied", { hint: Schema.String }) {
 *   override readonly message = "Nothing is deleted at night"
 * }
 *
 * export const deleteByDay = (isNight: Effect.Effect<boolean>) =>
 *   Tool.wrap(tools.deleteWorkflow, (run, input) =>
 *     Effect.gen(function*() {
 *       if (yield* isNight) return yield* new Denied({ hint: "Call again after eight." })
 *       return yield* run(input).pipe(Effect.tap(() => Effect.logInfo(`deleted ${input.id}`)))
 *     }))
 *
 * export const test = deleteByDay(Effect.succeed(true)).answer({ id: "1", confirm: true }).pipe(
 *   Effect.flip,
 *   Effect.map(({ message }) => message),
 *   Effect.provide(Layer.merge(FakeN8n.layer({ workflows: [], executions: [] }), Services.layerMemory))
 * )
 * ```
 */
export const wrap: {
  /** Wraps a tool in a middleware, for the calls of programs; a server has `middleware` for all of its tools. */
  <T extends Any, R, E extends Errors.Failure>(tool: T, middleware: Middleware<R, E>): Wrapped<T, R, E>
  <
    const Name extends string,
    I extends InputSchema,
    O extends OutputSchema,
    R,
    E,
    R2,
    E2 extends Errors.Failure
  >(
    tool: Tool<Name, I, O, R, E>,
    around: Around<I["Type"], O["Type"], R, E, R2, E2>
  ): Tool<Name, I, O, R2, E2>
} = <
  const Name extends string,
  I extends InputSchema,
  O extends OutputSchema,
  R,
  E,
  R2,
  E2 extends Errors.Failure
>(
  tool: Tool<Name, I, O, R, E>,
  behaviour: Around<I["Type"], O["Type"], R, E, R2, E2> | Middleware
): Tool<Name, I, O, R2, E2> => {
  const own = tool[parts]
  const around: Around<I["Type"], O["Type"], R, E, R2, E2> = typeof behaviour === "function"
    ? behaviour
    : (run, input) => inside([behaviour], { tool: tool as Any, input })(run(input)) as never
  return build(
    {
      ...Struct.pick(tool, ["name", "title", "description", "input", "output"]),
      ...tool[schema],
      outputSchema: () => tool.outputSchema
    },
    {
      ...own,
      ...Struct.pick(tool, ["annotations", "app", "isEntry", "partialScopes", "scopes", "searchHint"]),
      page: (input) =>
        Effect.suspend(() => {
          let last: Page<O["Type"]> | undefined
          const run = (input: I["Type"]) =>
            Effect.map(own.page(input), (page) => {
              last = page
              return page.data
            })
          return Effect.map(around(run, input), (data) => ({
            data,
            totals: last?.totals ?? {},
            // The view may contain what `around` removed from the data.
            view: data === last?.data ? last?.view : undefined
          }))
        })
    }
  )
}
