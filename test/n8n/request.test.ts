import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Errors from "../../src/base/Errors.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import { WriteGuard } from "../../src/n8n/WriteGuard.ts"
import { reasonOf } from "../support/reason.ts"
import {
  apiFailure,
  apiKey,
  breaksOff,
  failure,
  memoryClient,
  refuses,
  says,
  scriptedClient,
  settle
} from "./clients.ts"

const turn = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

const tag = { id: "t", name: "red", color: "#f00" }

describe("request", () => {
  it.effect("sends the operation and keeps each field of the answer", () =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([says(tag)])
      const answer = yield* n8n.request("PUT /tags/{tagId}", { path: { tagId: "a/b" }, body: { name: "red" } })
      assert.deepEqual(answer as unknown, tag)
      assert.strictEqual(requests[0]?.url, "https://n8n.test/api/v1/tags/a%2Fb")
      assert.strictEqual(requests[0]?.headers["x-n8n-api-key"], apiKey)
    }))

  it.effect("checks the answer against a schema", () =>
    Effect.gen(function*() {
      const { n8n } = yield* scriptedClient([says(tag)])
      const read = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) =>
        n8n.request("GET /tags/{tagId}", { path: { tagId: "t" }, schema })
      assert.deepStrictEqual(yield* read(Schema.Struct({ color: Schema.String })), { color: "#f00" })
      assert.strictEqual(reasonOf(yield* apiFailure(read(Schema.Struct({ size: Schema.Finite })))), "Unreadable")
    }))

  it.effect("names what is missing, and repeats a read but not a write", () =>
    Effect.gen(function*() {
      const gone = yield* scriptedClient([says({ message: "Tag not found" }, { status: 404 })])
      const missing = yield* failure(gone.n8n.request("GET /tags/{tagId}", { path: { tagId: "t" } }))
      assert.deepInclude(missing, { _tag: "NotFoundError", resourceType: "Tag", resourceId: "t" })
      const run = gone.n8n.request("GET /workflows/{id}/test-runs/{runId}", { path: { id: "w", runId: 7 } })
      assert.deepInclude(yield* failure(run), { resourceType: "Run", resourceId: "7" })

      const reading = yield* scriptedClient([breaksOff, says({ data: [tag], nextCursor: null })])
      yield* settle(reading.n8n.request("GET /tags"))
      assert.lengthOf(reading.requests, 2)
      const writing = yield* scriptedClient([refuses(500), says(tag)])
      const { message } = yield* apiFailure(writing.n8n.request("POST /tags", { body: { name: "red" } }))
      assert.strictEqual(message, "Failed to send POST /tags (HTTP 500): n8n's own words")
      assert.lengthOf(writing.requests, 1)
    }))

  it.effect("sends nothing to another path", () =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([says(tag)])
      const climbing = n8n.request("DELETE /tags/{tagId}", { path: { tagId: ".." } })
      assert.strictEqual((yield* failure(climbing))._tag, "ValidationError")
      assert.lengthOf(requests, 0)
    }))

  it.effect("gives bytes where the answer is not JSON, and nothing where it is empty", () =>
    Effect.gen(function*() {
      const bytes = Uint8Array.of(0x1f, 0x8b, 0, 255)
      const gzip = () => Effect.sync(() => new Response(bytes, { headers: { "content-type": "application/gzip" } }))
      const packed = yield* scriptedClient([gzip])
      assert.deepStrictEqual(
        Array.from(yield* packed.n8n.request("POST /n8n-packages/export", { body: { workflowIds: ["w"] } })),
        Array.from(bytes)
      )
      const empty = yield* scriptedClient([() => Effect.sync(() => new Response(null, { status: 204 }))])
      assert.isUndefined(yield* empty.n8n.request("DELETE /variables/{id}", { path: { id: "v" } }))
      const page = yield* scriptedClient([says("<html>", { headers: { "content-type": "text/html" } })])
      const { reason } = yield* apiFailure(page.n8n.request("GET /tags"))
      assert.strictEqual(reason.details, "a web page instead of JSON")
    }))

  it.effect("writes tags and workflows one at a time, and reads together", () =>
    Effect.gen(function*() {
      const { count, n8n } = yield* memoryClient({}, "1", { before: () => Effect.never })
      const begin = <A, E>(effect: Effect.Effect<A, E>) =>
        Effect.andThen(Effect.forkChild(effect), Effect.repeat(turn, { times: 5 }))
      yield* begin(n8n.request("POST /tags", { body: { name: "a" } }))
      yield* begin(n8n.request("POST /workflows/{workflowId}/archive", { path: { workflowId: "w" } }))
      assert.strictEqual(yield* count, 1)
      yield* begin(n8n.request("GET /tags"))
      assert.strictEqual(yield* count, 2)
    }))
})

