/** `credential create`: a person gives the secrets, hidden, or a program over stdin; none is on the command line. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { text as textOf } from "node:stream/consumers"
import * as Tool from "../../answer/Tool.ts"
import * as Errors from "../../base/Errors.ts"
import { type Obj, obj } from "../../base/Json.ts"
import * as Visible from "../../base/Visible.ts"
import type * as Fields from "../../credentials/Fields.ts"
import * as Values from "../../credentials/Values.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Options from "../Options.ts"
import * as SyncReport from "../report/SyncReport.ts"
import * as ToolContext from "../ToolContext.ts"
import { print, root } from "./root.ts"

const refuse = (message: string) => new Options.InvalidOption({ message })

/** Texts of a person as the field takes them; an empty one is left out. */
const typed = ({ choices, name, type }: Fields.Field, answer: string) => {
  if (answer === "") return Effect.undefined
  if (type === "number") {
    return Number.isFinite(Number(answer)) ? Effect.succeed(Number(answer)) : refuse(`${name} takes a number`)
  }
  if (type === "boolean") {
    return /^(true|false|yes|no)$/i.test(answer)
      ? Effect.succeed(/^(true|yes)$/i.test(answer))
      : refuse(`${name} takes true or false`)
  }
  return choices.length === 0 || choices.includes(answer)
    ? Effect.succeed(answer)
    : refuse(`${name} takes one of ${choices.join(", ")}`)
}

const answerTo = ({ kind }: Fields.Field, message: string) => {
  const prompt: Prompt.Prompt<string> = kind === "secret"
    ? Prompt.map(Prompt.Password({ message }), (hidden) => String(Redacted.value(hidden)))
    : Prompt.String({ message })
  return Prompt.run(prompt)
}

/** Asks for every field; what is secret is not shown. */
const ask = Effect.fnUntraced(function*(fields: ReadonlyArray<Fields.Field>) {
  const values: Record<string, unknown> = {}
  for (const field of fields) {
    if (field.name === "oauthTokenData") continue
    const about = field.choices.length > 0
      ? ` (${field.choices.join("|")})`
      : field.type === "string"
      ? ""
      : ` (${field.type})`
    const message = `${field.name}${about}`
    const value = yield* typed(field, yield* answerTo(field, message))
    if (value !== undefined) values[field.name] = value
  }
  return values
})

/** JSON from stdin: what is wrong with it is told without any of it. */
const readStdin = Effect.gen(function*() {
  const input = yield* Effect.promise(() => textOf(process.stdin))
  const values = yield* Effect.try({
    try: () => obj(JSON.parse(input)),
    catch: () => refuse("stdin holds no JSON: give an object of fields and values, {\"field\": \"value\"}")
  })
  return values ?? (yield* refuse("stdin holds no JSON object: give fields and values, {\"field\": \"value\"}"))
})

const make = Effect.fnUntraced(function*(type: string, name: string) {
  if (yield* Tool.ReadOnly) {
    return yield* new Errors.ValidationError({
      reason: "credential create writes to n8n, and this is read-only",
      hint: "Leave out --read-only, or choose another profile."
    })
  }
  const fields = yield* Values.fieldsOf(type)
  const values: Obj = process.stdin.isTTY ? yield* ask(fields) : yield* readStdin
  yield* Values.checkNames(fields, Object.keys(values))
  return yield* N8nClient.use((n8n) => n8n.createCredential({ name, type, values: Redacted.make(values) }))
})

const create = Command.make(
  "create",
  {
    type: Argument.String("type").pipe(Argument.withDescription("Such as slackApi or postgres")),
    name: Flag.String("name").pipe(
      Flag.withDescription("The credential's name; its type if none"),
      Flag.withMetavar("NAME"),
      Flag.withDefault("")
    )
  },
  Effect.fnUntraced(function*({ name, type }) {
    const options = yield* root
    const created = yield* make(type, name === "" ? type : name).pipe(
      Effect.catchTag("QuitError", () => refuse("Nothing was created")),
      Effect.catchTags({
        ApiError: (error) => refuse(SyncReport.explain(error)),
        NotFoundError: (error) => refuse(SyncReport.explain(error)),
        ValidationError: (error) => refuse(SyncReport.explain(error))
      }),
      Effect.provide(ToolContext.layer(options))
    )
    yield* print(`Created ${Visible.label(created.name)} (${created.type}): ${created.id}`)
  })
).pipe(
  Command.withDescription(
    "Create a credential: asks for its fields, secrets hidden, or reads them from stdin as a JSON object"
  )
)

export const credential = Command.make("credential").pipe(
  Command.withDescription("Credentials of n8n"),
  Command.withSubcommands([create])
)
