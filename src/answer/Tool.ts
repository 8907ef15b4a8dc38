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

/** MCP behaviour hints; a client may run read-only tools side by side and without asking. */
export interface Annotations {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

/** Reads from n8n and changes nothing. */
export const readOnly: Annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true
}

/** Changes something in n8n; what it overwrites or deletes is kept as a snapshot. */
export const destructive: Annotations = { ...readOnly, readOnlyHint: false, destructiveHint: true }

/** Adds something, once for each call. */
export const additive: Annotations = { ...readOnly, readOnlyHint: false, idempotentHint: false }

/** Whether tools that change something are refused, whatever else says; `false` unless provided. */
export const ReadOnly = Context.Reference<boolean>("effect-n8n-mcp/ReadOnly", { defaultValue: () => false })

/** Those that a client is shown: with `readOnly` only what changes nothing. */
export const offered = <T extends Any>(tools: ReadonlyArray<T>, readOnly: boolean): ReadonlyArray<T> =>
  readOnly ? tools.filter(({ annotations }) => annotations.readOnlyHint) : tools

/** Whether secrets in answers are replaced by `[redacted]`; `true` unless provided. */
export const RedactSecrets = Context.Reference<boolean>("effect-n8n-mcp/RedactSecrets", { defaultValue: () => true })

/** A successful answer. */
export interface Answer<Data> {
  readonly success: true
  readonly message: string
  readonly data: Data
}

/** A tool of whatever kind, as a server holds it. */
export interface Any<out R = unknown> {
  readonly name: string
  readonly title: string
  readonly description: string
  /** Words that people use for it, where a client searches its tools before it loads them. */
  readonly searchHint: string | undefined
  readonly annotations: Annotations
  /** What the API key must be allowed, in n8n's words. */
  readonly scopes: ReadonlyArray<string>
  /** What only a part of the tool needs, and which part. */
  readonly partialScopes: { readonly [scope: string]: string }
  /** JSON Schemas (2020-12) of the arguments, and of the whole answer. */
  readonly inputSchema: JsonSchema
  readonly outputSchema: JsonSchema
  /** For transports: JSON in, JSON inside the budget out, within 50 seconds. */
  readonly run: (args: unknown) => Effect.Effect<Answer<unknown>, Errors.N8nError, R>
}

/** One tool; `E` is always an `N8nError`. */
export interface Tool<Name extends string, In, Out, R> extends Any<R> {
  readonly name: Name
  /** For programs: typed input, typed data inside the budget. */
  readonly call: (input: In) => Effect.Effect<Out, Errors.N8nError, R>
}

/** What a tool needs from outside. */
export type Services<T> = T extends Any<infer R> ? R : never

/** A JSON Schema with an object at its root, as MCP wants it. */
export interface JsonSchema {
  readonly type: "object"
  readonly properties?: { readonly [key: string]: object }
  readonly [key: string]: unknown
}

/** JSON Schema (2020-12), closed to unknown keys. */
export const jsonSchema = (schema: Schema.Constraint): JsonSchema => {
  const { definitions, schema: root } = Schema.toJsonSchemaDocument(schema, { onExcessProperty: "error" })
  return { ...root, type: "object", ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions }) }
}

const isOpenObject = (schema: unknown) => JSON.stringify(schema) === `{"type":"object","additionalProperties":{}}`

/** Bounds that a model meets by itself, or never comes near; what it sends is checked by the Schema all the same. */
const isNoise = (key: string, value: unknown, isRoot: boolean) =>
  (key === "minLength" || key === "minItems") && value === 1 ||
  key === "maxItems" && typeof value === "number" ||
  key === "maximum" && Number(value) >= 1_000_000 ||
  key === "minimum" && Number(value) <= -1_000_000 ||
  key === "additionalProperties" && !isRoot && (value === false || JSON.stringify(value) === "{}") ||
  key === "allOf" && Array.isArray(value) && value.every(isOpenObject)

/** Marks of what was cut are named at the root of an answer's data; objects within are open to them. */
const mark = { type: ["object", "array"] }

/** The types of an `anyOf` that says nothing else; `undefined` where it does. */
const typesOf = (alternatives: unknown): ReadonlyArray<unknown> | undefined =>
  Array.isArray(alternatives) &&
    alternatives.every((each) => Object.keys(each).length === 1 && typeof each.type === "string")
    ? alternatives.map(({ type }) => type)
    : undefined

/** The schema in as few words as tell a model what to send, or a program what it gets. */
const lean = (schema: unknown, isRoot = false): unknown => {
  if (Array.isArray(schema)) return schema.map((each) => lean(each))
  if (typeof schema !== "object" || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => {
      if (isNoise(key, value, isRoot) || key === "_truncated") return []
      const types = key === "anyOf" ? typesOf(value) : undefined
      return types === undefined ? [[key, lean(value)]] : [["type", types]]
    })
  )
}

/** An answer's schema, with the mark in its data. */
const withMark = (schema: JsonSchema): JsonSchema => {
  const data = schema.properties?.["data"] as JsonSchema
  const properties = { ...data.properties, _truncated: mark }
  return { ...schema, properties: { ...schema.properties, data: { ...data, properties } } }
}

const once = <A>(make: () => A) => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}

/** Room of the budget for everything around `data`. */
const envelopeRoom = 600

/**
 * Makes a tool.
 *
 * **Details**
 *
 * `handler` does the work; `summarize` turns its result into the answer's `data`; `totals` names the lists of it
 * that are one page of a longer one; `next` is the call that fetches the rest of a page or of a list that was cut;
 * `maxChars` is a budget of the tool's own, below the general one, and `trim` cuts parts to budgets of theirs before.
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
  // Made when they are first asked for: a client is answered `initialize` before it wants any of them.
  const inputSchema = once(() => lean(jsonSchema(definition.input), true) as JsonSchema)
  const output = once(() => markable(definition.output))
  const outputSchema = once(() =>
    withMark(
      lean(
        jsonSchema(Schema.Struct({ success: Schema.Literal(true), message: Schema.String, data: output() })),
        true
      ) as JsonSchema
    )
  )
  const decode = once(() => Arguments.decoder(name, definition.input, inputSchema()))
  const encode = once(() => Schema.encodeEffect(output()))

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
        // An answer that breaks our own schema is a bug, not a failure.
        data: yield* Effect.orDie(encode()(data))
      }
    })
  }
}