describe("request by path", () => {
  const row = { workflowName: "Orders", failed: 3 }

  it.effect("sends what the description lacks, with the key and retries, and checks the answer", () =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([refuses(500), says({ data: [row] })])
      const schema = Schema.Struct({ data: Schema.Array(Schema.Struct({ failed: Schema.Int })) })
      const read = n8n.request("GET", "/insights/by-workflow", { query: { projectId: "a", none: undefined }, schema })
      assert.deepStrictEqual(yield* settle(read), { data: [{ failed: 3 }] })
      assert.deepStrictEqual(requests.map(({ url }) => url), [
        "https://n8n.test/api/v1/insights/by-workflow?projectId=a",
        "https://n8n.test/api/v1/insights/by-workflow?projectId=a"
      ])
      assert.strictEqual(requests[1]?.headers["x-n8n-api-key"], apiKey)
    }))

  it.effect("sends a write once, and repeats no text of a redacted body", () =>
    Effect.gen(function*() {
      const body = Redacted.make({ name: "Key", type: "t", data: { password: "my-password" } })
      const message = "bad: my-password"
      const { n8n, requests } = yield* scriptedClient([says({ message }, { status: 500 })])
      const byPath = yield* apiFailure(n8n.request("PUT", "/variables/a%20b", { body }))
      assert.strictEqual(byPath.message, "Failed to send PUT /variables/a%20b (HTTP 500): bad: [redacted]")
      assert.lengthOf(requests, 1)
      const typed = yield* apiFailure(n8n.request("POST /credentials", { body }))
      assert.match(typed.reason.details, /^bad: /)
      assert.notInclude(JSON.stringify(typed), "my-password")
    }))

  const paths =
    "https://evil.test/workflows|//evil.test/workflows|/|/workflows/|/workflows//1|/workflows/../../../rest/login"
    + "|/workflows/%2e%2E/users|/workflows/..%2f..%2frest|/workflows/1%2Fpublish|/workflows/1%5Cpublish|/@evil.test"
    + "|/workflows?active=true|/workflows#1|/workflows/a b|/workflows\\..\\users|/workflows/%zz"

  it.effect.each(paths.split("|") as ReadonlyArray<`/${string}`>)(
    "sends nothing to %s",
    (path) =>
      Effect.gen(function*() {
        const { n8n, requests } = yield* scriptedClient([says({})])
        assert.strictEqual((yield* failure(n8n.request("GET", path)))._tag, "ValidationError")
        assert.strictEqual((yield* failure(n8n.request("POST", path, { body: {} })))._tag, "ValidationError")
        assert.lengthOf(requests, 0)
      })
  )

  it.effect("is asked of the guard first", () =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([says({})])
      const closed = WriteGuard.of({
        check: ({ method, path }) => Errors.invalid("", `no ${method} ${path}`, ""),
        checkTest: () => Effect.void,
        faults: () => Effect.succeed([])
      })
      const writing = Effect.provideService(n8n.request("DELETE", "/workflows/1"), WriteGuard, closed)
      assert.strictEqual((yield* failure(writing)).message, "no DELETE /workflows/1")
      assert.lengthOf(requests, 0)
    }))

  it.effect("reads from the n8n in memory, and fails as an older n8n for what that lacks", () =>
    Effect.gen(function*() {
      const { n8n } = yield* memoryClient({}, "1")
      yield* settle(n8n.request("POST", "/tags", { body: { name: "red" } }))
      const tags = yield* settle(n8n.request("GET", "/tags"))
      assert.deepNestedPropertyVal(tags, "data[0].name", "red")
      assert.isTrue(N8nClient.isUnsupported(yield* failure(n8n.request("GET", "/insights/by-workflow"))))
      assert.isTrue(N8nClient.isUnsupported(yield* failure(n8n.request("GET /community-packages"))))
    }))
})

describe("stream", () => {
  const page = (id: number, nextCursor: string | null) => says({ data: [{ id }], nextCursor })

  it.effect("reads all pages of a list", () =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([page(1, "a"), page(2, "b"), page(3, null)])
      const users = yield* settle(Stream.runCollect(n8n.stream("GET /users", { query: { includeRole: true } })))
      assert.deepEqual(users.map(({ id }) => id) as ReadonlyArray<unknown>, [1, 2, 3])
      assert.deepStrictEqual(requests.map(({ url }) => new URL(url).search), [
        "?limit=250&includeRole=true",
        "?limit=250&includeRole=true&cursor=a",
        "?limit=250&includeRole=true&cursor=b"
      ])
    }))

  it.effect("continues from a cursor, with pages of the requested size, and stops if a cursor repeats", () =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([page(1, "b"), page(2, "b")])
      const list = n8n.stream("GET /tags", { query: { limit: 3, cursor: "a" } })
      const { reason } = yield* apiFailure(Stream.runDrain(list))
      assert.strictEqual(reason.details, "a list that does not end or repeats itself")
      assert.deepStrictEqual(requests.map(({ url }) => new URL(url).search), ["?limit=3&cursor=a", "?limit=3&cursor=b"])
    }))
})
