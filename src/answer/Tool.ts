/**
 * A tool is one value: what a client is told about it, and the pipeline
 * `decode → handle → summarize → redact → make visible → minimize → encode` behind it.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Deadline from "../base/Deadline.ts"
import * as Errors from "../base/Errors.ts"
import * as Redact from "../base/Redact.ts"
import * as Visible from "../base/Visible.ts"
import * as Arguments from "./Arguments.ts"
import * as Locale from "./Locale.ts"
import * as Minimize from "./Minimize.ts"
import { markable, type Next, type Totals } from "./Truncated.ts"

/** MCP's behaviour hints; a client may run read-only tools concurrently and without asking. */
export interface Annotations {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

/** For tools that only read. */
export const readOnly: Annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true
}

/** For tools that change or delete; they keep what they overwrite as a snapshot. */
export const destructive: Annotations = { ...readOnly, readOnlyHint: false, destructiveHint: true }

/** For tools that add something with each call. */
export const additive: Annotations = { ...readOnly, readOnlyHint: false, idempotentHint: false }

/** Whether all tools that change something are refused. Default: `false`. */
export const ReadOnly = Context.Reference<boolean>("effect-n8n-mcp/ReadOnly", { defaultValue: () => false })

/** The tools that a client is offered: all, or with `readOnly` only those that change nothing. */
export const offered = <T extends Any>(tools: ReadonlyArray<T>, readOnly: boolean): ReadonlyArray<T> =>
  readOnly ? tools.filter(({ annotations }) => annotations.readOnlyHint) : tools

/** Whether secrets in answers are replaced by `[redacted]`. Default: `true`. */
export const RedactSecrets = Context.Reference<boolean>("effect-n8n-mcp/RedactSecrets", { defaultValue: () => true })

/** A successful answer. */
export interface Answer<Data> {
  readonly success: true
  readonly message: string
  readonly data: Data
}

/** A tool of any type, as a server uses it. */
export interface Any<out R = unknown> {
  readonly name: string
  readonly title: string
  readonly description: string
  /** Words that people use for it, for clients that search tools before loading them. */
  readonly searchHint: string | undefined
  readonly annotations: Annotations
  /** The scopes of n8n's API that it needs, such as `workflow:read`. */
  readonly scopes: ReadonlyArray<string>
  /** Scopes that only a part of the tool needs, with that part. */
  readonly partialScopes: { readonly [scope: string]: string }
  /** The JSON Schema (2020-12) of the arguments. */
  readonly inputSchema: JsonSchema
  /** The JSON Schema (2020-12) of the whole answer. */
  readonly outputSchema: JsonSchema
  /** Calls the tool with untyped arguments, for transports; the answer is JSON within the budget, in 50 seconds. */
  readonly run: (args: unknown) => Effect.Effect<Answer<unknown>, Errors.N8nError, R>
}

/** A tool with typed input and output. */
export interface Tool<Name extends string, In, Out, R> extends Any<R> {
  readonly name: Name
  /** Calls the tool with typed input, for programs; the data is within the budget. */
  readonly call: (input: In) => Effect.Effect<Out, Errors.N8nError, R>
}

/** The services that a tool needs. */
export type Services<T> = T extends Any<infer R> ? R : never

/** A JSON Schema with an object at its root, as MCP requires. */
export interface JsonSchema {
  readonly type: "object"
  readonly properties?: { readonly [key: string]: object }
  readonly [key: string]: unknown
}

/** The JSON Schema (2020-12) of a schema, without additional properties. */
export const jsonSchema = (schema: Schema.Constraint): JsonSchema => {
  const { definitions, schema: root } = Schema.toJsonSchemaDocument(schema, { onExcessProperty: "error" })
  return { ...root, type: "object", ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions }) }
}

const isOpenObject = (schema: unknown) => JSON.stringify(schema) === `{"type":"object","additionalProperties":{}}`

/** Whether a keyword is omitted: bounds that a model meets anyway; the Schema still checks what it sends. */
const isNoise = (key: string, value: unknown, isRoot: boolean) =>
  (key === "minLength" || key === "minItems") && value === 1 ||
  key === "maxItems" && typeof value === "number" ||
  key === "maximum" && Number(value) >= 1_000_000 ||
  key === "minimum" && Number(value) <= -1_000_000 ||
  key === "additionalProperties" && !isRoot && (value === false || JSON.stringify(value) === "{}") ||
  key === "allOf" && Array.isArray(value) && value.every(isOpenObject)

/** Marks are told of only at the root of an answer's data, and may be an object or a list; nested objects also allow them. */
const mark = {}

/** The types of an `anyOf` of bare types; `undefined` for any other. */
const typesOf = (alternatives: unknown): ReadonlyArray<unknown> | undefined =>
  Array.isArray(alternatives) &&
    alternatives.every((each) => Object.keys(each).length === 1 && typeof each.type === "string")
    ? alternatives.map(({ type }) => type)
    : undefined

/** What Effect makes of `Schema.Literal(true)`, as every answer has it. */
const alwaysTrue = `{"type":"boolean","enum":[true]}`

