/** `pnpm test:suite state`: what processes share in a real PostgreSQL, and what they do while it is down. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import { gzipSync } from "node:zlib"
import * as Postgres from "../../../src/app/Postgres.ts"
import { Author } from "../../../src/base/CallContext.ts"
import { Database } from "../../../src/base/Database.ts"
import * as Documents from "../../../src/base/Documents.ts"
import { sha256 } from "../../../src/base/Hash.ts"
import { arr, obj } from "../../../src/base/Json.ts"
import * as Demo from "../../../src/demo/Demo.ts"
import * as blocks from "../../../src/executions/blocks.ts"
import * as RetryLog from "../../../src/executions/RetryLog.ts"
import * as TestRuns from "../../../src/executions/TestRuns.ts"
import * as Sealing from "../../../src/mcp/eras/Sealing.ts"
import * as SqlRateLimits from "../../../src/mcp/http/SqlRateLimits.ts"
import * as Snapshots from "../../../src/workflows/store/Snapshots.ts"
import { platform } from "../../support/folders.ts"
import * as HttpN8n from "../../support/HttpN8n.ts"
import { bundle, remove } from "../../support/Process.ts"
import { formerTable } from "./former.ts"
import * as RealPostgres from "./Postgres.ts"
import { type Server, serving } from "./servers.ts"

beforeAll(bundle, 60_000)
afterAll(remove)

const instance = { url: "https://n8n.example.com/", key: "https://n8n.example.com/ a-fingerprint" }

/** What one process has of the database; each has a pool of its own. */
const replica = ({ url }: RealPostgres.Postgres) =>
  Effect.gen(function*() {
    const database = yield* Layer.build(Layer.fresh(Postgres.layer(Redacted.make(url))))
    const context = yield* Layer.build(
      Layer.mergeAll(RetryLog.layer, TestRuns.layer, Snapshots.layer()).pipe(
        Layer.provideMerge(Documents.layerDatabase),
        Layer.provideMerge(Layer.succeedContext(database))
      )
    )
    return {
      run: Context.get(database, Database).run,
      retries: Context.get(context, RetryLog.RetryLog),
      snapshots: Context.get(context, Snapshots.Snapshots),
      runs: Context.get(context as Context.Context<never>, TestRuns.TestRuns),
      sealing: yield* Sealing.shared(Context.get(context, Documents.Documents).collection("sealing", "")),
      limiter: RateLimiter.make.pipe(
        Effect.provide(Layer.provide(SqlRateLimits.layerStore, Layer.succeedContext(database)))
      )
    }
  })

