/**
 * The errors of this package: `NotFoundError`, `ValidationError` (our own checks) and `ApiError` (all others). In an
 * `HttpApi` they are answered with 404, 400 and 502.
 */
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { Hint } from "./Advice.ts"
import { defined, own } from "./Json.ts"
import { redactText } from "./Redact.ts"

/** Operation of a request and its resource; becomes the `context` of its errors. */
export interface Target {
  /** A verb phrase, such as `get workflow`. */
  readonly operation: string
  /** Such as `Workflow`; absent for lists. */
  readonly resourceType?: string | undefined
  readonly resourceId?: string | undefined
}

/** Target that is a single resource, which may be missing. */
export interface ResourceTarget extends Target {
  readonly resourceType: string
}

/** Target as in the errors' context. @internal */
export const targetFields = ({ operation, resourceId, resourceType }: Target) =>
  defined({ operation, resourceType, resourceId })

const TypeId = "~effect-n8n-mcp/Errors"

const target = {
  operation: Schema.optionalKey(Schema.String),
  resourceType: Schema.optionalKey(Schema.String),
  resourceId: Schema.optionalKey(Schema.String),
  /** Next step as data; `Hints.explain` has it in words. */
  hint: Schema.optionalKey(Hint)
}

/** n8n has no such resource (HTTP 404). */
export class NotFoundError extends Schema.TaggedError<NotFoundError>("effect-n8n-mcp/Errors/NotFoundError")(
  "NotFoundError",
  target,
  { httpApiStatus: 404 }
) {
  /** Marks an error of this package, for types as well: an app's own `NotFoundError` is not one. */
  get [TypeId](): typeof TypeId {
    return TypeId
  }
  override get message() {
    return `${this.resourceType ?? "Resource"} '${this.resourceId ?? ""}' not found`
  }
}

/** Secrets are redacted in `details`. */
const details = { details: Schema.String }

/** Message of `fetch`, which has no code, about a port to which it sends nothing. @internal */
export const badPort = "bad port"

/** Failures of ports, host names, certificates and protocols, which a retry cannot fix. */
const permanentCodes = [
  badPort,
  "ENOTFOUND",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "CERT_HAS_EXPIRED"
] as const
/** @internal */
export type PermanentCode = (typeof permanentCodes)[number]

/** Whether the code of a failed connection is one that a retry cannot fix. @internal */
export const isPermanent = (code: string | undefined): code is PermanentCode =>
  permanentCodes.some((each) => each === code)

/** There was no connection, or it was lost. */
export class Unreachable extends Schema.TaggedError<Unreachable>("effect-n8n-mcp/Errors/Unreachable")("Unreachable", {
  ...details,
  /** Code of the system, such as `ECONNREFUSED`. */
  code: Schema.optionalKey(Schema.String),
  /** Error of the connection; never with the request and its key. */
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return this.details
  }
  /** False for what a retry cannot fix: a port that is blocked, an unknown host, a certificate that is not trusted. */
  get isRetryable(): boolean {
    return !isPermanent(this.code)
  }
}

/** There was no answer in time; a write may have been applied. */
export class Timeout extends Schema.TaggedError<Timeout>("effect-n8n-mcp/Errors/Timeout")("Timeout", {
  ...details,
  duration: Schema.DurationFromMillis
}) {
  override get message() {
    return this.details
  }
  get isRetryable(): boolean {
    return true
  }
}

/** Statuses of failures that may pass. @internal */
export const transientStatuses: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504])

/** n8n, or a proxy in front of it, answered with an error; `details` is n8n's own message. */
export class Status extends Schema.TaggedError<Status>("effect-n8n-mcp/Errors/Status")("Status", {
  ...details,
  statusCode: Schema.Int
}) {
  override get message() {
    return `HTTP ${this.statusCode}: ${this.details}`
  }
  get isRetryable(): boolean {
    return transientStatuses.has(this.statusCode)
  }
}

/** The answer is not n8n's. */
export class Unreadable
  extends Schema.TaggedError<Unreadable>("effect-n8n-mcp/Errors/Unreadable")("Unreadable", details)
{
  override get message() {
    return this.details
  }
  get isRetryable(): boolean {
    return false
  }
}

/** n8n accepted a write that then had no effect. */
export class NotApplied
  extends Schema.TaggedError<NotApplied>("effect-n8n-mcp/Errors/NotApplied")("NotApplied", details)
{
  override get message() {
    return this.details
  }
  get isRetryable(): boolean {
    return false
  }
}

