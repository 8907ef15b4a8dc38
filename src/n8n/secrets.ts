/** Secrets in headers and addresses: whether they can be sent, and their removal from errors. */
import * as Redacted from "effect/Redacted"
import * as Errors from "../base/Errors.ts"
import { marker } from "../base/Redact.ts"
import * as HttpErrors from "./HttpErrors.ts"
import type { Options, Request } from "./requests.ts"

type Headers = Readonly<Record<string, string>>

/** Values of the headers that a proxy asks for; `fetch` ignores blanks around a value, too. */
export const headersOf = ({ headers = {} }: Options): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Redacted.value(value).trim()]))

export const keyOf = ({ apiKey }: Options): string => Redacted.value(apiKey).trim()

/** Refusal of a value, which is not repeated. */
const refuse = (field: string, reason: string, hint: string) =>
  Errors.invalid(field, reason, `Nothing was sent. ${hint}`)

const characterFault = (value: string) =>
  /[\r\n]/.test(value)
    ? "a line break"
    : /[^\t\x20-\x7e\x80-\xff]/.test(value)
    ? "a character that no HTTP header may have"
    : undefined

/** Refusal of headers that cannot be sent. */
export const headerFault = (headers: Headers = {}): Errors.ValidationError | undefined => {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) {
      return refuse("headers", "A name among the headers is not that of an HTTP header", "Correct the name.")
    }
    const fault = characterFault(value.trim())
    if (fault !== undefined) {
      return refuse("headers", `The header '${name}' contains ${fault}`, "Correct its value, or encode it.")
    }
  }
  return undefined
}

/** Refusal of options with which no request can be sent. */
export const optionsFault = (options: Options): Errors.ValidationError | undefined => {
  for (const field of ["url", "webhookUrl"] as const) {
    if (`${options[field]?.username ?? ""}${options[field]?.password ?? ""}` !== "") {
      return refuse(
        field,
        `The address in ${field} contains a user name or password`,
        "Remove them from the address; what a proxy asks for belongs in a header, such as authorization."
      )
    }
  }
  const fault = characterFault(keyOf(options))
  return fault === undefined
    ? headerFault(headersOf(options))
    : refuse(
      "apiKey",
      `The API key contains ${fault}`,
      "Copy the whole key again from n8n under Settings > n8n API, in one line."
    )
}

/** n8n's keys are longer: replacing a shorter one could garble words. */
const minKey = 8

/** Headers whose values are no secrets. */
const isPlain = (name: string) => /^(?:accept|content-type|origin)$/i.test(name)

/** Redacts secrets, which a proxy or the HTTP client may repeat in a message; a cause with one is dropped. */
export const redacting = (options: Options, request: Pick<Request, "headers">) => {
  const headers = Object.entries({ ...request.headers, ...headersOf(options) }).filter(([name]) => !isPlain(name))
  const secrets = [keyOf(options), ...headers.map(([, value]) => value.trim())]
    .flatMap((value) => [value, value.replace(/^(?:Bearer|Basic|Token) +/i, "")])
    .filter(({ length }) => length >= minKey)
  return (error: Errors.N8nError): Errors.N8nError => {
    if (error._tag !== "ApiError") return error
    const { reason } = error
    const details = secrets.reduce((text, secret) => text.replaceAll(secret, marker), reason.details)
    const safe = details === reason.details ? error : Errors.withDetails(error, details)
    return reason._tag === "Unreachable" && secrets.some((secret) => HttpErrors.says(reason.cause, secret))
      ? Errors.withoutCause(safe)
      : safe
  }
}
