/** Every operation of n8n's public API, typed by n8n's own description of it. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import * as Errors from "../base/Errors.ts"
import * as body from "./body.ts"
import { withoutValues } from "./credentials.ts"
import type { Operations } from "./generated/Operations.ts"
import { unreadableError } from "./HttpErrors.ts"
import { elements, type Page, pageOf } from "./pages.ts"
import { pathOf } from "./paths.ts"
import { type Query, readJson, type Request, type Requests } from "./requests.ts"

/** An operation: its method and its path, such as `GET /tags/{tagId}`. */
export type Operation = keyof Operations

/** Input of an operation: a `Redacted` `body` is in no error; `seconds` is the timeout with retries. */
export type OperationInput<K extends Operation> =
  & { readonly [P in keyof Operations[K] as P extends "result" | "body" ? never : P]: Operations[K][P] }
  & (Operations[K] extends { body: infer B } ? { readonly body: B | Redacted.Redacted<B> }
    : Operations[K] extends { body?: infer B } ? { readonly body?: B | Redacted.Redacted<B> }
    : {})
  & { readonly seconds?: number }

/** Result of an operation as n8n describes it; the value may have more fields, or lack some. */
export type OperationResult<K extends Operation> = Operations[K]["result"]

/** Failures of an operation; without an id in its path there is no `NotFoundError`. */
export type OperationError<K extends Operation> = Operations[K] extends { path: unknown } ? Errors.N8nError
  : Errors.RequestError

/** Method of a request by path. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/** Input of a request by path: a `Redacted` `body` is in no error; `seconds` is the timeout with retries. */
export interface PathInput {
  readonly query?: Query
  readonly body?: unknown
  readonly seconds?: number
}

type Argument<I> = {} extends I ? [input?: I] : [input: I]

/** Operations that list something in pages. */
export type ListOperation = {
  [K in Operation]: "nextCursor" extends keyof OperationResult<K> ? K : never
}[Operation]

type Item<K extends ListOperation> = OperationResult<K> extends { data?: ReadonlyArray<infer A> } ? A : never

export interface Service {
  /**
   * Sends any request of n8n's public API, with the key, retries, timeouts, spans, guard and errors of other methods.
   *
   * The result has every field that n8n sends. It is typed by the description of n8n 2.41 and not checked, unless there
   * is a `schema`. `isUnsupported` recognizes the error of an n8n that is too old for the operation. A method and a path
   * below `/api/v1` reach what the description lacks: parts with special characters are percent-encoded by the caller.
   *
   * **Example** (Renaming a tag)
   *
   * ```ts
   * import { N8nClient } from "effect-n8n-mcp"
   * import * as Effect from "effect/Effect"
   *
   * export const rename = Effect.fn(function*(tagId: string, name: string) {
   *   const n8n = yield* N8nClient.N8nClient
   *   return yield* n8n.request("PUT /tags/{tagId}", { path: { tagId }, body: { name } })
   * })
   * ```
   *
   * **Example** (An endpoint of a later n8n)
   *
   * ```ts
   * import { N8nClient } from "effect-n8n-mcp"
   * import * as Schema from "effect/Schema"
   *
   * const Row = Schema.Struct({ workflowName: Schema.String, failed: Schema.Int })
   *
   * export const failures = N8nClient.N8nClient.use((n8n) =>
   *   n8n.request("GET", "/insights/by-workflow", {
   *     query: { limit: 10 },
   *     schema: Schema.Struct({ data: Schema.Array(Row) })
   *   })
   * )
   * ```
   */
  readonly request: {
    <K extends Operation, S extends Schema.ConstraintDecoder<unknown>>(
      operation: K,
      input: OperationInput<K> & { readonly schema: S }
    ): Effect.Effect<S["Type"], OperationError<K>>
    <K extends Operation>(
      operation: K,
      ...input: Argument<OperationInput<K>>
    ): Effect.Effect<OperationResult<K>, OperationError<K>>
    <S extends Schema.ConstraintDecoder<unknown> = Schema.Unknown>(
      method: Method,
      path: `/${string}`,
      input?: PathInput & { readonly schema?: S }
    ): Effect.Effect<S["Type"], Errors.RequestError>
  }
  /** All elements of a list, a page at a time as they are asked for. */
  readonly stream: <K extends ListOperation>(
    operation: K,
    ...input: Argument<OperationInput<K>>
  ) => Stream.Stream<Item<K>, OperationError<K>>
}

