/** `pnpm test:suite state`: drafts in a real PostgreSQL, and profiles with places of their own. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { mkdirSync, readdirSync } from "node:fs"
import * as Envelope from "../../../src/answer/Envelope.ts"
import * as Postgres from "../../../src/app/Postgres.ts"
import type * as Errors from "../../../src/base/Errors.ts"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import * as Demo from "../../../src/demo/Demo.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as SqlDrafts from "../../../src/workflows/files/SqlDrafts.ts"
import { WorkflowFiles } from "../../../src/workflows/files/WorkflowFiles.ts"
import { folderWith, platform } from "../../support/folders.ts"
import * as HttpN8n from "../../support/HttpN8n.ts"
import { bundle, installed, remove, start } from "../../support/Process.ts"
import * as RealPostgres from "./Postgres.ts"
import { type Server, serving } from "./servers.ts"

beforeAll(bundle, 60_000)
afterAll(remove)

/** The drafts as one process has them. */
const replica = ({ url }: RealPostgres.Postgres) =>
  Layer.build(
    SqlDrafts.layer.pipe(
      Layer.provide(Layer.fresh(Postgres.layer(Redacted.make(url)))),
      Layer.provide(FakeN8n.layer(Demo.seed))
    )
  ).pipe(Effect.map(Context.get(WorkflowFiles)))

const workflow = (name: string, nodes: ReadonlyArray<unknown> = []) => JSON.stringify({ name, nodes, connections: {} })

/** What is wrong, and what to do about it. */
const refusal = <A, R>(effect: Effect.Effect<A, Errors.N8nError, R>) =>
  Effect.map(Effect.flip(effect), (error) => {
    const { hint, message } = Envelope.fromError(error)
    return `${message}. ${hint}`
  })

