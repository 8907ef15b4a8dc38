/** Values of a new credential: secrets come from the operator's environment or a person, never from a model. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Hint } from "../base/Advice.ts"
import { CallContext } from "../base/CallContext.ts"
import * as Errors from "../base/Errors.ts"
import { type Obj, obj, str } from "../base/Json.ts"
import { nearest, suggestion } from "../base/Nearest.ts"
import * as Redact from "../base/Redact.ts"
import * as Visible from "../base/Visible.ts"
import { NodeCatalogue } from "../catalogue/NodeCatalogue.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import names from "./fieldNames.json" with { type: "json" }

/** Kind of a field: a `destination` decides where a secret is sent; an unknown field counts as a secret. */
type Kind = "secret" | "destination" | "plain"

export interface Field {
  readonly name: string
  readonly kind: Kind
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
const couldBeAddress = ({ choices, kind, name }: Field, text: string): boolean =>
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

/** Environment variables that the operator allows as secrets of credentials; `undefined` if not set. */
export const CredentialEnv = Context.Reference<ReadonlyMap<string, Redacted.Redacted<string> | undefined>>(
  "effect-n8n-mcp/CredentialEnv",
  { defaultValue: () => new Map() }
)

/** Field with the hosts to which an HTTP Request node may send the secret. */
const domains = "allowedHttpRequestDomains"

/** Fields of a type on the connected n8n. `GET /credentials/schema/{type}`. */
export const fieldsOf = Effect.fnUntraced(function*(type: string) {
  const catalogue = yield* NodeCatalogue
  const known = yield* Effect.orElseSucceed(catalogue.credentials, () => ({} as Obj & Record<string, never>))
  const { properties } = yield* N8nClient.use((n8n) => n8n.credentialSchema(type)).pipe(
    Effect.catchTag(
      "NotFoundError",
      (error) => {
        const near = nearest(type, Object.keys(known))
        const hint = near.length === 0 ? "Types are named as in nodes, such as slackApi." : suggestion(type, near)
        return Effect.fail(new Errors.NotFoundError({ ...error, hint }))
      }
    )
  )
  return fields(properties, Object.hasOwn(known, type) ? known[type] : undefined)
})

type Fields = ReadonlyArray<Field>

const inWords = (fields: Fields): string =>
  fields.map(({ choices, kind, name }) =>
    `${name}${kind === "secret" ? " (secret)" : kind === "destination" ? " (where it goes)" : ""}${
      choices.length === 0 ? "" : `: ${choices.join("|")}`
    }`
  ).join(", ")

/** Name of a field for a message; anything else may be a misplaced secret and is not repeated. */
const shownName = (name: string) => /^[\w.-]{1,40}$/.test(name) ? Redact.redactText(name) : "…"

export const checkNames = (fields: Fields, names: ReadonlyArray<string>) => {
  const all = fields.map(({ name }) => name)
  const unknown = names.find((name) => !all.includes(name))
  return unknown === undefined
    ? Effect.void
    : Errors.invalid(
      "values",
      `The type has no field '${shownName(unknown)}'`,
      `${shownName(unknown) === unknown ? suggestion(unknown, all) : ""} Its fields: ${inWords(fields)}.`.trim()
    )
}

const secretOf = Effect.fnUntraced(function*(type: string, field: string, value: unknown) {
  const env = yield* CredentialEnv
  const reference = obj(value)
  const name = str(reference?.["env"])
  if (name === undefined || Object.keys(reference ?? {}).length !== 1) {
    return yield* Errors.invalid(
      `values.${field}`,
      `${field} is a secret and must not be passed as plain text`,
      {
        _tag: "CreateByHand",
        type,
        instead: `It was not sent, and is not repeated here. Give {"env": "NAME"}${
          env.size === 0 ? "" : ` (${[...env.keys()].join(", ")})`
        }`
      }
    )
  }
  if (!env.has(name)) {
    return yield* Errors.invalid(
      `values.${field}`,
      `'${shownName(name)}' is not among the variables that may be used`,
      { _tag: "AllowVariable", variables: [...env.keys()] }
    )
  }
  const secret = env.get(name)
  return secret ?? (yield* Errors.invalid(
    `values.${field}`,
    `The variable ${name} is not set`,
    "The operator sets it in the environment of the server."
  ))
})

const literalOf = Effect.fnUntraced(function*(field: Field, value: unknown) {
  const { choices, name } = field
  const refuse = (reason: string, hint: string) => Errors.invalid(`values.${name}`, reason, hint)
  if (obj(value)?.["env"] !== undefined) {
    return yield* refuse(`${name} is not a secret: only secrets are read from variables`, "Give the value itself.")
  }
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
    return yield* refuse(`${name} expects a ${field.type}`, "Give a text, a number or true or false.")
  }
  if (typeof value === "string" && value.startsWith("=")) {
    return yield* refuse(`${name} is an expression`, "Expressions are not supported here: give the value itself.")
  }
  if (typeof value === "string" && couldBeAddress(field, value)) {
    return yield* refuse(`${name} takes no spaces and none of / ? # @ : \\`, "Give a plain name or id.")
  }
  // The name of a header is not its value.
  if (
    typeof value === "string" && (Redact.redactText(value) !== value || Redact.places({ [name]: value }).length > 0)
  ) {
    return yield* refuse(
      `${name} contains what looks like a secret`,
      "It was not sent, and is not repeated here. A secret goes into a field for secrets, as {\"env\": \"NAME\"}."
    )
  }
  if (choices.length > 0 && !choices.includes(value)) {
    return yield* refuse(`${name} is not one of ${choices.join(", ")}`, "Choose one of them, or leave it out.")
  }
  return value
})

