/**
 * What can go wrong, as three errors: `NotFoundError`, `ValidationError` (our own checks) and `ApiError` (everything else n8n or the
 * way to it does).
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { Hint } from "./Advice.ts"
import { redactText } from "./Redact.ts"

/** What a request was about; becomes the `context` of its errors. */
export interface Target {
  /** What was tried, such as `get workflow`. */
  readonly operation: string
  /** Such as `Workflow`; absent for listings. */
  readonly resourceType?: string | undefined
  readonly resourceId?: string | undefined
}

/** A target as the errors hold it. */
export const targetFields = ({ operation, resourceId, resourceType }: Target) => ({
  operation,
  ...(resourceType === undefined ? {} : { resourceType }),
  ...(resourceId === undefined ? {} : { resourceId })
})

const target = {
  operation: Schema.optionalKey(Schema.String),
  resourceType: Schema.optionalKey(Schema.String),
  resourceId: Schema.optionalKey(Schema.String),
  /** What to do next; `answer/Hints` puts it into words. */
  hint: Hint
}

/** n8n has no such resource (HTTP 404). */
export class NotFoundError extends Schema.TaggedError<NotFoundError>()("NotFoundError", target) {
  override get message() {
    return `${this.resourceType ?? "Resource"} '${this.resourceId ?? ""}' not found`
  }
}

/**
 * n8n answered with any other failure, with something that is no n8n answer, or not at all.
 *
 * **Details**
 *
 * `statusCode` is there when n8n answered; `errorDetails` are n8n's own words, without secrets.
 */
export class ApiError extends Schema.TaggedError<ApiError>()("ApiError", {
  ...target,
  statusCode: Schema.optionalKey(Schema.Int),
  errorDetails: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    const of = this.resourceType === undefined ? "" : ` for ${this.resourceType} '${this.resourceId ?? ""}'`
    const status = this.statusCode === undefined ? "" : ` (HTTP ${this.statusCode})`
    return `Failed to ${this.operation ?? "reach n8n"}${of}${status}`
  }
}

/**
 * A check of ours refused the call; nothing was sent that could change anything.
 *
 * **Details**
 *
 * `isServerFault` is set where the reason is this server's machine (a full disk, a missing file), not the call.
 */
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

/** Every failure of the n8n client and the tools. */
export type N8nError = NotFoundError | ApiError | ValidationError

/** What is to be told of an error: no stack, no secret, no more than a screen of text. */
export interface Report {
  readonly name: string
  readonly message: string
  readonly statusCode?: number
  readonly context: { readonly [key: string]: string }
}

/** n8n's own words can be long; the beginning says what is wrong. */
const maxDetails = 2_000

/** Reports an error in the older servers' shape. */
export const report = (error: N8nError): Report => {
  const { _tag } = error
  const context = Object.fromEntries(
    (["operation", "resourceType", "resourceId", "field", "errorDetails"] as const).flatMap((key) => {
      const value = key in error ? error[key as keyof N8nError] : undefined
      return Predicate.isString(value) ? [[key, redactText(value).slice(0, maxDetails)]] : []
    })
  )
  return {
    name: _tag,
    message: redactText(error.message).slice(0, maxDetails),
    ...(_tag === "ApiError" && error.statusCode !== undefined ? { statusCode: error.statusCode } : {}),
    context
  }
}

/** Whether this server's machine is at fault, not the call. */
export const isServerFault = (error: N8nError): boolean =>
  error._tag === "ValidationError" && error.isServerFault === true
