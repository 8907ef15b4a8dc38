/** `credential`: lists, tests, creates and deletes credentials; secrets come from a hidden prompt or stdin. */
import * as Command from "effect/cli/Command"
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { text as textOf } from "node:stream/consumers"
import type * as Tool from "../../answer/Tool.ts"
import { defined, type Obj, obj } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import * as CredentialValues from "../../credentials/CredentialValues.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as tools from "../../tools/index.ts"
import * as References from "../../workflow/References.ts"
import * as Reference from "../../workflows/Reference.ts"
import * as Options from "../config/Options.ts"
import * as Layout from "../report/Layout.ts"
import * as Terminal from "../Terminal.ts"
import * as flags from "./flags.ts"
import { checkWrites, isConfirmed, onN8n, row } from "./row.ts"

const select = (message: string, choices: ReadonlyArray<unknown>) =>
  Prompt.Select<unknown>({
    message,
    choices: [{ title: "(leave out)", value: undefined }, ...choices.map((value) => ({ title: String(value), value }))]
  })

const number = (message: string) =>
  Prompt.map(
    Prompt.String({
      message: `${message} (number)`,
      validate: (answer) => Number.isFinite(Number(answer)) ? Effect.succeed(answer) : Effect.fail("Enter a number")
    }),
    (answer) => answer.trim() === "" ? undefined : Number(answer)
  )

const text = (message: string, isSecret: boolean): Prompt.Prompt<unknown> => {
  const answer: Prompt.Prompt<string> = isSecret
    ? Prompt.map(Prompt.Password({ message }), (hidden) => String(Redacted.value(hidden)))
    : Prompt.String({ message })
  return Prompt.map(answer, (value) => value === "" ? undefined : value)
}

const promptFor = ({ choices, kind, name, type }: CredentialValues.Field): Prompt.Prompt<unknown> => {
  const message = `Field ${name}`
  return choices.length > 0
    ? select(message, choices)
    : type === "boolean"
    ? select(message, [true, false])
    : type === "number"
    ? number(message)
    : text(message, kind === "secret")
}

/** Asks for every field; empty answers are left out. */
export const ask = Effect.fnUntraced(function*(fields: ReadonlyArray<CredentialValues.Field>) {
  yield* Terminal.say("The fields of the credential; Enter alone leaves one out, and secrets stay hidden.")
  const values: Record<string, unknown> = {}
  for (const field of fields) {
    // It is created by signing in.
    if (field.name === "oauthTokenData") continue
    const value = yield* Prompt.run(promptFor(field))
    if (value !== undefined) values[field.name] = value
  }
  return values
})

/** JSON from stdin; error messages never repeat it. */
const readStdin = Effect.gen(function*() {
  const input = yield* Effect.promise(() => textOf(process.stdin))
  const values = yield* Effect.try({
    try: () => obj(JSON.parse(input)),
    catch: () => Options.refuse("stdin is not JSON: send an object of fields and values, {\"field\": \"value\"}")
  })
  return values ?? (yield* Options.refuse("stdin is not a JSON object: send fields and values, {\"field\": \"value\"}"))
})

const make = Effect.fnUntraced(function*(type: string, name: string) {
  yield* checkWrites("credential create writes to n8n")
  const fields = yield* CredentialValues.fieldsOf(type)
  const values: Obj = process.stdin.isTTY ? yield* ask(fields) : yield* readStdin
  yield* CredentialValues.checkNames(fields, Object.keys(values))
  return yield* N8nClient.use((n8n) => n8n.createCredential({ name, type, values: Redacted.make(values) }))
})

const create = row({
  name: "create",
  description: "Create a credential: asks for its fields, or reads them from stdin as a JSON object",
  flags: {
    type: flags.argument("type", "Type, such as slackApi or postgres"),
    name: flags.text("name", "NAME", "Name of the credential; its type by default")
  },
  form: "lines",
  services: onN8n,
  run: ({ name, type }) =>
    make(type, name || type).pipe(
      Effect.catchTag("QuitError", () => Options.refuse("Nothing was created")),
      Effect.map((created) => ({ json: created, text: () => [`Created ${shown(created)}`] }))
    )
})

type Credentials = Tool.Output<typeof tools.listCredentials>
type Credential = Credentials["credentials"][number]

/** Such as `Shop (postgres), 2fWq…`. */
const shown = ({ id, name, type }: Credential) =>
  type === ""
    ? `credential ${Visible.label(id)}`
    : `${Visible.label(name)} (${Visible.label(type)}), id ${Visible.label(id)}`

