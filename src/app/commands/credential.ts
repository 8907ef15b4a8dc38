/** `credential create`: a person gives the secrets, hidden, or a program over stdin; none is on the command line. */
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
import * as Options from "../Options.ts"
import * as SyncReport from "../report/SyncReport.ts"
import * as ToolContext from "../ToolContext.ts"
import { ask } from "./credentialPrompt.ts"
import { print, root } from "./root.ts"

const refuse = (message: string) => new Options.InvalidOption({ message })

/** JSON from stdin; error messages repeat none of it. */
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
    yield* print(
      `Created ${Visible.label(created.name)} (${Visible.label(created.type)}): ${Visible.label(created.id)}`
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