interface Input extends PathInput {
  readonly path?: { readonly [name: string]: string | number }
  readonly schema?: Schema.ConstraintDecoder<unknown>
}

/** Name and type of the resource in a path: `Workflow` for `workflowId` and the `id` of `/workflows/{id}`. */
const resourceOf = (template: string) => {
  const [, segment = "", name = ""] = /([^/]+)\/\{(\w+)\}[^{}]*$/.exec(template) ?? []
  const words = (name === "id" || name === "name" ? segment.replace(/s$/, "") : name.replace(/(Id|Slug|Name)$/, ""))
    .replace(/-/g, " ").replace(/(?=[A-Z])/g, " ").toLowerCase()
  return { name, resourceType: words.charAt(0).toUpperCase() + words.slice(1) }
}

/** Writes that break n8n 1.x when they overlap. */
const isSerial = /^(?!GET)\w+ \/(?:workflows|tags|credentials)\b|^DELETE \/executions\b|^PUT \S+\/tags$/i

/** A path that a guard reads as n8n does: no empty part, nothing that a proxy decodes to a separator. */
const plainPath = /^\/[a-z0-9-]+(?:\/(?:[\w.~-]|%(?!2f|5c)[0-9a-f]{2})+)*$/i

const pathError = (operation: string) =>
  Errors.invalid(
    "path",
    `Cannot send ${operation}: it is not a path below /api/v1`,
    "Nothing was sent. A path is like /insights/summary: values in it are percent-encoded, and parameters belong in query."
  )

const AnyPage = pageOf(Schema.Unknown)

export const make = (requests: Requests): Service => {
  const request = (operation: string, input: Input = {}): Effect.Effect<unknown, Errors.N8nError> => {
    const [method = "", template = ""] = operation.split(" ")
    const { path = {}, query, schema = Schema.Unknown, seconds } = input
    const { name, resourceType } = resourceOf(template)
    const target = {
      operation: `send ${operation}`,
      ...(name === "" ? {} : { resourceType, resourceId: String(path[name]) })
    }
    const values = Redacted.isRedacted(input.body) ? input.body : undefined
    const sending = requests.send(
      {
        method: method as Request["method"],
        path: template.replace(/\{(\w+)\}/g, (_, name: string) => pathOf`${path[name]}`),
        query,
        body: values === undefined ? input.body : Redacted.value(values),
        seconds
      },
      target,
      (response, target) =>
        method === "DELETE" && response.status === 404
          ? Effect.void
          : /json|text|^$/.test(response.headers["content-type"] ?? "")
          ? readJson(response, schema, target)
          : Effect.filterOrFail(
            body.readBytes(response, body.maxBytes.json),
            ({ isCut }) => !isCut,
            () => unreadableError(target, `more than ${body.maxBytes.json / 1_000_000} MB`)
          ).pipe(Effect.map(({ bytes }) => bytes))
    ).pipe(Effect.mapError(withoutValues(values)))
    return (isSerial.test(operation) ? requests.serializeWrite(sending) : sending).pipe(
      Effect.withSpan("N8nClient.request", { attributes: { operation } })
    )
  }
  return {
    request: ((operation: string, input?: Input | string, options?: Input) =>
      typeof input !== "string"
        ? request(operation, input)
        : plainPath.test(input)
        ? request(`${operation} ${input}`, options)
        : pathError(`${operation} ${input}`)) as Service["request"],
    stream: (operation: string, input: Input = {}) =>
      elements(
        { operation: `send ${operation}` },
        ({ cursor = input.query?.["cursor"], limit }) =>
          request(operation, {
            ...input,
            query: { limit, ...input.query, cursor },
            schema: AnyPage
          }) as Effect.Effect<Page<never>, never>
      )
  }
}
