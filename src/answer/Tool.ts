/** Tool as one value: its description, and the pipeline from arguments to an answer; `call` ends after `redact`. */
import * as Effect from "effect/Effect"
import { flow, identity } from "effect/Function"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Alias from "../base/Alias.ts"
import * as Deadline from "../base/Deadline.ts"
import * as Errors from "../base/Errors.ts"
import { num, obj } from "../base/Json.ts"
import * as Omission from "../base/Omission.ts"
import * as Redact from "../base/Redact.ts"
import * as Turn from "../base/Turn.ts"
import * as Visible from "../base/Visible.ts"
import * as App from "./App.ts"
import * as Arguments from "./Arguments.ts"
import * as Hints from "./Hints.ts"
import { type JsonSchema, ofAnswer, ofArguments, withoutParameters } from "./jsonSchemas.ts"
import * as Locale from "./Locale.ts"
import { CurrentMiddleware, inside, type Middleware } from "./middleware.ts"
import * as Minimize from "./Minimize.ts"
import {
  type About,
  type Any,
  type Described,
  type Ending,
  type InputSchema,
  type Known,
  type NoInput,
  type OutputSchema,
  type Page,
  type Parts,
  parts,
  ReadOnly,
  RedactSecrets,
  schema,
  type Tool
} from "./toolParts.ts"
import { listsFrom, markable, type Next, type Totals } from "./Truncated.ts"

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
export type { Bounds, Budget } from "./Minimize.ts"
export {
  type About,
  additive,
  type Annotations,
  type Answer,
  type Any,
  CurrentTools,
  destructive,
  type Ending,
  extended,
  type Input,
  type InputSchema,
  type Known,
  type NoInput,
  offered,
  type Output,
  type OutputSchema,
  payload,
  ReadOnly,
  readOnly,
  RedactSecrets,
  type Served,
  served,
  type Services,
  serving,
  type Tool,
  Withheld
} from "./toolParts.ts"

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
  const listing = lazy(() => withoutParameters(inputSchema(), Object.keys(unlisted)))
  const decoder = (isExact: boolean) =>
    lazy(() => Arguments.decoder<In, never>(name, tool.input, inputSchema(), { empty: own.empty ?? {}, isExact }))
  const exact = decoder(true)
  const lenient = decoder(false)
  const encode = lazy(() => Schema.encodeEffect(markable<Out, unknown>(tool.output)))

  const attributes = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name }
  const handle = Effect.fnUntraced(function*(input: In) {
    if (!annotations.readOnlyHint && (yield* ReadOnly)) {
      return yield* new Errors.ValidationError({
        reason: `${name} changes something, and this server is read-only`,
        field: "--read-only",
        hint: { _tag: "AllowWrites" }
      })
    }
    const { data, ending, ...rest } = yield* inside([...yield* CurrentMiddleware, ...own.middleware], self, page)(input)
    const redacts = yield* RedactSecrets
    const clean = redacts ? (some: Out) => Redact.redact(some) : identity<Out>
    return {
      ...rest,
      data: redacts ? yield* Turn.run(() => Redact.steps(data)) : data,
      ending: ending && { ...ending, after: flow(ending.after, clean) }
    }
  }, (effect) => Effect.withSpan(effect, `execute_tool ${name}`, { attributes, captureStackTrace: false }))

  const call = Effect.fnUntraced(function*(args: unknown) {
    const input = yield* exact()(args)
    const { data, totals } = yield* handle(input)
    return Hints.withoutGuidance(Minimize.markPages(data, totals))
  }, Alias.retry)

  const fit = Effect.fnUntraced(function*(args: unknown) {
    const input = yield* lenient()(args)
    const { data, ending, totals, view } = yield* handle(input)
    const show = yield* App.Show
    // A failing picture must not fail the answer.
    if (show !== undefined && view !== undefined) {
      yield* Effect.catchDefect(Effect.flatMap(view, show), (defect) => Effect.logError("no view for the app", defect))
    }
    const max = (yield* Minimize.MaxResultChars) - envelopeRoom
    const all = yield* Turn.run(() => Visible.steps(data, flow(Omission.files, Visible.text)))
    const draft = (whole: typeof all) => {
      const next: Next = (path, length) => Visible.json(Redact.redact(own.next?.(input, whole)(path, length)))
      const marked = Minimize.markPages(whole, totals, next)
      return { value: marked, budget: own.budget?.(marked, input) ?? {}, next }
    }
    yield* Turn.pause
    const fitted = Minimize.fitPage(
      ending?.size ?? 0,
      max,
      (count) =>
        draft(
          ending && count < ending.size
            ? Turn.finish(Visible.steps(ending.after(count), flow(Omission.files, Visible.text)))
            : all
        )
    )
    return { data: fitted, input }
  }, Alias.retry)

  const run = Effect.fnUntraced(function*(args: unknown) {
    const { data, input } = yield* Deadline.bounded(fit(args), !annotations.readOnlyHint)
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
      return listing()
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
  /** Schema of the arguments. Default: none. */
  readonly input?: I
  readonly output: O
  readonly handler: (input: I["Type"]) => Effect.Effect<Raw, E, R>
  /** Sentence about the data, or an object with the sentence in every language. */
  readonly message: (data: O["Type"], input: I["Type"]) => string | Locale.Message
  readonly totals?: (raw: NoInfer<Raw>, input: I["Type"]) => Totals
  readonly ending?: (raw: NoInfer<Raw>, input: I["Type"]) => Ending<NoInfer<Raw>> | undefined
  readonly next?: (input: I["Type"], data: O["Type"]) => Next
  /** Paths of lists that the argument `offset` begins later; the rest of each is the same call from there. */
  readonly paged?: ReadonlyArray<string>
  readonly budget?: (data: O["Type"], input: I["Type"]) => Minimize.Budget
  /** View of the answer for {@link About.app}; made only for clients that show it. */
  readonly view?: (raw: NoInfer<Raw>, input: I["Type"]) => Effect.Effect<App.View, never, NoInfer<R>>
}

/**
 * Makes a tool.
 *
 * `handler` does the work, and `summarize` turns its result into the answer's `data`; without `summarize`, the result is
 * the data. `totals` has the full lengths of lists that are pages of longer ones; `next` is the call that fetches the
 * rest of a page or of a shortened list, for those of `paged` by the argument `offset`. With `ending` the budget ends a page instead of cutting it, so that its cursor
 * continues after what is shown. `budget` bounds the answer below the general budget, and its parts. Only the answer for a model is cut, not the result of a program's `call`.
 *
 * With `summarize`, write `handler` as an arrow function, `(input) => Effect.gen(…)`, or define its `Effect.fn` before
 * the tool: TypeScript cannot infer the result of an `Effect.fn` in the definition. `handler` may fail with any error
 * that has a `_tag` and a `message`; the error's optional `hint` is the next step for a model.
 *
 * **Example** (A custom tool)
 *
 * ```ts
 * import { N8nClient, Tool } from "effect-n8n-mcp"
 * import { FakeN8n } from "effect-n8n-mcp/testing"
 * import * as Effect from "effect/Effect"
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
  <
    const Name extends string,
    const O extends OutputSchema,
    R,
    E extends Errors.Failure,
    const I extends InputSchema = NoInput
  >(
    definition: Definition<Name, I, O, O["Type"], R, E> & { readonly summarize?: undefined }
  ): Tool<Name, I, O, R, E>
  <
    const Name extends string,
    const O extends OutputSchema,
    Raw,
    R,
    E extends Errors.Failure,
    const I extends InputSchema = NoInput
  >(
    definition: Definition<Name, I, O, Raw, R, E> & {
      readonly summarize: (raw: Known<NoInfer<Raw>>, input: I["Type"]) => O["Type"]
    }
  ): Tool<Name, I, O, R, E>
} = <
  const Name extends string,
  const O extends OutputSchema,
  Raw,
  R,
  E extends Errors.Failure,
  const I extends InputSchema = NoInput
>(
  definition: Definition<Name, I, O, Raw, R, E> & {
    readonly summarize?: ((raw: Known<Raw>, input: I["Type"]) => O["Type"]) | undefined
  }
): Tool<Name, I, O, R, E> => {
  // Without `input`, its type is that of no arguments.
  const input = definition.input ?? Schema.Struct({}) as Schema.Constraint as I
  const { ending, handler, name, next, output, paged = [], summarize, totals, view } = definition
  const offsetIn = (args: I["Type"]) => num(obj(args)?.["offset"]) ?? 0
  return build({
    ...definition,
    input,
    // Lazy, so that `initialize` is answered before any schema is made.
    inputSchema: lazy(() => ofArguments(input)),
    unlisted: definition.unlisted ?? {},
    outputSchema: lazy(() => ofAnswer(output))
  }, {
    ...definition,
    next: (args, data) => (path, count) =>
      next?.(args, data)(path, count) ??
        (paged.includes(path) ? Hints.again(name, args as object, { offset: offsetIn(args) + count }) : undefined),
    middleware: [],
    page: (input) =>
      Effect.flatMap(handler(input), (raw) =>
        Effect.map(Effect.context<R>(), (context) => {
          const show = (raw: Raw): O["Type"] => {
            const data = summarize === undefined ? raw as O["Type"] : summarize(raw as Known<Raw>, input)
            return listsFrom(data, paged, offsetIn(input))
          }
          const list = ending?.(raw, input)
          return {
            data: show(raw),
            totals: totals?.(raw, input) ?? {},
            ending: list && { ...list, after: flow(list.after, show) },
            view: view && Effect.provideContext(Effect.suspend(() => view(raw, input)), context)
          }
        }))
  })
}

/** Behaviour around a tool; `run` is the tool's own behaviour. */
export type Around<In, Out, R, E, R2, E2> = (
  run: (input: In) => Effect.Effect<Out, E, R>,
  input: In
) => Effect.Effect<Out, E2, R2>

/** Middleware by a behaviour that sees the data; the middleware of a server only passes them on. */
const onData = <In, Out, R, E, R2, E2>(behaviour: Around<In, Out, R, E, R2, E2>): Middleware => {
  const around = (run: (input: In) => Effect.Effect<Page<Out>, E, R>, { input }: { readonly input: In }) =>
    Effect.suspend(() => {
      let last: Page<Out> | undefined
      const data = behaviour((input) => Effect.map(run(input), (page) => (last = page).data), input)
      return Effect.map(data, (data): Page<Out> =>
        // The view may contain what the behaviour removed from the data.
        data === last?.data ? last : { data, totals: last?.totals ?? {} })
    })
  return { around: around as never }
}

/** Tool in a middleware. */
export type Wrapped<T extends Any, R, E extends Errors.Failure> = T extends
  Tool<infer Name, infer I, infer O, infer R1, infer E1> ? Tool<Name, I, O, R | R1, E | E1> : never

/**
 * Wraps a tool's behaviour, for example with a policy, an audit or a retry.
 *
 * `around` receives `run`, the tool's own behaviour, and the decoded input; it decides whether, how often and with which
 * input `run` is called, and which errors it fails with. It is a middleware of this tool alone that also sees and may
 * change the data: of several the last is the outermost, and those of a server are around all. It applies to `call`,
 * `answer` and `run`, and to the resources of a server that serves the wrapped tool.
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
 * import * as Effect from "effect/Effect"
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
  return build(
    {
      ...Struct.pick(tool, ["name", "title", "description", "input", "output"]),
      ...tool[schema],
      outputSchema: () => tool.outputSchema
    },
    {
      ...own,
      ...Struct.pick(tool, ["annotations", "app", "isEntry", "partialScopes", "scopes", "searchHint"]),
      middleware: [typeof behaviour === "function" ? onData(behaviour) : behaviour, ...own.middleware],
      // What its services and failures become, `behaviour` says.
      page: own.page as never
    }
  )
}
