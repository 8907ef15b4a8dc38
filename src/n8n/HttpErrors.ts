/** Converts failed requests to n8n into our errors, with advice on what to do next. */
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { ConnectionProblem, Hint } from "../base/Advice.ts"
import * as Errors from "../base/Errors.ts"
import { defined } from "../base/Json.ts"
import { redactText } from "../base/Redact.ts"
import * as body from "./body.ts"
import * as Deprecated from "./Deprecated.ts"

/** n8n's message for a path that it does not have, which differs from that for a missing resource. */
export const noRoute = "not found"

export const isAboutLicense = (detail: string | undefined): boolean =>
  detail !== undefined && /\blicense\b/i.test(detail)

/** Whether every n8n has the path, so that a 404 means a missing resource, whatever the message. */
const isEverywhere = ({ operation, resourceType }: Errors.Target) =>
  resourceType === "Version" || operation === "get workflow" || operation === "get execution"

const older = "This n8n has no such endpoint: it is older than this operation."

const hintForStatus = (status: number, detail: string | undefined): Hint => {
  if (status === 400) {
    return Deprecated.hint(Deprecated.refusedNodes(detail)) ?? { _tag: "CorrectRefused" }
  }
  if (status === 401) return { _tag: "CheckApiKey" }
  if (status === 403) {
    return isAboutLicense(detail)
      ? "The licence of this n8n does not include this: no API key changes that."
      : "The API key lacks the scope for this: edit the key in n8n under Settings > n8n API, or use another one."
  }
  if (status === 405) return older
  if (status === 408) return { _tag: "TryLater", problem: "Slow" }
  if (status === 429) return { _tag: "TryLater", problem: "Limited" }
  return status >= 500 ? { _tag: "TryLater", problem: "Failing" } : { _tag: "ReadDetails", have: "Message" }
}

const hintForMissing = (resourceType: string): Hint => {
  if (resourceType === "Workflow") return { _tag: "ListWorkflows" }
  if (resourceType === "Execution") return { _tag: "ListExecutions" }
  return "The id may be wrong, or the resource was deleted."
}

const checkConnection = (problem: ConnectionProblem): Hint => ({ _tag: "CheckConnection", problem })

const untrusted =
  "The TLS certificate is not trusted: set NODE_EXTRA_CA_CERTS to the file of the authority that signed it."

/** Advice on failures that a retry cannot fix. */
const permanentHints: { readonly [Code in Errors.PermanentCode]: Hint } = {
  [Errors.badPort]: checkConnection("BlockedPort"),
  ENOTFOUND: checkConnection("UnknownHost"),
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: checkConnection("OtherHostName"),
  ERR_SSL_WRONG_VERSION_NUMBER: checkConnection("NotHttps"),
  CERT_HAS_EXPIRED: "n8n's TLS certificate has expired: renew it."
}

export const isPermanent = (error: HttpClientError.HttpClientError): boolean => Errors.isPermanent(transportCode(error))

const hintForTransport = (code: string | undefined): Hint => {
  if (code === "ECONNREFUSED") return checkConnection("NothingListens")
  if (code === "EAI_AGAIN") return checkConnection("UnknownHost")
  return Errors.isPermanent(code) ? permanentHints[code] : checkConnection("NoAnswer")
}

/** Whether an error or one of its causes has this text in its message. */
export const says = (error: unknown, text: string): boolean =>
  causes(error).some(({ message, stack }) =>
    [message, stack].some((each) => Predicate.isString(each) && each.includes(text))
  )

interface Link {
  readonly code?: unknown
  readonly message?: unknown
  readonly stack?: unknown
  readonly cause?: unknown
}

/** The error and its causes; the message `fetch failed` is useless, the reason is further down the chain. */
const causes = (error: unknown): ReadonlyArray<Link> => {
  const chain: Array<Link> = []
  for (let at = error; Predicate.isObject(at) && chain.length < 8; at = chain.at(-1)?.cause) chain.push(at)
  return chain
}

/** The system's error code of a failed connection, such as `ECONNREFUSED`; for a port that `fetch` refuses, its message. */
export const transportCode = (error: HttpClientError.HttpClientError): string | undefined =>
  error.reason._tag === "TransportError"
    ? causes(error.reason.cause).map(({ code, message }) => code ?? (message === Errors.badPort ? message : undefined))
      .find(Predicate.isString)
    : undefined

/** The error for no answer, of the server at `origin`, within milliseconds. */
export const timeoutError = (
  target: Errors.Target,
  millis: number,
  hint: Hint = { _tag: "TryLater", problem: "Slow" },
  origin?: string
): Errors.ApiError =>
  new Errors.ApiError({
    ...Errors.targetFields(target),
    reason: Errors.timeout(millis, origin === undefined ? "answer" : `answer from ${origin}`),
    hint
  })

export const unreadableError = (
  target: Errors.Target,
  detail: string,
  problem: ConnectionProblem = "Unreadable"
): Errors.ApiError =>
  new Errors.ApiError({
    ...Errors.targetFields(target),
    reason: new Errors.Unreadable({ details: redactText(detail) }),
    hint: checkConnection(problem)
  })