describe("drafts in a database", () => {
  it.live("are shared by processes, and no edit of one is lost", () =>
    Effect.gen(function*() {
      const postgres = yield* RealPostgres.make
      yield* postgres.start
      const [a, b] = yield* Effect.all([replica(postgres), replica(postgres)])

      // Both make the table, and drafts of one name, at the same moment.
      const made = yield* Effect.forEach(
        Array.from({ length: 12 }, (_, index) => index),
        (index) => (index % 2 === 0 ? a : b).createDraft("請求書 (2)!", workflow(String(index))),
        { concurrency: "unbounded" }
      )
      const ids = made.map(({ id }) => id).toSorted()
      assert.strictEqual(new Set(ids).size, 12)
      assert.includeMembers(ids, ["draft-請求書-2", "draft-請求書-2-12"])
      for (const [index, { id }] of made.entries()) {
        assert.strictEqual((yield* b.read(id)).text, workflow(String(index)))
      }

      // Each adds a node to what is there: all are there in the end.
      const [{ id = "" } = {}] = made
      const add = (files: typeof a, node: number, keep = () => Effect.void) =>
        files.update(id, ({ value }) => Effect.succeed(workflow("edited", [...arr(obj(value)?.["nodes"]), node])), keep)
      yield* Effect.forEach(
        Array.from({ length: 10 }, (_, index) => index),
        (index) => add(index % 2 === 0 ? a : b, index),
        { concurrency: "unbounded" }
      )
      const { value } = yield* a.read(id)
      assert.sameMembers([...arr(obj(value)?.["nodes"])], Array.from({ length: 10 }, (_, index) => index))

      // What could not be kept is not written, and what says nothing new writes nothing.
      const text = (yield* a.read(id)).text
      yield* Effect.flip(a.update(id, () => Effect.succeed(workflow("lost")), () => Effect.fail("not kept" as const)))
      const same = yield* a.update(id, () => Effect.undefined)
      assert.deepStrictEqual(same, { path: id, before: text, after: text })
      assert.strictEqual((yield* b.read(id)).text, text)

      // Somebody who never stops writing.
      const busy = yield* refusal(
        a.update(id, ({ value }) => Effect.as(Effect.orDie(add(b, 0)), workflow("never", [value])))
      )
      assert.include(busy, `Draft '${id}' changed each time that it was about to be written`)

      const listing = yield* b.list(undefined, { limit: 5, offset: 1 })
      assert.strictEqual(listing.total, 12)
      assert.deepStrictEqual(listing.workflows.map(({ path }) => path), ids.slice(1, 6))
      yield* b.remove(id, () => Effect.void)
      assert.include(yield* refusal(a.read(id)), `There is no draft '${id}'. Did you mean 'draft-請求書-2`)
    }).pipe(Effect.provide(platform)))

  it.live("take names and paths as they should", () =>
    Effect.gen(function*() {
      const postgres = yield* RealPostgres.make
      yield* postgres.start
      const files = yield* replica(postgres)
      yield* files.save("draft-orders", () => Effect.succeed(workflow("Orders")))
      const saved = yield* files.save("draft-orders", (before) =>
        Effect.succeed((before?.text ?? "").replace("Orders", "Orders 2")))
      assert.deepStrictEqual([saved.before, saved.after], [workflow("Orders"), workflow("Orders 2")])
      assert.include(yield* refusal(files.create("draft-orders", workflow("x"))), "'draft-orders' exists already")
      assert.include(
        yield* refusal(files.create("draft-My Orders", workflow("x"))),
        "is no name of a draft. Nothing was written. Call it 'draft-my-orders'"
      )
      assert.include(yield* refusal(files.create("draft-big", "x".repeat(10_000_001))), "over 10 MB")
      const paths = ["orders.json", "a/b.json", "draft-", "", "../draft-x", "draft-\0"]
      for (const path of paths) {
        const uses: ReadonlyArray<Effect.Effect<unknown, Errors.N8nError>> = [
          files.read(path),
          files.locate(path),
          files.create(path, workflow("x"))
        ]
        for (const use of uses) {
          const told = yield* refusal(use)
          assert.include(told, "only drafts are")
          assert.include(told, "workflow_create without filePath makes one. To keep files, set --files-root")
        }
      }
      assert.include(
        yield* refusal(files.folder(".")),
        "There is no folder '.': no files are kept here, only drafts. To keep files, set --files-root"
      )
      assert.include(yield* refusal(files.list("sub")), "Leave directoryPath out")
      assert.include(yield* refusal(files.read("draft-'; DROP TABLE n8n_mcp_drafts; --")), "There is no draft")
      yield* postgres.sql("UPDATE n8n_mcp_drafts SET body = 'x'")
      assert.include(yield* refusal(files.read("draft-orders")), "is damaged")
      assert.deepInclude(yield* files.list(), {
        total: 1,
        unreadable: [{ path: "draft-orders", reason: "Draft 'draft-orders' is damaged" }]
      })
      yield* postgres.stop
      assert.match(
        yield* refusal(files.read("draft-orders")),
        /Draft 'draft-orders' cannot be read: the state database does not answer.*Call again in a moment/
      )
      assert.match(yield* refusal(files.createDraft("x", "{}")), /The draft of 'x' was not written: the state database/)
    }).pipe(Effect.provide(platform)))

  it.live("are so many, and so old, at most", () =>
    Effect.gen(function*() {
      const postgres = yield* RealPostgres.make
      yield* postgres.start
      const files = yield* replica(postgres)
      const create = (name: string) => files.createDraft(name, workflow(name))
      yield* create("first")
      yield* create("second")
      const age = (days: number, name: string) =>
        postgres.sql(
          `UPDATE n8n_mcp_drafts SET changed_at = now() - interval '${days} days' WHERE name LIKE '${name}'`
        )
      yield* age(31, "first")
      yield* age(29, "second")
      yield* create("third")
      const paths = Effect.map(files.list(), ({ workflows }) => workflows.map(({ path }) => path))
      assert.deepStrictEqual(yield* paths, ["draft-second", "draft-third"])

      yield* postgres.sql(
        `INSERT INTO n8n_mcp_drafts (instance, name, body)
         SELECT instance, 'many-' || number, body FROM n8n_mcp_drafts, generate_series(1, 198) AS number
         WHERE name = 'third'`
      )
      // The one that nobody changed for longest makes room, one for each.
      yield* create("fourth")
      assert.include(yield* paths, "draft-third")
      assert.notInclude(yield* paths, "draft-second")
      const full = yield* refusal(create("fifth"))
      assert.include(full, "There are 200 drafts, as many as are kept, and each was changed within a day")
      assert.include(full, "workflow_list")
      yield* age(2, "many-1%")
      yield* create("fifth")
      assert.strictEqual((yield* files.list()).total, 200)
    }).pipe(Effect.provide(platform)))
})