describe("processes that share a database", () => {
  it.live("share snapshots, test runs and what is sealed", () =>
    Effect.gen(function*() {
      const postgres = yield* RealPostgres.make
      yield* postgres.start
      // Both find an empty database at the same moment.
      const [a, b] = yield* Effect.all([replica(postgres), replica(postgres)])
      yield* Effect.all([a, b].map(({ run }) => run((sql) => sql`SELECT 1`)), { concurrency: 2 })

      const workflow = (round: number) => ({ id: "w1", name: "Ä\u0000 $1", versionId: `v${round}`, nodes: [{ round }] })
      const first = yield* a.snapshots.save(instance, workflow(0), "update_workflow").pipe(
        Effect.provideService(Author, "alice")
      )
      assert.deepInclude(first, { author: "alice", operation: "update_workflow", name: "Ä\u0000 $1", versionId: "v0" })
      assert.deepStrictEqual(yield* b.snapshots.list(instance, "w1"), [first])
      const { read } = b.snapshots
      assert.deepStrictEqual(yield* read(instance, "w1", first.version), { snapshot: first, workflow: workflow(0) })
      assert.deepStrictEqual(yield* b.snapshots.list({ ...instance, key: "another key" }, "w1"), [])
      assert.strictEqual((yield* Effect.flip(read(instance, "w2", first.version)))._tag, "NotFoundError")
      assert.strictEqual((yield* Effect.flip(read(instance, "w1", "'--")))._tag, "NotFoundError")

      // Both write at once: the last twenty stay, and newer ones sort higher.
      const saved = yield* Effect.forEach(
        Array.from({ length: 30 }, (_, round) => round),
        (round) => (round % 2 === 0 ? a : b).snapshots.save(instance, workflow(round), "update_workflow"),
        { concurrency: 6 }
      )
      assert.deepStrictEqual(
        (yield* a.snapshots.list(instance, "w1")).map(({ version }) => version),
        saved.map(({ version }) => version).toSorted().toReversed().slice(0, Snapshots.maxSnapshots)
      )

      const body = new TextEncoder().encode("{\"data\":\"of a test\"}")
      const writer = new blocks.Writer()
      writer.write(body)
      yield* a.runs.save("n8n", "42", writer.end())
      assert.deepStrictEqual(new Uint8Array((yield* b.runs.load("n8n", "42")) ?? []), body)
      assert.isUndefined(yield* b.runs.load("other", "42"))

      const attempt = { run: "42", number: 0 }
      const claims = yield* Effect.all([a, b].map(({ retries }) => retries.claim("n8n", attempt)), { concurrency: 2 })
      assert.deepStrictEqual(claims.toSorted(), [false, true])
      yield* a.retries.settle("n8n", { ...attempt, newId: "43", status: "success" })
      assert.deepStrictEqual(yield* b.retries.read("n8n"), [{ ...attempt, newId: "43", status: "success" }])
      assert.deepStrictEqual(yield* b.retries.read("other"), [])

      const sealed = yield* a.sealing.seal({ asked: "x" }, "about")
      assert.isUndefined(yield* b.sealing.open(sealed, "something else"))
      assert.deepStrictEqual(yield* b.sealing.open(sealed, "about"), { asked: "x" })
      for (const { sealing } of [a, b]) assert.isUndefined(yield* sealing.open(sealed, "about"))
      const limits = yield* Effect.all([a, b].map(({ limiter }) => limiter), { concurrency: 2 })
      const consume = (key: string, round: number) =>
        Effect.result(
          (limits[round % 2] ?? limits[0] as RateLimiter.RateLimiter).consume({
            key,
            limit: 10,
            window: "1 hour",
            algorithm: "token-bucket"
          })
        )
      const consumed = yield* Effect.all(Array.from({ length: 24 }, (_, round) => consume("alice", round)), {
        concurrency: 8
      })
      assert.lengthOf(consumed.filter(Result.isSuccess), 10)
      assert.isTrue(Result.isSuccess(yield* consume("bob", 0)))
      // Six minutes later there is one more.
      yield* postgres.sql("UPDATE n8n_mcp_limits SET last_refill = last_refill - 6 * 60000")
      const later = [yield* consume("alice", 0), yield* consume("alice", 1)]
      assert.deepStrictEqual(later.map(Result.isSuccess), [true, false])
      yield* postgres.stop
      assert.isTrue(Result.isSuccess(yield* consume("alice", 0)))
      yield* postgres.start
      assert.notInclude(yield* postgres.sql("SELECT * FROM n8n_mcp_documents"), "a-fingerprint")
    }).pipe(Effect.provide(platform)))
})

describe("snapshots of an older version of the tables", () => {
  it.live("are found after its migration", () =>
    Effect.gen(function*() {
      const postgres = yield* RealPostgres.make
      yield* postgres.start
      const { run } = yield* replica(postgres)
      yield* run((sql) => sql`SELECT 1`)
      const snapshot = {
        version: "snapshot-20261121T224512123Z-ab12cd",
        createdAt: "2026-11-21T22:45:12.123Z",
        operation: "update_workflow",
        name: "Ä $1"
      }
      const workflow = { id: "w'1", name: "Ä $1", nodes: [] }
      const literal = (text: string) => `'${text.replaceAll("'", "''")}'`
      const values = [sha256(instance.key), workflow.id, snapshot.version, JSON.stringify(snapshot)].map(literal)
      yield* postgres.sql(
        `DELETE FROM n8n_mcp_migrations WHERE migration_id > 3; ${formerTable}; INSERT INTO n8n_mcp_snapshots VALUES (${
          values.join(", ")
        }, decode('${gzipSync(JSON.stringify(workflow)).toString("hex")}', 'hex'))`
      )
      const { snapshots } = yield* replica(postgres)
      assert.deepStrictEqual(yield* snapshots.list(instance, workflow.id), [snapshot])
      assert.deepStrictEqual(yield* snapshots.read(instance, workflow.id, snapshot.version), { snapshot, workflow })
    }).pipe(Effect.scoped, Effect.provide(platform)))
})

