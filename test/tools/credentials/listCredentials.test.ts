import { assert, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"

const seed = {
  workflows: [],
  executions: [],
  credentials: Array.from({ length: 7 }, (_, index) => ({
    id: `c${index}`,
    name: `Account ${index}`,
    type: index % 2 === 0 ? "slackApi" : "httpHeaderAuth",
    data: { secret: "hunter2" }
  }))
}

layer(FakeN8n.layer(seed))("list_credentials", (it) => {
  it.effect("lists names and types, never values", () =>
    Effect.gen(function*() {
      const { count, credentials, url } = yield* tools.listCredentials.call({ limit: 20 })
      assert.strictEqual(count, 7)
      assert.deepStrictEqual(credentials[0], { id: "c0", name: "Account 0", type: "slackApi" })
      assert.match(url, /home\/credentials$/)
      assert.notInclude(JSON.stringify(credentials), "hunter2")
    }))

  it.effect("reads n8n's pages until it has the requested number of a type", () =>
    Effect.gen(function*() {
      const first = yield* tools.listCredentials.call({ type: "slackApi", limit: 2 })
      assert.deepStrictEqual(first.credentials.map(({ id }) => id), ["c0", "c2"])
      const second = yield* tools.listCredentials.call({ type: "slackApi", limit: 2, cursor: first.nextCursor ?? "" })
      assert.deepStrictEqual(second.credentials.map(({ id }) => id), ["c4", "c6"])
      assert.notProperty(second, "nextCursor")
    }))
})

const using = (id: string, credentials: object, more: object = {}) => ({
  id,
  name: id,
  active: false,
  nodes: [{ name: "Send", type: "n8n-nodes-base.slack", credentials }],
  connections: {},
  ...more
})

const onV1 = {
  ...seed,
  workflows: [
    using("a", { slackApi: { id: "s1", name: "Team" } }),
    using("b", { slackApi: { id: "s1", name: "Team" }, httpHeaderAuth: { id: "h1", name: "Shop" } }),
    using("c", { slackApi: { id: "s2", name: "Old" } }, { isArchived: true }),
    using("d", { slackApi: { id: null, name: "From 2019" }, broken: "text" })
  ]
}

layer(FakeN8n.layer(onV1, { version: "1" }))("list_credentials on n8n 1", (it) => {
  it.effect("finds those that workflows use, each once, and says so", () =>
    Effect.gen(function*() {
      const { credentials, hint } = yield* tools.listCredentials.call({})
      assert.deepStrictEqual(credentials, [
        { id: "s2", name: "Old", type: "slackApi" },
        { id: "h1", name: "Shop", type: "httpHeaderAuth" },
        { id: "s1", name: "Team", type: "slackApi" }
      ])
      assert.include(hint, "workflows use")
      const { credentials: ofType } = yield* tools.listCredentials.call({ type: "httpHeaderAuth" })
      assert.deepStrictEqual(ofType.map(({ id }) => id), ["h1"])
    }))
})

it.effect("reads a limited number of pages, and continues from there", () =>
  Effect.gen(function*() {
    let pages = 0
    const before = () =>
      Effect.sync(() => Response.json({ data: [{ id: "c", name: "C", type: "other" }], nextCursor: `page-${++pages}` }))
    const { count, nextCursor } = yield* tools.listCredentials.call({ type: "slackApi", limit: 2 }).pipe(
      Effect.provide(FakeN8n.layer(seed, { before }))
    )
    assert.strictEqual(count, 0)
    assert.strictEqual(nextCursor, "at-40")
    assert.strictEqual(pages, 40)
  }))
