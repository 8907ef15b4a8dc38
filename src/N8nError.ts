/**
 * What can go wrong, as three errors: `NotFound`, `Validation` (our own checks) and `Api` (everything else n8n or the
 * way to it does). This file is the only place where an HTTP failure becomes a domain error.
 */
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { redactText } from "./Redact.ts"

/** What a request was about; becomes the `context` of its errors. */
export interface Target {
  /** What was tried, such as `get workflow`. */
  readonly operation: string
  /** Such as `Workflow`; absent for listings. */
  readonly resourceType?: string | undefined
  readonly resourceId?: string | undefined
}

const target = {
  operation: Schema.optionalKey(Schema.String),
  resourceType: Schema.optionalKey(Schema.String),
  resourceId: Schema.optionalKey(Schema.String),
  hint: Schema.String
}

/** n8n has no such resource (HTTP 404). */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFoundError", target) {
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
export class Api extends Schema.TaggedError<Api>()("ApiError", {
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

/** A check of ours refused what the caller gave; nothing was sent that could change anything. */
export class Validation extends Schema.TaggedError<Validation>()("ValidationError", {
  reason: Schema.String,
  field: Schema.optionalKey(Schema.String),
  errorDetails: Schema.optionalKey(Schema.String),
  hint: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

/** Every failure of the n8n client and the tools. */
export type N8nError = NotFound | Api | Validation

/** The failure as a client sees it: the older servers' JSON plus `hint`, what to do next. */
export interface Envelope {
  readonly name: string
  readonly message: string
  readonly statusCode?: number
  readonly context: { readonly [key: string]: string }
  readonly hint: string
}

/** n8n's own words can be long; the beginning says what is wrong. */
const maxDetails = 2_000

/** Turns an error into its envelope: no stack, no secret, no more than a screen of text. */
export const toEnvelope = (error: N8nError): Envelope => {
  const { _tag, hint } = error
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
    context,
    hint
  }
}

const checkUrl = "check N8N_URL (--n8n-url): it is the address that n8n's editor has in a browser"

const hintForStatus = (status: number): string => {
  switch (status) {
    case 400:
      return "n8n refused a value; errorDetails says which. Correct it and call again."
    case 401:
      return "n8n does not accept the API key: check N8N_API_KEY (--api-key); keys are made in n8n under Settings > n8n API."
    case 403:
      return "The API key lacks the scope for this: edit the key in n8n under Settings > n8n API, or use another one."
    case 405:
      return "This n8n has no such endpoint: it is older than this operation."
    case 429:
      return "n8n is limiting requests: wait a minute, then call again."
  }
  return status >= 500
    ? "n8n or the proxy before it is in trouble, also after retries: look at its log, then call again."
    : "errorDetails has n8n's own words."
}

const notFoundHints: Readonly<Record<string, string>> = {
  Workflow: "list_workflows lists the workflows with their ids.",
  Execution: "list_executions lists the executions with their ids; n8n prunes old ones."
}

const hintForTransport = (code: string | undefined): string => {
  switch (code) {
    case "ECONNREFUSED":
      return `Nothing listens there: start n8n, or ${checkUrl}.`
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `That host name is unknown here: ${checkUrl}.`
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
      return "The TLS certificate is not trusted: set NODE_EXTRA_CA_CERTS to the file of the authority that signed it."
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return `The TLS certificate is for another host name: ${checkUrl}.`
    case "ERR_SSL_WRONG_VERSION_NUMBER":
      return "That port speaks http, not https: begin N8N_URL with http://."
    case "CERT_HAS_EXPIRED":
      return "n8n's TLS certificate has expired: renew it."
  }
  return `n8n could not be reached, also after retries: is it running? If so, ${checkUrl}.`
}

/** `fetch failed` says nothing; the reason is in the chain of causes. */
const causes = (error: unknown): ReadonlyArray<{ readonly code?: unknown; readonly message?: unknown }> => {
  const chain: Array<{ readonly code?: unknown; readonly message?: unknown; readonly cause?: unknown }> = []
  for (let at = error; Predicate.isObject(at) && chain.length < 8; at = chain.at(-1)?.cause) chain.push(at)
  return chain
}

/** The system's code of a failed connection, such as `ECONNREFUSED`. */
export const transportCode = (error: HttpClientError.HttpClientError): string | undefined =>
  error.reason._tag === "TransportError"
    ? causes(error.reason.cause).map((cause) => cause.code).find(Predicate.isString)
    : undefined

/** n8n did not answer in time. */
export const timedOut = (target: Target, seconds: number): Api =>
  new Api({
    ...given(target),
    errorDetails: `no answer within ${seconds} s`,
    hint: "n8n is slow or stuck: call again, or look at its log."
  })

/** n8n answered 200 with something this client cannot read. */
export const unreadable = (target: Target, detail: string): Api =>
  new Api({
    ...given(target),
    errorDetails: detail,
    hint: `The answer is not what n8n's API gives: ${checkUrl}; a proxy or login page may stand before it.`
  })

/** A redirect is never followed to another origin: the key would go there. */
export const redirected = (target: Target, status: number, location: string): Api =>
  new Api({
    ...given(target),
    statusCode: status,
    errorDetails: `redirect to ${location}`,
    hint:
      `n8n answers with a redirect, which was not followed so that the key stays here: set N8N_URL to the address it names.`
  })

const given = (target: Target) => ({
  operation: target.operation,
  ...(target.resourceType === undefined ? {} : { resourceType: target.resourceType }),
  ...(target.resourceId === undefined ? {} : { resourceId: target.resourceId })
})

const Body = Schema.Struct({ message: Schema.String })

/** n8n's own words in an error body; a web page has none. */
const words = (response: HttpClientResponse.HttpClientResponse) =>
  response.json.pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Body)),
    Effect.map((body) => body.message),
    Effect.orElseSucceed(() => undefined)
  )

/** Maps a failed request onto an `N8nError`. */
export const fromHttp = Effect.fnUntraced(function*(error: HttpClientError.HttpClientError, target: Target) {
  const reason = error.reason
  if (reason._tag !== "StatusCodeError") {
    const code = transportCode(error)
    // Where every address of a host refuses, the innermost error has a code but no words.
    const last = causes(reason.cause).map((cause) => cause.message).filter(Predicate.isString).findLast((text) =>
      text !== ""
    )
    return yield* new Api({
      ...given(target),
      errorDetails: redactText(
        [code, (last ?? reason._tag).trim().split("\n")[0]].filter(Predicate.isNotUndefined).join(": ")
      ),
      hint: hintForTransport(code)
    })
  }
  const { status } = reason.response
  const detail = yield* words(reason.response)
  if (status === 404 && target.resourceType !== undefined && detail !== undefined) {
    return yield* new NotFound({
      ...given(target),
      hint: notFoundHints[target.resourceType] ?? "The id may be wrong or the thing deleted."
    })
  }
  return yield* new Api({
    ...given(target),
    statusCode: status,
    errorDetails: detail === undefined ? "no words of n8n's in the answer" : redactText(detail),
    hint: status === 404 || detail === undefined && status < 500
      ? `There is no n8n API at this address: ${checkUrl}.`
      : hintForStatus(status)
  })
})
