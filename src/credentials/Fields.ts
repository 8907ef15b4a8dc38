/** Kinds of a credential's fields: a secret, a part of where the secret goes, or neither. Pure. */
import { obj, str } from "../base/Json.ts"
import * as Redact from "../base/Redact.ts"

/**
 * A field's kind. A `destination` decides where, or how safely, a secret is sent; what is not known to be harmless counts
 * as one, and what is not known at all as a secret.
 */
export type Kind = "secret" | "destination" | "plain"

/** A field. */
export interface Field {
  readonly name: string
  readonly kind: Kind
  /** `string`, `number`, `boolean`, `json`. */
  readonly type: string
  readonly choices: ReadonlyArray<unknown>
}

/** Names of people, lists of rights and labels, which may have any characters. */
const free = new Set([
  "username",
  "user",
  "login",
  "email",
  "label",
  "scope",
  "scopes",
  "userscope",
  "enabledscopes",
  "userenabledscopes"
])

/** Texts that neither are secret nor say where a secret goes; a test looks for them in the hosts of n8n's URLs. */
const harmless = new Set([
  ...free,
  "clientid",
  "client_id",
  "database",
  "db",
  "schema",
  "role",
  "warehouse",
  "branch",
  "organizationid",
  "workspaceid",
  "appid",
  "userid",
  "accesskeyid",
  "header",
  "headername",
  "name",
  "apiversion",
  "collectionname",
  "pineconeindex",
  "namespaceprefix",
  "tablenameprefix"
])

/** Secrets that n8n's editor shows in the clear. */
const shownSecret =
  /passphrase|certificate$|^(tls|ssl)?(ca|cert|key)$|connectionstring|signature|walletcontent|tokendata|private_?key/i

/** Switches and choices that decide where a secret goes, or whether it is encrypted on its way. */
const decisive = /url|host|domain|server|endpoint|ssl|tls|secure|unauthorized|insecure|environment|proxy|tunnel/i

/** n8n adds them to types of every kind. */
const allowed = new Set(["allowedHttpRequestDomains", "allowedDomains"])

const kindOf = (name: string, type: string, hasChoices: boolean, isSecret: boolean | undefined): Kind => {
  if (allowed.has(name)) return "destination"
  if (isSecret === true || type === "json" || type === "object" || type === "array") return "secret"
  if (type === "boolean" || type === "number" || hasChoices) return decisive.test(name) ? "destination" : "plain"
  if (isSecret === undefined || shownSecret.test(name) || Redact.places({ [name]: "x" }).length > 0) return "secret"
  return harmless.has(name.toLowerCase()) ? "plain" : "destination"
}

/** Whether a text may not be the value of a plain field: its characters could end or begin a part of a URL. */
export const couldBeAddress = ({ choices, kind, name }: Field, text: string): boolean =>
  kind === "plain" && choices.length === 0 && !free.has(name.toLowerCase()) && /[/?#@:\\\s]/.test(text)

/**
 * The fields that n8n takes for a type, as `GET /credentials/schema/{type}` describes them; `known` is which of them are
 * secrets, by the catalogue.
 */
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
