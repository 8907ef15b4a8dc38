/** The errors of this package: `NotFoundError`, `ValidationError` (our own checks) and `ApiError` (all others). */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { Hint } from "./Advice.ts"
import { defined } from "./Json.ts"
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
export const targetFields = ({ operation, resourceId, resourceType }: Target) => ({
  operation,
  ...(resourceType === undefined ? {} : { resourceType }),
  ...(resourceId === undefined ? {} : { resourceId })
})

const target = {
  operation: Schema.optionalKey(Schema.String),
  resourceType: Schema.optionalKey(Schema.String),
  resourceId: Schema.optionalKey(Schema.String),
  /** Next step; `answer/Hints` has the wording. */
  hint: Hint
}

/** n8n has no such resource (HTTP 404). */
export class NotFoundError extends Schema.TaggedError<NotFoundError>()("NotFoundError", target) {
  override get message() {
    return `${this.resourceType ?? "Resource"} '${this.resourceId ?? ""}' not found`
  }
}

/**
 * Reason why a request failed.
 *
 * - `Unreachable`: there was no connection, or it was lost.
 * - `Timeout`: there was no answer in time; a write may have been applied.
 * - `Status`: n8n, or a proxy in front of it, answered with the error `statusCode`.
 * - `Unreadable`: the answer is not n8n's.
 * - `VersionConflict`: someone else changed the workflow in the meantime; nothing was written.
 */
export const Reason = Schema.Literals(["Unreachable", "Timeout", "Status", "Unreadable", "VersionConflict"])
export type Reason = typeof Reason.Type

/**
 * Any other failure of a request: an error response, a foreign response, or no response. `statusCode` is set if n8n
 * answered, and 409 of a `VersionConflict`, which is found by reading; `errorDetails` is n8n's own message, with
 * secrets redacted. `cause` is what the connection failed with, such as an error with the `code` `ECONNREFUSED`; it
 * never contains the request and its key.
 */
export class ApiError extends Schema.TaggedError<ApiError>()("ApiError", {
  ...target,
  reason: Reason.pipe(Schema.withConstructorDefault(Effect.succeed("Status" as const))),
  cause: Schema.optionalKey(Schema.Unknown),
  statusCode: Schema.optionalKey(Schema.Int),
  errorDetails: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    const of = this.resourceType === undefined ? "" : ` for ${this.resourceType} '${this.resourceId ?? ""}'`
    const status = this.statusCode === undefined ? "" : ` (HTTP ${this.statusCode})`
    return `Failed to ${this.operation ?? "reach n8n"}${of}${status}`
  }
}

/** Refusal by our own checks; nothing was changed on n8n. With `isServerFault` this server's machine is at fault. */
export class ValidationError extends Schema.TaggedError<ValidationError>()("ValidationError", {
  reason: Schema.String,
  field: Schema.optionalKey(Schema.String),
  errorDetails: Schema.optionalKey(Schema.String),
  hint: Hint,
  isServerFault: Schema.optionalKey(Schema.Boolean)
}) {
  override get message() {
    return this.reason
  }
}

/**
 * Refusal of the argument `field`.
 *
 * @internal
 */
export const invalid = (field: string, reason: string, hint: Hint): ValidationError =>
  new ValidationError({ reason, field, hint })

/** Failures of a request without a single target, such as a list: `NotFoundError` cannot occur. */
export type RequestError = ApiError | ValidationError

/** Every failure of the n8n client and of the tools of this package. */
export type N8nError = NotFoundError | ApiError | ValidationError

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
  const context = Object.fromEntries(
    (["operation", "resourceType", "resourceId", "field", "errorDetails"] as const).flatMap((key) => {
      const value = (error as Failure & { readonly [K in typeof key]?: unknown })[key]
      return Predicate.isString(value) ? [[key, redactText(value).slice(0, maxDetails)]] : []
    })
  )
  return defined({
    name: _tag,
    message: redactText(error.message).slice(0, maxDetails),
    statusCode: error instanceof ApiError ? error.statusCode : undefined,
    context
  })
}

/** Whether this server's machine is at fault, not the call. */
export const isServerFault = (error: Failure): boolean =>
  error instanceof ValidationError && error.isServerFault === true
