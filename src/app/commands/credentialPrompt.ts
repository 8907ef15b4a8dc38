/** Questions about the fields of a new credential; each answer is checked before the next question. */
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Fields from "../../credentials/Fields.ts"

const select = (message: string, choices: ReadonlyArray<unknown>) =>
  Prompt.Select<unknown>({
    message,
    choices: [
      { title: "(leave out)", value: undefined },
      ...choices.map((value) => ({ title: String(value), value }))
    ]
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

const promptFor = ({ choices, kind, name, type }: Fields.Field): Prompt.Prompt<unknown> =>
  choices.length > 0
    ? select(name, choices)
    : type === "boolean"
    ? select(name, [true, false])
    : type === "number"
    ? number(name)
    : text(name, kind === "secret")

/** Asks for every field; empty answers are left out. */
export const ask = Effect.fnUntraced(function*(fields: ReadonlyArray<Fields.Field>) {
  const values: Record<string, unknown> = {}
  for (const field of fields) {
    // It is created by signing in.
    if (field.name === "oauthTokenData") continue
    const value = yield* Prompt.run(promptFor(field))
    if (value !== undefined) values[field.name] = value
  }
  return values
})