/** Someone else changed the workflow in the meantime, and nothing was written; found by reading, not by a status. */
export class VersionConflict
  extends Schema.TaggedError<VersionConflict>("effect-n8n-mcp/Errors/VersionConflict")("VersionConflict", {
    ...details,
    expectedVersionId: Schema.String,
    currentVersionId: Schema.optionalKey(Schema.String)
  })
{
  override get message() {
    return this.details
  }
  get isRetryable(): boolean {
    return false
  }
}

const reasons = { Unreachable, Timeout, Status, Unreadable, NotApplied, VersionConflict }

/** Reason why a request failed; `isRetryable` says whether the same request may succeed later. */
export const Reason = Schema.Union([Unreachable, Timeout, Status, Unreadable, NotApplied, VersionConflict])
export type Reason = typeof Reason.Type

/**
 * Any other failure of a request: an error response, a foreign response, or no response.
 *
 * The message contains the {@link Reason}; `Hints.explain` of this package adds what to do next.
 *
 * **Example** (No report if n8n is too slow)
 *
 * ```ts
 * import { N8nClient } from "effect-n8n-mcp"
 * import { FakeN8n } from "effect-n8n-mcp/testing"
 * import * as Effect from "effect/Effect"
 * import * as Stream from "effect/Stream"
 *
 * const failures = N8nClient.N8nClient.use((n8n) =>
 *   Stream.runCount(n8n.streamExecutions({ status: "error" }))
 * ).pipe(
 *   Effect.catchReason("ApiError", "Timeout", ({ details }) => Effect.as(Effect.logWarning(details), undefined))
 * )
 *
 * export const test = failures.pipe(Effect.provide(FakeN8n.layer({ workflows: [], executions: [] })))
 * ```
 */
export class ApiError extends Schema.TaggedError<ApiError>("effect-n8n-mcp/Errors/ApiError")(
  "ApiError",
  { ...target, reason: Reason },
  { httpApiStatus: 502 }
) {
  /** Marks an error of this package, for types as well: an app's own `NotFoundError` is not one. */
  get [TypeId](): typeof TypeId {
    return TypeId
  }
  /** The reason: `cause.code` is `ECONNREFUSED` if nothing listens. */
  override readonly cause = this.reason

  /** @internal */
  get headline(): string {
    const of = this.resourceType === undefined ? "" : ` for ${this.resourceType} '${this.resourceId ?? ""}'`
    const status = this.reason._tag === "Status" ? ` (HTTP ${this.reason.statusCode})` : ""
    return `Failed to ${this.operation ?? "reach n8n"}${of}${status}`
  }

  override get message() {
    return `${this.headline}: ${this.reason.details}`
  }

  /** Whether the same request may succeed later; a write that is {@link isUncertain} may then be applied twice. */
  get isRetryable(): boolean {
    return this.reason.isRetryable
  }

  /** Whether a write may have been applied anyway: n8n did not answer, or failed while it wrote. */
  get isUncertain(): boolean {
    const { reason } = this
    return reason._tag === "Status" ? reason.statusCode >= 500 : reason._tag !== "VersionConflict"
  }
}

/** Status that n8n answered with, if that is the reason. @internal */
export const statusOf = (error: N8nError): number | undefined =>
  error._tag === "ApiError" && error.reason._tag === "Status" ? error.reason.statusCode : undefined

/** Whether a write that failed may have been applied. @internal */
export const isUncertain = (error: N8nError): error is ApiError => error._tag === "ApiError" && error.isUncertain

/** n8n's own message, or the details of another reason. @internal */
export const detailsOf = (error: N8nError): string | undefined =>
  error._tag === "ApiError" ? error.reason.details : error._tag === "ValidationError" ? error.errorDetails : undefined

/** The error with other details, and another hint if there is one. @internal */
export const withDetails = (error: ApiError, details: string, hint: Hint | undefined = error.hint): ApiError => {
  const Reason = reasons[error.reason._tag]
  return new ApiError({ ...error, ...defined({ hint }), reason: new Reason({ ...error.reason, details } as never) })
}

/** The error with more advice; `before` precedes its own, `after` follows it. @internal */
export const advised = <E extends N8nError>(error: E, { after = [], before = [] }: {
  readonly before?: Hint
  readonly after?: Hint
}): E => {
  const fields = { ...error, hint: [before, error.hint ?? [], after].flat() }
  return new (error.constructor as new(fields: object) => E)(fields)
}