/** Reduces a JSON Schema to what a model needs to send arguments and a program to read answers. */
const shortenSchema = (schema: unknown, isRoot = false): unknown => {
  if (Array.isArray(schema)) return schema.map((each) => shortenSchema(each))
  if (typeof schema !== "object" || schema === null) return schema
  if (JSON.stringify(schema) === alwaysTrue) return { const: true }
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => {
      if (isNoise(key, value, isRoot) || key === "_truncated") return []
      const types = key === "anyOf" ? typesOf(value) : undefined
      return types === undefined ? [[key, shortenSchema(value)]] : [["type", types]]
    })
  )
}

/** Declares the mark in the data of an answer's schema. */
const withMark = (schema: JsonSchema): JsonSchema => {
  const data = schema.properties?.["data"] as JsonSchema
  const properties = { ...data.properties, _truncated: mark }
  return { ...schema, properties: { ...schema.properties, data: { ...data, properties } } }
}

const lazy = <A>(make: () => A) => {
  let result: { readonly value: A } | undefined
  return () => (result ??= { value: make() }).value
}

/** The part of the budget for everything around `data`. */
const envelopeRoom = 600

/**
 * Makes a tool.
 *
 * **Details**
 *
 * `handler` does the work, and `summarize` turns its result into the answer's `data`. `totals` has the full lengths of
 * lists in it that are pages of longer ones; `next` is the call that fetches the rest of a page or of a shortened list.
 * `maxChars` is the tool's own budget, below the general one; `trim` first cuts parts to budgets of their own.
 */
export const make = <
  const Name extends string,
  In,
  Out extends object,
  Raw,
  R
>(definition: {
  readonly name: Name
  readonly title: string
  readonly description: string
  readonly searchHint?: string
  readonly annotations: Annotations
  readonly scopes: ReadonlyArray<string>
  readonly partialScopes?: { readonly [scope: string]: string }
  readonly input: Schema.ConstraintCodec<In, unknown>
  readonly output: Schema.ConstraintCodec<Out, unknown>
  readonly handler: (input: In) => Effect.Effect<Raw, Errors.N8nError, R>
  readonly summarize: (raw: NoInfer<Raw>, input: NoInfer<In>) => NoInfer<Out>
  readonly message: (data: NoInfer<Out>, input: NoInfer<In>) => Locale.Message
  readonly totals?: (raw: NoInfer<Raw>) => Totals
  readonly next?: (input: NoInfer<In>, data: NoInfer<Out>) => Next
  readonly maxChars?: (data: NoInfer<Out>, input: NoInfer<In>) => number
  readonly trim?: (data: NoInfer<Out>, input: NoInfer<In>) => NoInfer<Out>
}): Tool<Name, In, Out, R> => {
  const { annotations, description, handler, message, name, scopes, summarize, title } = definition
  // Lazy, so that a client gets its answer to `initialize` before any schema is made.
  const inputSchema = lazy(() => shortenSchema(jsonSchema(definition.input), true) as JsonSchema)
  const output = lazy(() => markable(definition.output))
  const outputSchema = lazy(() =>
    withMark(
      shortenSchema(
        jsonSchema(Schema.Struct({ success: Schema.Literal(true), message: Schema.String, data: output() }))
      ) as JsonSchema
    )
  )
  const decode = lazy(() => Arguments.decoder(name, definition.input, inputSchema()))
  const encode = lazy(() => Schema.encodeEffect(output()))

  const call = Effect.fn(name)(function*(input: In) {
    if (!annotations.readOnlyHint && (yield* ReadOnly)) {
      return yield* new Errors.ValidationError({
        reason: `${name} changes something, and this server is read-only`,
        field: "--read-only",
        hint: "A person has to start the server without --read-only (N8N_MCP_READ_ONLY)."
      })
    }
    const raw = yield* handler(input)
    const redacts = yield* RedactSecrets
    const clean = <A>(value: A): A => Visible.json(redacts ? Redact.redact(value) : value)
    const whole = clean(summarize(raw, input))
    const next: Next = (path, kept) => clean(definition.next?.(input, whole)(path, kept))
    const data = Minimize.markPages(whole, definition.totals?.(raw) ?? {}, next)
    const budget = Math.min(
      definition.maxChars?.(data, input) ?? Infinity,
      (yield* Minimize.MaxResultChars) - envelopeRoom
    )
    return Minimize.fit(definition.trim?.(data, input) ?? data, budget, next)
  })

  return {
    name,
    title,
    description,
    searchHint: definition.searchHint,
    annotations,
    scopes,
    partialScopes: definition.partialScopes ?? {},
    get inputSchema() {
      return inputSchema()
    },
    get outputSchema() {
      return outputSchema()
    },
    call,
    run: Effect.fnUntraced(function*(args) {
      const input = yield* decode()(args)
      const data = yield* Deadline.bounded(call(input), !annotations.readOnlyHint)
      const text = message(data, input)[yield* Locale.CurrentLocale]
      return {
        success: true as const,
        message: Minimize.fit(Visible.text(Redact.redactText(text)), envelopeRoom / 2),
        // An answer that does not match our own schema is a bug, not a failure.
        data: yield* Effect.orDie(encode()(data))
      }
    })
  }
}
