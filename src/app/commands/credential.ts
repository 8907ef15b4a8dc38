/** `credential create`: reads secrets from a hidden prompt or from stdin, never from the command line. */
import * as Command from "effect/cli/Command"
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { text as textOf } from "node:stream/consumers"
import { type Obj, obj } from "../../base/Json.ts"
import * as Visible from "../../base/Visible.ts"
import * as Values from "../../credentials/Values.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Options from "../config/Options.ts"
import * as ToolContext from "../ToolContext.ts"
import * as flags from "./flags.ts"
import { checkWrites, command, print } from "./root.ts"

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

const promptFor = ({ choices, kind, name, type }: Values.Field): Prompt.Prompt<unknown> =>
  choices.length > 0
    ? select(name, choices)
    : type === "boolean"
    ? select(name, [true, false])
    : type === "number"
    ? number(name)
    : text(name, kind === "secret")

/** Asks for every field; empty answers are left out. */
export const ask = Effect.fnUntraced(function*(fields: ReadonlyArray<Values.Field>) {
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
  const fields = yield* Values.fieldsOf(type)
  const values: Obj = process.stdin.isTTY ? yield* ask(fields) : yield* readStdin
  yield* Values.checkNames(fields, Object.keys(values))
  return yield* N8nClient.use((n8n) => n8n.createCredential({ name, type, values: Redacted.make(values) }))
})

const create = command(
  "create",
  "Create a credential: asks for its fields, or reads them from stdin as a JSON object",
  {
    type: flags.argument("type", "Type, such as slackApi or postgres"),
    name: flags.text("name", "NAME", "Name of the credential; its type by default")
  },
  Effect.fnUntraced(function*({ name, type }, options) {
    const { id, ...created } = yield* make(type, name || type).pipe(
      Effect.catchTag("QuitError", () => Options.refuse("Nothing was created")),
      Effect.provide(ToolContext.layer(options))
    )
    yield* print(`Created ${Visible.label(created.name)} (${Visible.label(created.type)}): ${Visible.label(id)}`)
  })
)

export const credential = Command.make("credential").pipe(
  Command.withDescription("Credentials of n8n"),
  Command.withSubcommands([create])
)
