import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Terminal from "effect/Terminal"
import { ask } from "../../../src/app/commands/credential.ts"
import * as CredentialValues from "../../../src/credentials/CredentialValues.ts"
import { platform } from "../../support/folders.ts"
import { serve } from "../../support/HttpN8n.ts"
import { commandWith } from "../../support/inProcess.ts"
import { node } from "../../support/workflows.ts"

const credentials = [
  { id: "shop1", name: "Shop", type: "httpHeaderAuth" },
  { id: "shop2", name: "Shop", type: "slackApi" },
  { id: "spare1", name: "Spare", type: "slackApi" }
]

const workflow = {
  id: "w1",
  name: "Orders",
  nodes: [node("HTTP", "httpRequest", 4.2, {}, { credentials: { httpHeaderAuth: { id: "shop1", name: "Shop" } } })],
  connections: {},
  settings: {}
}

/** Runs `credential` with an n8n of this version. */
const atN8n = Effect.fnUntraced(function*(version: "1" | "2" = "2") {
  const { api, url } = yield* serve({ workflows: [workflow], executions: [], credentials }, { version })
  const env = { N8N_URL: url.href, N8N_API_KEY: "k" }
  return { api, run: (...args: ReadonlyArray<string>) => commandWith(env, "credential", ...args) }
})

describe("credential", () => {
  it.live("lists credentials, and finds one by its id or a name that only one has", () =>
    Effect.gen(function*() {
      const { run } = yield* atN8n()
      const { credentials: all } = JSON.parse((yield* run("list")).stdout)
      assert.sameMembers(all.map(({ id }: { readonly id: string }) => id), ["shop1", "shop2", "spare1"])
      const some = JSON.parse((yield* run("list", "--type", "httpHeaderAuth")).stdout)
      assert.deepStrictEqual(some.credentials, [credentials[0]])
      const tested = yield* run("test", "spare")
      assert.deepStrictEqual([tested.exitCode, tested.stdout], [
        2,
        "✗ Spare (slackApi), id spare1: No testing function found for this credential.\n"
      ])
      const several = yield* run("test", "Shop")
      assert.include(several.error, "2 credentials are named 'Shop': 'shop1', 'shop2'")
      assert.include((yield* run("test", "Spore")).error, "This n8n has no credential 'Spore'. Did you mean 'Spare'?")
    }).pipe(Effect.scoped, Effect.provide(platform)))

  it.live("deletes one only after a yes, and names the workflows that use it", () =>
    Effect.gen(function*() {
      const { run } = yield* atN8n()
      const ids = Effect.map(run("list"), ({ stdout }) => JSON.parse(stdout).credentials.length)
      const unasked = yield* run("delete", "shop1")
      assert.include(unasked.error, "1 workflow will fail without it: 'Orders' (w1). To delete it: add --yes")
      assert.strictEqual(yield* ids, 3)
      const deleted = yield* run("delete", "shop1", "--yes")
      assert.deepStrictEqual([deleted.error, deleted.stdout], [
        "",
        "Shop (httpHeaderAuth), id shop1. 1 workflow will fail without it: 'Orders' (w1).\n" +
        "Deleted Shop (httpHeaderAuth), id shop1\n"
      ])
      assert.strictEqual(yield* ids, 2)
      assert.include((yield* run("delete", "spare1", "--read-only", "--yes")).error, "read-only")
      assert.include((yield* run("delete", "Spare")).error, "No workflow uses it.")
    }).pipe(Effect.scoped, Effect.provide(platform)))

  it.live("takes an id on n8n 1, which does not list those that no workflow uses", () =>
    Effect.gen(function*() {
      const { run } = yield* atN8n("1")
      assert.include((yield* run("list")).stdout, "the ones that its workflows use")
      assert.include((yield* run("delete", "spare1", "--yes")).stdout, "Deleted credential spare1")
      assert.include((yield* run("test", "Shop")).error, "cannot test credentials")
    }).pipe(Effect.scoped, Effect.provide(platform)))
})

/** Keys that a person presses, such as `a`, `down` or `return`. */
const key = (name: string): Terminal.UserInput => ({
  input: name.length === 1 ? Option.some(name) : Option.none(),
  key: { name, ctrl: false, meta: false, shift: false }
})

/** A person at a terminal, and all that is shown there. */
const answering = (keys: ReadonlyArray<string>, fields: ReadonlyArray<CredentialValues.Field>) =>
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

const fields = CredentialValues.fields(
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
        "x",
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