const maxQuestion = 500

/** Asks the user whether to send a secret to a destination of the model's choice; fails if the client cannot ask. */
const askAbout = Effect.fnUntraced(function*(
  name: string,
  type: string,
  secrets: ReadonlyArray<string>,
  destinations: ReadonlyArray<readonly [string, unknown]>
) {
  const where = destinations.map(([field, value]) => `${field} = ${Visible.text(JSON.stringify(value))}`).join(", ")
  const question = `Send the secret of ${secrets.join(" and ")} to where the model says? ${where}. It is for a new ${
    Visible.label(type)
  } credential, '${Visible.label(name)}'.`
  const call = yield* CallContext
  const fields = destinations.map(([field]) => field).join(", ")
  const instead: Hint = { _tag: "CreateByHand", type, instead: `Leave out ${fields}` }
  if (question.length > maxQuestion) {
    return yield* Errors.invalid(
      "values",
      `${fields} are too long to be shown to the user`,
      `Nothing was created. ${instead}`
    )
  }
  switch (yield* call.confirm(question)) {
    case "yes":
      return
    case "no":
      return yield* Errors.invalid(
        "values",
        "The user did not agree",
        "Nothing was created. Ask the user what to do instead."
      )
    case "unasked":
      return yield* Errors.invalid(
        "values",
        `${fields} decide where the secret goes, and this client cannot ask the user`,
        `Nothing was created. ${instead}`
      )
  }
})

interface New {
  readonly type: string
  readonly name: string
  /** Values by field; a secret is written as `{"env": "NAME"}`. */
  readonly values: Obj
}

/** Remaining steps and restrictions for a new credential. */
const notesOn = (fields: Fields, restricted: boolean) => [
  ...(fields.some(({ name }) => name === "oauthTokenData")
    ? ["A person has to connect it in n8n: open it there and sign in."] :
    []),
  ...(restricted
    ? [
      `${domains} is 'none': no HTTP Request node can send it anywhere. To allow a host, give ${domains}: 'domains' and allowedDomains: the user is asked.`
    ]
    : [])
]

/** Creates a credential; a destination is sent with a secret only after a person's yes. `POST /credentials`. */
export const create = Effect.fn("CredentialValues.create")(function*({ name, type, values }: New) {
  const n8n = yield* N8nClient
  const fields = yield* fieldsOf(type)
  yield* checkNames(fields, Object.keys(values))
  if (Object.keys(values).length === 0) {
    return yield* Errors.invalid("values", "values is empty", `The fields of ${type}: ${inWords(fields)}.`)
  }
  const present = fields.filter((field) => Object.hasOwn(values, field.name))
  const secretFields = present.filter(({ kind }) => kind === "secret")
  const secrets = yield* Effect.forEach(
    secretFields,
    (field) => Effect.map(secretOf(type, field.name, values[field.name]), (secret) => [field, secret] as const)
  )
  const literals = yield* Effect.forEach(
    present.filter(({ kind }) => kind !== "secret"),
    (field) => Effect.map(literalOf(field, values[field.name]), (value) => [field, value] as const)
  )
  const destinations = literals.filter(([{ kind }]) => kind === "destination")
  if (secrets.length > 0 && destinations.length > 0) {
    yield* askAbout(
      name,
      type,
      secretFields.map((field) => str(obj(values[field.name])?.["env"]) ?? ""),
      destinations.map(([field, value]) => [field.name, value] as const)
    )
  }
  const restricted = fields.some((field) => field.name === domains) && !Object.hasOwn(values, domains)
  const created = yield* n8n.createCredential({
    name,
    type,
    values: Redacted.make({
      ...(restricted ? { [domains]: "none" } : {}),
      ...Object.fromEntries(literals.map(([field, value]) => [field.name, value])),
      ...Object.fromEntries(secrets.map(([field, secret]) => [field.name, Redacted.value(secret)]))
    })
  })
  return { ...created, notes: notesOn(fields, restricted) }
})
