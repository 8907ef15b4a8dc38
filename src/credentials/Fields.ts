/** Kinds of credential fields: a secret, part of the secret's destination, or neither. Pure. */
import { obj, str } from "../base/Json.ts"
import * as Redact from "../base/Redact.ts"
import names from "./fieldNames.json" with { type: "json" }

/** Kind of a field: a `destination` decides where a secret is sent; an unknown field counts as a secret. */
export type Kind = "secret" | "destination" | "plain"

export interface Field {
  readonly name: string
  readonly kind: Kind
  /** `string`, `number`, `boolean`, `json`. */
  readonly type: string
  readonly choices: ReadonlyArray<unknown>
}

/** Names of people, lists of scopes and labels, which may contain any characters. */
const free = new Set(names.free)

/** Texts that are neither secrets nor destinations; a test searches the hosts of n8n's URLs for them. */
const harmless = new Set([...names.free, ...names.harmless])

/** Secrets that n8n's editor shows in plain text. */
const shownSecret =
  /passphrase|certificate$|^(tls|ssl)?(ca|cert|key)$|connectionstring|signature|walletcontent|tokendata|private_?key/i

/** Switches and choices that decide where a secret is sent, or whether it is encrypted in transit. */
const decisive = /url|host|domain|server|endpoint|ssl|tls|secure|unauthorized|insecure|environment|proxy|tunnel/i

/** Fields that n8n adds to types of every kind. */
const allowed = new Set(["allowedHttpRequestDomains", "allowedDomains"])

const kindOf = (name: string, type: string, hasChoices: boolean, isSecret: boolean | undefined): Kind => {
  if (allowed.has(name)) return "destination"
  if (isSecret === true || type === "json" || type === "object" || type === "array") return "secret"
  if (type === "boolean" || type === "number" || hasChoices) return decisive.test(name) ? "destination" : "plain"
  if (isSecret === undefined || shownSecret.test(name) || Redact.places({ [name]: "x" }).length > 0) return "secret"
  return harmless.has(name.toLowerCase()) ? "plain" : "destination"
}

/** Whether a text has characters that could delimit a part of a URL, and may not be the value of a plain field. */
export const couldBeAddress = ({ choices, kind, name }: Field, text: string): boolean =>
  kind === "plain" && choices.length === 0 && !free.has(name.toLowerCase()) && /[/?#@:\\\s]/.test(text)

/** Fields of a type from n8n's schema of it; `known` is the catalogue's data on which of them are secrets. */
export const fields = (
  properties: { readonly [name: string]: unknown },
  known: Readonly<Record<string, boolean>> | undefined
): ReadonlyArray<Field> =>
  Object.entries(properties).flatMap(([name, value]) => {
    const property = obj(value) ?? {}
    const type = str(property["type"]) ?? "string"
    const choices = Array.isArray(property["enum"]) ? property["enum"] : []
    if (type === "notice") return []
    const isSecret = known !== undefined && Object.hasOwn(known, name) ? known[name] : undefined
    return [{ name, type, choices, kind: kindOf(name, type, choices.length > 0, isSecret) }]
  })