/** The error without the connection's own error. @internal */
export const withoutCause = (error: ApiError): ApiError => {
  const { reason } = error
  if (reason._tag !== "Unreachable") return error
  const { cause: _, ...rest } = reason
  return new ApiError({ ...error, reason: new Unreachable(rest) })
}

/** The reason for no answer within milliseconds. @internal */
export const timeout = (millis: number, what = "answer"): Timeout => {
  const shown = millis < 1000 ? `${Math.round(millis)} ms` : `${Math.round(millis / 100) / 10} s`
  return new Timeout({ details: `no ${what} within ${shown}`, duration: Duration.millis(millis) })
}

/** Beginnings of messages about a value that do not name it. */
const nameless = /^(?:Expected|Missing|Invalid|Unexpected) /

/** Reason why a value was refused, with the name of its field if the reason has no subject. @internal */
export const ofField = (field: string | undefined, reason: string): string =>
  field !== undefined && field !== "" && nameless.test(reason) ? `${field}: ${reason}` : reason

/**
 * Refusal by our own checks; nothing was changed on n8n. With `isServerFault` this server's machine is at fault, and an
 * `HttpApi`, in which a class has one status, answers 400 nevertheless.
 */
export class ValidationError extends Schema.TaggedError<ValidationError>("effect-n8n-mcp/Errors/ValidationError")(
  "ValidationError",
  {
    reason: Schema.String,
    field: Schema.optionalKey(Schema.String),
    errorDetails: Schema.optionalKey(Schema.String),
    hint: Schema.optionalKey(Hint),
    isServerFault: Schema.optionalKey(Schema.Boolean)
  },
  { httpApiStatus: 400 }
) {
  /** Marks an error of this package, for types as well: an app's own `NotFoundError` is not one. */
  get [TypeId](): typeof TypeId {
    return TypeId
  }
  override get message() {
    return ofField(this.field, this.reason)
  }
}

/** Refusal of the argument `field`. @internal */
export const invalid = (field: string, reason: string, hint?: Hint): ValidationError =>
  new ValidationError({ reason, field, ...defined({ hint }) })

/** Failures of a request without a single target, such as a list: `NotFoundError` cannot occur. */
export type RequestError = ApiError | ValidationError

/** Every failure of the n8n client and of the tools of this package. */
export type N8nError = NotFoundError | ApiError | ValidationError

/** Whether a value is an error of this package, of any copy of it. */
export const isN8nError = (error: unknown): error is N8nError => Predicate.hasProperty(error, TypeId)

/** Failure of any tool: an error of this package or any other tagged error; `hint` is the next step. */
export interface Failure {
  readonly _tag: string
  readonly message: string
  readonly hint?: Hint
}

/** Error in a form for clients: no stack, no secrets, at most a screen of text. */
export interface Report {
  readonly name: string
  readonly message: string
  readonly statusCode?: number
  readonly context: { readonly [key: string]: string }
}

/** Maximum length of n8n's messages, whose beginning says what is wrong. */
const maxDetails = 2_000

/** Converts an error to a report, in the format of the earlier servers. @internal */
export const report = (error: Failure): Report => {
  const { _tag } = error
  const api = error instanceof ApiError ? error : undefined
  const values = { ...error, errorDetails: api?.reason.details ?? own(error, "errorDetails") }
  const context = Object.fromEntries(
    (["operation", "resourceType", "resourceId", "field", "errorDetails"] as const).flatMap((key) => {
      const value = own(values, key)
      return Predicate.isString(value) ? [[key, redactText(value).slice(0, maxDetails)]] : []
    })
  )
  return defined({
    name: _tag,
    // The details are in the context.
    message: redactText(api?.headline ?? error.message).slice(0, maxDetails),
    statusCode: api && statusOf(api),
    context
  })
}

/** Message with n8n's details, of which at most `most` characters. @internal */
export const inOneLine = (error: Failure, most = maxDetails): string => {
  const { context: { errorDetails }, message } = report(error)
  return errorDetails === undefined ? message : `${message}: ${errorDetails.slice(0, most)}`
}

/** n8n's details, else the message. @internal */
export const reasonOf = (error: Failure): string => {
  const { context: { errorDetails }, message } = report(error)
  return errorDetails ?? message
}

/** Whether this server's machine is at fault, not the call. */
export const isServerFault = (error: Failure): boolean =>
  error instanceof ValidationError && error.isServerFault === true