const dataOf = (answer: Obj) => {
  assert.isTrue(answer["success"], JSON.stringify(answer))
  return obj(answer["data"]) ?? {}
}

describe("servers without a files root", () => {
  it.live("one starts a draft, the other edits it and creates the workflow", () =>
    Effect.gen(function*() {
      const postgres = yield* RealPostgres.make
      yield* postgres.start
      const n8n = yield* HttpN8n.serve(Demo.seed)
      const [a, b] = yield* Effect.all([serving(postgres.url, n8n.url), serving(postgres.url, n8n.url)], {
        concurrency: 2
      })
      assert.includeMembers(yield* a.tools(), ["workflow_create", "workflow_list", "workflow_save"])
      const run = (server: Server, name: string, parameters: object) =>
        Effect.map(server.execute(name, parameters), dataOf)
      const { filePath, workflowId } = yield* run(a, "workflow_create", { name: "Plan the week" })
      assert.deepStrictEqual([workflowId, filePath], ["draft-plan-the-week", "draft-plan-the-week"])
      yield* run(b, "node_add", { workflowId, nodeType: "n8n-nodes-base.manualTrigger", name: "Start" })
      // Both at once, again and again.
      yield* Effect.forEach(
        Array.from({ length: 6 }, (_, index) => index),
        (index) =>
          run(index % 2 === 0 ? a : b, "workflow_edit", {
            workflowId,
            operations: [{ op: "add", type: "n8n-nodes-base.noOp", name: `Step ${index}`, after: "Start" }]
          }),
        { concurrency: "unbounded" }
      )
      const { workflowData } = yield* run(a, "workflow_load", { workflowIdOrPath: workflowId })
      assert.lengthOf(arr(obj(workflowData)?.["nodes"]), 7)
      assert.isTrue((yield* run(b, "validate_workflow", { workflowId }))["valid"])
      const { total, workflows } = yield* run(b, "workflow_list", {})
      assert.strictEqual(total, 1)
      assert.deepInclude(obj(arr(workflows)[0]), { name: "Plan the week", path: workflowId })

      // What was before each edit is kept, and brought back through any of them.
      const { versions } = yield* run(b, "workflow_history", { id: workflowId })
      assert.isAtLeast(arr(versions).length, 7)
      const { version } = obj(arr(versions).at(-1)) ?? {}
      yield* run(a, "workflow_restore", { id: workflowId, version, confirm: true })
      const { id } = yield* run(b, "create_workflow_from_file", { filePath: workflowId })
      assert.strictEqual((yield* run(a, "get_workflow", { id }))["name"], "Plan the week")

      // A workflow of n8n becomes a draft, and the draft replaces it.
      yield* run(a, "workflow_save", { workflowId: id, filePath: "draft-copy" })
      yield* run(b, "replace_workflow_from_file", { id, filePath: "draft-copy", confirm: true })
      for (
        const [name, parameters] of [
          ["workflow_save", { workflowId: id, filePath: "copies/copy.json" }],
          ["workflow_create", { name: "x", filePath: "x.json" }],
          ["create_workflow_from_file", { filePath: "x.json" }]
        ] as const
      ) {
        const refused = JSON.stringify(yield* a.execute(name, parameters))
        assert.include(refused, "No files are kept here")
        assert.include(refused, "workflow_create without filePath makes one")
      }
      const gone = JSON.stringify(yield* a.execute("workflow_load", { workflowIdOrPath: "draft-plan-the-weak" }))
      assert.include(gone, "Did you mean 'draft-plan-the-week'")
      const status = JSON.stringify(yield* a.execute("sync_status", {}))
      assert.include(status, "Unknown tool")
    }).pipe(Effect.provide(platform)))

  it.live("tell in /health whether the database answers, soon, and go on", () =>
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
  it.live("do not see one another's files, drafts and snapshots, and doctor examines each", () =>
    Effect.gen(function*() {
      const postgres = yield* RealPostgres.make
      yield* postgres.start
      const n8n = yield* HttpN8n.serve(Demo.seed)
      const folder = yield* folderWith()
      mkdirSync(`${folder}/files`)
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
            entry("drafts", { stateEnv: "DRAFTS_STATE" }),
            entry("others", { stateEnv: "DRAFTS_STATE" }),
            entry("none", {})
          ]
        })
      })
      const options = { args: ["--config", `${written}/n8n.json`], env: { DRAFTS_STATE: postgres.url } }
      const server = yield* serving(`${folder}/server`, n8n.url, options)
      const token = (name: string) => `token-of-${name}-0123`
      const tools = (name: string) => server.tools(token(name))
      assert.includeMembers(yield* tools("files"), ["workflow_create", "workflow_list"])
      assert.includeMembers(yield* tools("drafts"), ["workflow_create", "workflow_list"])
      assert.notIncludeMembers(yield* tools("none"), ["workflow_create"])
      assert.notIncludeMembers(yield* tools("none"), ["workflow_list"])
      assert.include(
        JSON.stringify(yield* server.execute("workflow_create", { name: "x" }, token("none"))),
        "Unknown tool 'workflow_create'"
      )
      for (const name of ["files", "drafts"]) {
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
      assert.deepStrictEqual(yield* listed("drafts"), ["draft-drafts"])
      assert.deepStrictEqual(yield* listed("others"), [])
      const foreign = [
        ["drafts", "draft-files"],
        ["drafts", `${folder}/files/files.json`],
        ["others", "draft-drafts"],
        ["files", "draft-drafts"]
      ] as const
      for (const [name, reference] of foreign) {
        for (const [tool, key] of [["workflow_load", "workflowIdOrPath"], ["workflow_history", "id"]] as const) {
          const answer = yield* server.execute(tool, { [key]: reference }, token(name))
          assert.notInclude(JSON.stringify(answer), "snapshot-", `${name} ${tool} ${reference}`)
          assert.notInclude(JSON.stringify(answer), "noOp", `${name} ${tool} ${reference}`)
        }
      }
      const { versions } = dataOf(yield* server.execute("workflow_history", { id: "draft-drafts" }, token("drafts")))
      assert.lengthOf(arr(versions), 1)
      assert.isTrue(readdirSync(`${folder}/state`).length > 0)
      assert.include(yield* server.health.pipe(Effect.map(JSON.stringify)), "\"state\":\"ok\"")

      const { main } = yield* installed
      const { stderr, stdout } = yield* start(
        ["doctor", "--json", "--transport", "http", ...options.args],
        { ...options.env, XDG_STATE_HOME: folder },
        main
      ).ended
      const told = new Map(
        stdout.trim().split("\n").map((line) => obj(JSON.parse(line)) ?? {}).map(({ checks, profile }) => [
          profile,
          arr(checks).map((check) => obj(check) ?? {}).map(({ detail, name, status }) => `${name} ${status}: ${detail}`)
        ])
      )
      assert.include(told.get("files") ?? [], `Files root ok: ${folder}/files`)
      assert.include(told.get("files") ?? [], `State folder ok: ${folder}/state`)
      assert.match(told.get("drafts")?.join("\n") ?? "", /State database ok: PostgreSQL \d.* tables of version 3/)
      assert.match(told.get("none")?.join("\n") ?? "", /State folder ok/)
      for (const text of [stdout, stderr, server.errors()]) assert.notInclude(text, "secret-of-the-database")
      assert.notInclude(server.errors(), "key-of-")
    }).pipe(Effect.provide(platform)))

  it.live("tables of an older version are brought up to date, and doctor tells of a newer one", () =>
    Effect.gen(function*() {
      const postgres = yield* RealPostgres.make
      yield* postgres.start
      const { main } = yield* installed
      const folder = yield* folderWith()
      const doctor = Effect.suspend(() =>
        start(["doctor", "--demo", "--state", postgres.url], { XDG_STATE_HOME: folder }, main).ended
      ).pipe(Effect.map(({ stdout }) => stdout))
      assert.include(yield* doctor, "tables of version 3")
      // An older one brings them up to date.
      yield* postgres.sql("DROP TABLE n8n_mcp_drafts; DELETE FROM n8n_mcp_migrations WHERE migration_id = 3")
      assert.include(yield* doctor, "tables of version 3")
      assert.strictEqual((yield* postgres.sql("SELECT count(*) FROM n8n_mcp_drafts")).trim(), "0")
      yield* postgres.sql("INSERT INTO n8n_mcp_migrations (migration_id, name) VALUES (4, 'later')")
      const told = yield* doctor
      assert.include(told, "tables of version 4; this server makes version 3")
      assert.include(told, "update this one too")
    }).pipe(Effect.provide(platform)))
})
