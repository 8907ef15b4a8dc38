import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Terminal from "effect/Terminal"
import { ask } from "../../../../../src/app/commands/credential.ts"
import * as Values from "../../../../../src/credentials/Values.ts"

/** Keys that a person presses, such as `a`, `down` or `return`. */
const key = (name: string): Terminal.UserInput => ({
  input: name.length === 1 ? Option.some(name) : Option.none(),
  key: { name, ctrl: false, meta: false, shift: false }
})

/** A person at a terminal, and all that is shown there. */
const answering = (keys: ReadonlyArray<string>, fields: ReadonlyArray<Values.Field>) =>
  Effect.gen(function*() {
    const screen: Array<string> = []
    const input = yield* Queue.unbounded<Terminal.UserInput>()
    yield* Queue.offerAll(input, keys.map(key))
    const terminal = Terminal.make({
      columns: Effect.succeed(80),
      rows: Effect.succeed(24),
      size: Effect.die("not resized"),
      readInput: Effect.succeed(input as never),
      readLine: Effect.die("not read by lines"),
      display: (text) => Effect.sync(() => void screen.push(text))
    })
    const values = yield* Effect.provideService(ask(fields), Terminal.Terminal, terminal)
    return { values, screen: screen.join("") }
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const fields = Values.fields(
  {
    user: { type: "string" },
    password: { type: "string" },
    port: { type: "number" },
    ssl: { type: "string", enum: ["allow", "disable", "require"] },
    ignore: { type: "boolean" },
    oauthTokenData: { type: "json" }
  },
  { user: false, password: true, port: false, ssl: false, ignore: false }
)

describe("credential create at a terminal", () => {
  it.effect("offers choices, checks numbers immediately and shows no secret", () =>
    Effect.gen(function*() {
      const { screen, values } = yield* answering([
        ..."bob",
        "return",
        ..."hunter2",
        "return",
        ..."x",
        "return",
        "backspace",
        ..."5432",
        "return",
        "down",
        "down",
        "return",
        "down",
        "return"
      ], fields)
      assert.deepStrictEqual(values, { user: "bob", password: "hunter2", port: 5432, ssl: "disable", ignore: true })
      assert.include(screen, "require")
      assert.include(screen, "Enter a number")
      assert.notInclude(screen, "hunter2")
    }))

  it.effect("leaves out what is not answered", () =>
    Effect.gen(function*() {
      const { values } = yield* answering(Array.from({ length: 5 }, () => "return"), fields)
      assert.deepStrictEqual(values, {})
    }))
})
