/** The health, profiles and tables of servers with a real PostgreSQL. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { mkdirSync, readdirSync } from "node:fs"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import * as Demo from "../../../src/demo/Demo.ts"
import { folderWith, platform } from "../../support/folders.ts"
import * as HttpN8n from "../../support/HttpN8n.ts"
import { bundle, installed, remove, start } from "../../support/Process.ts"
import { formerTable } from "./former.ts"
import * as RealPostgres from "./Postgres.ts"
import { serving } from "./servers.ts"

beforeAll(bundle, 60_000)
afterAll(remove)

const dataOf = (answer: Obj) => {
  assert.isTrue(answer["success"], JSON.stringify(answer))
  return obj(answer["data"]) ?? {}
}

describe("servers with a database", () => {
  it.live("report in /health soon whether the database answers, and keep running", () =>
    Effect.gen(function*() {
      const postgres = yield* RealPostgres.make
      const n8n = yield* HttpN8n.serve(Demo.seed)
      const server = yield* serving(postgres.url, n8n.url)
      const [elapsed, health] = yield* Effect.timed(server.health)
      assert.deepInclude(health, { status: "ok", n8n: "ok", state: "no answer" })
      assert.isBelow(Duration.toMillis(elapsed), 1_500)
      yield* postgres.start
      const recovered = server.health.pipe(
        Effect.filterOrFail(({ state }) => state === "ok"),
        Effect.retry({ schedule: Schedule.spaced("500 millis"), times: 40 })
      )
      yield* recovered
      const queries = () =>
        Effect.map(postgres.sql("SELECT xact_commit FROM pg_stat_database WHERE datname = 'postgres'"), Number)
      const before = yield* queries()
      yield* Effect.all(Array.from({ length: 200 }, () => server.health), { concurrency: 20, discard: true })
      assert.isBelow((yield* queries()) - before, 20)
      const withFolder = yield* serving(yield* folderWith(), n8n.url)
      assert.notProperty(yield* withFolder.health, "state")
    }).pipe(Effect.provide(platform)))
})

describe("profiles with places of their own", () => {
  it.live("do not see one another's files and snapshots", () =>
    Effect.gen(function*() {
      const postgres = yield* RealPostgres.make
      yield* postgres.start
      const n8n = yield* HttpN8n.serve(Demo.seed)
      const folder = yield* folderWith()
      for (const name of ["files", "shared", "others"]) mkdirSync(`${folder}/${name}`)
      const entry = (name: string, more: object) => ({
        name,
        url: n8n.url.href,
        apiKey: `key-of-${name}`,
        tokens: [`token-of-${name}-0123`],
        ...more
      })
      const written = yield* folderWith({
        "n8n.json": JSON.stringify({
          profiles: [
            entry("files", { filesRoot: `${folder}/files`, state: `${folder}/state` }),
            entry("shared", { filesRoot: `${folder}/shared`, stateEnv: "SHARED_STATE" }),
            entry("others", { filesRoot: `${folder}/others`, stateEnv: "SHARED_STATE" }),
            entry("none", {})
          ]
        })
      })
      const options = { args: ["--config", `${written}/n8n.json`], env: { SHARED_STATE: postgres.url } }
      const server = yield* serving(`${folder}/server`, n8n.url, options)
      const token = (name: string) => `token-of-${name}-0123`
      const tools = (name: string) => server.tools(token(name))
      for (const name of ["files", "shared"]) assert.include(yield* tools(name), "workflow_create")
      assert.notInclude(yield* tools("none"), "workflow_create")
      for (const name of ["files", "shared"]) {
        const { workflowId } = dataOf(yield* server.execute("workflow_create", { name }, token(name)))
        assert.strictEqual(workflowId, `draft-${name}`)
        const rename = { workflowId, operations: [{ op: "add", type: "n8n-nodes-base.noOp", name: "A" }] }
        dataOf(yield* server.execute("workflow_edit", rename, token(name)))
      }
      assert.deepStrictEqual(readdirSync(`${folder}/files`), ["files.json"])
      const listed = (name: string) =>
        Effect.map(
          server.execute("workflow_list", {}, token(name)),
          (answer) => arr(dataOf(answer)["workflows"]).map((each) => obj(each)?.["path"])
        )
      assert.deepStrictEqual(yield* listed("files"), ["files.json"])
      assert.deepStrictEqual(yield* listed("shared"), ["shared.json"])
      assert.deepStrictEqual(yield* listed("others"), [])
      for (
        const [name, reference] of [
          ["shared", "draft-files"],
          ["shared", `${folder}/files/files.json`],
          ["others", "draft-shared"],
          ["files", "draft-shared"]
        ] as const
      ) {
        for (const [tool, key] of [["workflow_load", "workflowIdOrPath"], ["workflow_history", "id"]] as const) {
          const answer = JSON.stringify(yield* server.execute(tool, { [key]: reference }, token(name)))
          assert.notMatch(answer, /snapshot-|noOp/, `${name} ${tool} ${reference}`)
        }
      }
      const { versions } = dataOf(yield* server.execute("workflow_history", { id: "draft-shared" }, token("shared")))
      assert.lengthOf(arr(versions), 1)
      assert.isTrue(readdirSync(`${folder}/state`).length > 0)
      assert.include(yield* server.health.pipe(Effect.map(JSON.stringify)), "\"state\":\"ok\"")

      assert.notMatch(server.errors(), /key-of-|secret-of-the-database/)
    }).pipe(Effect.provide(platform)))

  it.live("tables of an older version are migrated, and doctor reports a newer one", () =>
    Effect.gen(function*() {
      const postgres = yield* RealPostgres.make
      yield* postgres.start
      const { main } = yield* installed
      const folder = yield* folderWith()
      const doctor = Effect.suspend(() =>
        start(["doctor", "--demo", "--state", postgres.url], { XDG_STATE_HOME: folder }, main).ended
      ).pipe(Effect.map(({ stdout }) => stdout))
      assert.include(yield* doctor, "tables of version 4")
      // An older one brings them up to date.
      yield* postgres.sql(
        `DROP TABLE n8n_mcp_limits, n8n_mcp_documents; DELETE FROM n8n_mcp_migrations WHERE migration_id > 1; ${formerTable}`
      )
      assert.include(yield* doctor, "tables of version 4")
      assert.strictEqual((yield* postgres.sql("SELECT count(*) FROM n8n_mcp_limits")).trim(), "0")
      yield* postgres.sql("INSERT INTO n8n_mcp_migrations (migration_id, name) VALUES (5, 'later')")
      const told = yield* doctor
      assert.include(told, "tables of version 5; this server creates version 4")
      assert.include(told, "update this one too")
    }).pipe(Effect.provide(platform)))
})
