/** `credential create`: reads secrets from a hidden prompt or from stdin, never from the command line. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { text as textOf } from "node:stream/consumers"
import * as Tool from "../../answer/Tool.ts"
import * as Errors from "../../base/Errors.ts"
import { type Obj, obj } from "../../base/Json.ts"
import * as Visible from "../../base/Visible.ts"
import * as Values from "../../credentials/Values.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Options from "../config/Options.ts"
import * as ToolContext from "../ToolContext.ts"
import { ask } from "./credentialPrompt.ts"
import { explained, print, root } from "./root.ts"

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
  if (yield* Tool.ReadOnly) {
    return yield* new Errors.ValidationError({
      reason: "credential create writes to n8n, but this n8n is read-only",
      hint: "Remove --read-only, or choose another profile."
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
    type: Argument.String("type").pipe(Argument.withDescription("Type, such as slackApi or postgres")),
    name: Flag.String("name").pipe(
      Flag.withDescription("Name of the credential; its type by default"),
      Flag.withMetavar("NAME"),
      Flag.withDefault("")
    )
  },
  Effect.fnUntraced(function*({ name, type }) {
    const options = yield* root
    const result = yield* make(type, name === "" ? type : name).pipe(
      Effect.catchTag("QuitError", () => Options.refuse("Nothing was created")),
      explained,
      Effect.provide(ToolContext.layer(options))
    )
    yield* print(
      `Created ${Visible.label(result.name)} (${Visible.label(result.type)}): ${Visible.label(result.id)}`
    )
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