const firstId = ({ execute }: Server) =>
  Effect.map(
    execute("list_workflows"),
    ({ data }) => String(obj(arr(obj(data)?.["workflows"])[0])?.["id"])
  )

const nameOf = ({ execute }: Server, id: string) =>
  Effect.map(execute("get_workflow", { id }), ({ data }) => obj(data)?.["name"])

describe("servers that share a database", () => {
  it.live("one restores what another overwrote, and receives the answer to another's question", () =>
    Effect.gen(function*() {
      const postgres = yield* RealPostgres.make
      yield* postgres.start
      const n8n = yield* HttpN8n.serve(Demo.seed)
      const [a, b] = yield* Effect.all([serving(postgres.url, n8n.url), serving(postgres.url, n8n.url)], {
        concurrency: 2
      })
      const id = yield* firstId(a)
      const before = yield* nameOf(a, id)
      yield* a.execute("update_workflow", { id, name: "Overwritten" })
      const history = yield* b.execute("workflow_history", { id })
      const [, version] = /"version":"(snapshot-[^"]+)"/.exec(JSON.stringify(history)) ?? []
      assert.isString(version, JSON.stringify(history))
      const restored = yield* b.execute("workflow_restore", { id, version, publish: true })
      assert.isTrue(restored["success"], JSON.stringify(restored))
      assert.strictEqual(yield* nameOf(a, id), before)

      const params = { name: "delete_workflow", arguments: { id } }
      const asked = obj((yield* a.call(params))["result"]) ?? {}
      const [question = ""] = Object.keys(obj(asked["inputRequests"]) ?? {})
      const answer = {
        ...params,
        requestState: asked["requestState"],
        inputResponses: { [question]: { action: "accept", content: { confirm: true } } }
      }
      assert.include(JSON.stringify(yield* b.call(answer)), "\\\"success\\\":true")
      assert.include(JSON.stringify(yield* a.call(answer)), "was used")
      for (const { errors } of [a, b]) assert.notInclude(errors(), "secret-of-the-database")
    }).pipe(Effect.provide(platform)))

  it.live("read on while it is down, change nothing, and recover by themselves", () =>
    Effect.gen(function*() {
      const postgres = yield* RealPostgres.make
      const n8n = yield* HttpN8n.serve(Demo.seed)
      const server = yield* serving(postgres.url, n8n.url)
      const id = yield* firstId(server)
      const before = yield* nameOf(server, id)
      const rename = (name: string) => server.execute("update_workflow", { id, name })
      const refused = Effect.gen(function*() {
        const answer = JSON.stringify(yield* rename("Lost"))
        assert.include(answer, "No snapshot of Workflow")
        assert.include(answer, "the state database does not answer")
        assert.notInclude(answer, "secret-of-the-database")
        assert.strictEqual(yield* nameOf(server, id), before)
      })
      const recovers = (name: string) =>
        rename(name).pipe(
          Effect.filterOrFail(({ success }) => success === true),
          Effect.retry({ schedule: Schedule.spaced("500 millis"), times: 40 })
        )
      // Not there at the start.
      yield* refused
      assert.match(server.errors(), /level=WARN.*the state database does not answer/)
      yield* postgres.start
      yield* recovers("First")
      assert.match(server.errors(), /the state database answers/)
      yield* recovers(String(before))
      // Gone in the middle.
      yield* postgres.stop
      yield* refused
      const history = yield* server.execute("workflow_history", { id })
      assert.include(JSON.stringify(history), "the state database does not answer")
      yield* postgres.start
      yield* recovers("Second")
      assert.include(JSON.stringify(yield* server.execute("workflow_history", { id })), "snapshot-")
    }).pipe(Effect.provide(platform)))
})
