import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
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