const maxPage = 100

/** All credentials, or where n8n does not list them, those that workflows use, with a hint. */
const all = Effect.fnUntraced(function*(type?: string) {
  const credentials: Array<Credential> = []
  let page: Credentials | undefined
  do {
    const cursor: string | undefined = page?.nextCursor
    page = yield* tools.listCredentials.call({ limit: maxPage, ...defined({ cursor, type }) })
    credentials.push(...page.credentials)
  } while (page.nextCursor !== undefined)
  return { credentials, hint: page.hint }
})

const list = row({
  name: "list",
  description: "List the credentials of n8n, without their values",
  flags: { type: flags.text("type", "TYPE", "Only this type, such as slackApi") },
  form: "data",
  services: onN8n,
  run: ({ type }) =>
    Effect.map(all(type), ({ credentials, hint }) => ({
      json: defined({ credentials, hint }),
      text: (screen) => [
        ...credentials.length === 0 ? ["No credentials."] : Layout.table(
          [
            { title: "ID", of: ({ id }) => Visible.label(id) },
            { title: "NAME", of: ({ name }) => Visible.label(name, 200), min: 12 },
            { title: "TYPE", of: ({ type }) => Visible.label(type), min: 12 }
          ],
          credentials,
          screen
        ),
        ...hint === undefined ? [] : ["", hint]
      ]
    }))
})

const reference = flags.argument("credential", "Its id or name")

/** Credential of an id or a name. */
const find = Effect.fnUntraced(function*(text: string) {
  const { credentials, hint } = yield* all()
  const [one] = yield* Reference.pick(credentials, text, "This n8n", "credential").pipe(
    // An n8n that lists only those in use may have it.
    Effect.catch((error) => hint === undefined ? Effect.fail(error) : Effect.succeed([]))
  )
  return one ?? { id: text, name: text, type: "" }
})

const test = row({
  name: "test",
  description: "Test a credential at its service (n8n 2.x)",
  flags: { credential: reference },
  form: "lines",
  services: onN8n,
  run: Effect.fnUntraced(function*({ credential: text }) {
    const credential = yield* find(text)
    const json = yield* tools.credentialTest.call({ id: credential.id })
    const mark = json.ok ? "✓" : "✗"
    return {
      json,
      text: ({ isColoured }) => [
        `${Layout.paint(mark, json.ok ? 32 : 31, isColoured)} ${shown(credential)}: ${
          json.ok ? "it works" : Visible.label(json.message, 400)
        }`
      ],
      exit: json.ok ? 0 : 2
    }
  })
})

/** Workflows that use a credential. */
const usersOf = (id: string) =>
  N8nClient.use(({ streamWorkflows }) =>
    Stream.runCollect(Stream.filter(
      streamWorkflows({ archived: true }),
      (workflow) => References.credentials([workflow]).some((used) => used.id === id)
    ))
  )

const remove = row({
  name: "delete",
  description: "Delete a credential, after it has named the workflows that use it",
  flags: { credential: reference, yes: flags.toggle("yes", "Delete without asking") },
  form: "lines",
  services: onN8n,
  run: Effect.fnUntraced(function*({ credential: text, yes }, _, { isJson }) {
    yield* checkWrites("credential delete writes to n8n")
    const credential = yield* find(text)
    const users = (yield* usersOf(credential.id)).map(({ id, name }) => ({ id, name }))
    const use = users.length === 0 ?
      "No workflow uses it." :
      `${counted(users.length, "workflow")} will fail without it: ${
        Rows.listed(users.map(({ id, name }) => `'${Visible.label(name)}' (${Visible.label(id)})`), 10)
      }.`
    if (!yes && !Terminal.isInteractive()) return yield* Options.refuse(`${use} To delete it: add --yes`)
    if (!isJson) yield* Terminal.say(`${shown(credential)}. ${use}`)
    if (!yes && !(yield* isConfirmed("Delete it?"))) return yield* Options.refuse("Nothing was deleted")
    yield* N8nClient.use((n8n) => n8n.deleteCredential(credential.id))
    return { json: { ...credential, users }, text: () => [`Deleted ${shown(credential)}`] }
  })
})

export const credential = Command.make("credential").pipe(
  Command.withDescription("Credentials of n8n: list, test, create, delete"),
  Command.withSubcommands([list, test, create, remove])
)