/** Words of an address or title that ask for a login. */
const login =
  /(?:^|[./_\s>-])(?:log-?\s?[io]n|sign-?\s?in|sso|saml2?|oauth2?|auth|authorize|cdn-cgi\/access)(?:[./_?\s<-]|$)/i

/** The error for a web page instead of JSON. */
export const pageError = (target: Errors.Target, page: string): Errors.ApiError => {
  const title = /<title[^>]*>[^<]*/i.exec(page)?.[0] ?? ""
  const isLogin = /type=["']?password/i.test(page) || login.test(title)
  return isLogin
    ? unreadableError(target, "a login page instead of JSON", "LoginPage")
    : unreadableError(target, "a web page instead of JSON")
}

/** The error for a redirect to another origin, which is never followed: the API key would be sent there. */
export const redirectError = (
  target: Errors.Target,
  status: number,
  location: string,
  to: URL | undefined
): Errors.ApiError =>
  new Errors.ApiError({
    ...Errors.targetFields(target),
    reason: new Errors.Status({ statusCode: status, details: `redirect to ${to?.origin ?? location}` }),
    hint: checkConnection(login.test(`${to?.host ?? ""}${to?.pathname ?? ""}`) ? "LoginPage" : "Redirected")
  })

const Body = Schema.fromJsonString(Schema.Struct({ message: Schema.String }))

/** n8n's message in an error body; `undefined` for a web page. */
const message = (response: HttpClientResponse.HttpClientResponse) =>
  body.beginning(response, body.maxBytes.error).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Body)),
    Effect.map(({ message }) => message),
    Effect.orElseSucceed(() => undefined)
  )

/** Codes of a connection that the other side closed or reset; `fetch` does not put it in a sentence. */
const lostCodes: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"])

/** Details of failures whose texts may contain secrets. */
const nameless = {
  TransportError: "the connection was lost",
  EncodeError: "the request cannot be written",
  InvalidUrlError: "the address is not valid",
  DecodeError: "the answer cannot be read",
  EmptyBodyError: "the answer is empty"
}

/**
 * Whether a code is that of a connection. The texts and fields of other errors, such as a URL or header that cannot be
 * sent, may contain secrets of the request.
 */
const isOfConnection = (code: string | undefined) =>
  code !== undefined &&
  /^(?:E(?!RR_)[A-Z\d]+(?:_[A-Z]+)?|UND_ERR_(?!INVALID)\w+|ERR_(?:TLS|SSL)_\w+|\w*CERT\w*|UNABLE_TO_\w+|HPE_\w+)$/.test(
    code
  )

/** Details of a request without an answer: the text of an error of the connection, or a phrase. */
const detailsOf = (tag: keyof typeof nameless, code: string | undefined, coded: Link | undefined) => {
  if (code === undefined || code === Errors.badPort) return code ?? nameless[tag]
  if (lostCodes.has(code)) return `the connection was lost (${code})`
  if (coded === undefined) return `${nameless[tag]} (${code})`
  // If every address of a host refuses, the innermost error has a code but no message.
  const text = Predicate.isString(coded.message) && coded.message !== "" ? coded.message : "fetch failed"
  const line = text.trim().split("\n")[0] ?? ""
  // OpenSSL names addresses and lines of its source.
  return /:error:[\dA-F]+:/.test(line) ? code : line.includes(code) ? line : `${code}: ${line}`
}

export const fromHttp = Effect.fnUntraced(function*(error: HttpClientError.HttpClientError, target: Errors.Target) {
  const reason = error.reason
  if (reason._tag !== "StatusCodeError") {
    const code = transportCode(error)
    const coded = causes(reason.cause).find((cause) => cause.code === code && isOfConnection(code))
    return yield* new Errors.ApiError({
      ...Errors.targetFields(target),
      reason: new Errors.Unreachable({
        details: redactText(detailsOf(reason._tag, code, coded)),
        ...defined({ code, cause: coded })
      }),
      hint: hintForTransport(code)
    })
  }
  const { status } = reason.response
  const detail = yield* message(reason.response)
  // A list cannot be missing; a 404 with a message names another resource, such as the project.
  const isNowhere = status === 404 && (detail === undefined || /^not found$/i.test(detail))
  const isMissingRoute = status === 404 && detail === noRoute && !isEverywhere(target)
  if (status === 404 && target.resourceType !== undefined && detail !== undefined && !isMissingRoute) {
    return yield* new Errors.NotFoundError({
      ...Errors.targetFields(target),
      hint: hintForMissing(target.resourceType)
    })
  }
  return yield* new Errors.ApiError({
    ...Errors.targetFields(target),
    reason: new Errors.Status({
      statusCode: status,
      details: detail === undefined ? "the answer contains no message from n8n" : redactText(detail)
    }),
    hint: isMissingRoute
      ? older
      : isNowhere || detail === undefined && status < 500
      ? checkConnection("NoApi")
      : hintForStatus(status, detail)
  })
})
