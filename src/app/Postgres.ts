/** PostgreSQL as the shared database; loaded on demand. */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import type * as Redacted from "effect/Redacted"
import * as Semaphore from "effect/Semaphore"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import * as SqlError from "effect/sql/SqlError"
import { Database, DatabaseError } from "../base/Database.ts"

/** Migrations, each run once per database in the order of names. Append only. */
const migrations = {
  "0001_state": Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`
      CREATE TABLE n8n_mcp_snapshots (
        instance text NOT NULL,
        workflow text NOT NULL,
        version text COLLATE "C" NOT NULL,
        snapshot text NOT NULL,
        body bytea NOT NULL,
        PRIMARY KEY (instance, workflow, version)
      )`
    yield* sql`CREATE INDEX n8n_mcp_snapshots_version ON n8n_mcp_snapshots (instance, version)`
    yield* sql`
      CREATE TABLE n8n_mcp_test_runs (
        instance text NOT NULL,
        execution text NOT NULL,
        saved_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        body bytea NOT NULL,
        PRIMARY KEY (instance, execution)
      )`
    yield* sql`CREATE TABLE n8n_mcp_keys (name text PRIMARY KEY, key bytea NOT NULL)`
    yield* sql`CREATE TABLE n8n_mcp_used (id text PRIMARY KEY, expires_at bigint NOT NULL)`
  }),
  "0002_limits": Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql`
      CREATE TABLE n8n_mcp_limits (
        key text PRIMARY KEY,
        tokens float8 NOT NULL,
        last_refill float8 NOT NULL,
        taken boolean NOT NULL
      )`),
  "0003_documents": Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql`
      CREATE TABLE n8n_mcp_documents (
        collection text,
        owner text,
        name text,
        body bytea NOT NULL,
        PRIMARY KEY (collection, owner, name)
      )`),
  "0004_snapshots_as_documents": Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`
      INSERT INTO n8n_mcp_documents (collection, owner, name, body)
      SELECT
        'snapshots',
        encode(sha256(convert_to(left(instance, 16) || '/' || workflow, 'UTF8')), 'hex'),
        version,
        convert_to(snapshot || chr(10), 'UTF8') || body
      FROM n8n_mcp_snapshots`
    yield* sql`DROP TABLE n8n_mcp_snapshots`
  })
}

/** Version of the tables that this server creates. */
export const version = Object.keys(migrations).length

/** Time limit of statements, including connecting. */
const timeout = "5 seconds"

/** Time limit of migrations, which may copy all that is stored. */
const migrationTimeout = "1 minute"

/** Maximum bytes of a row: a workflow, or a compressed test run of 32 MB. */
const maxMessageSize = 64_000_000

/** Converts the defect of a transaction that cannot be rolled back because its connection ended. */
const withoutDefects = Effect.catchDefect((defect: unknown) =>
  SqlError.isSqlError(defect) ? Effect.fail(defect) : Effect.die(defect)
)

/** Database at an address; it may be down at any time. */
export const layer = (url: Redacted.Redacted<string>): Layer.Layer<Database> =>
  Layer.effect(
    Database,
    Effect.gen(function*() {
      const sql = yield* PgClient.make({
        url,
        applicationName: "effect-n8n-mcp",
        maxConnections: 5,
        connectTimeout: "3 seconds",
        maxMessageSize
      }).pipe(Effect.orDie)
      const turn = yield* Semaphore.make(1)
      let isMigrated = false
      let isUp: boolean | undefined
      const migrate = Migrator.make({})({ loader: Migrator.fromRecord(migrations), table: "n8n_mcp_migrations" }).pipe(
        Effect.timeout(migrationTimeout),
        Effect.tap(Effect.sync(() => void (isMigrated = true))),
        Effect.provideService(SqlClient.SqlClient, sql)
      )
      const migrated = Effect.suspend(() =>
        isMigrated ? Effect.void : Effect.flatMap(
          // Goes on for the next caller when this one has no more time.
          Effect.forkDetach(turn.withPermit(Effect.suspend(() => isMigrated ? Effect.void : migrate))),
          Fiber.join
        )
      )
      const logChange = (up: boolean, log: Effect.Effect<void>) =>
        Effect.suspend(() => {
          const isNew = isUp !== up
          isUp = up
          return isNew ? log : Effect.void
        })
      return {
        run: (use) =>
          Effect.andThen(migrated, Effect.suspend(() => use(sql))).pipe(
            withoutDefects,
            Effect.timeout(timeout),
            Effect.mapError((error) =>
              new DatabaseError({ message: (error._tag === "TimeoutError") ? "no answer within 5 s" : error.message })
            ),
            Effect.tap(logChange(true, Effect.logInfo("the state database answers"))),
            Effect.tapError(({ message }) =>
              logChange(
                false,
                Effect.annotateLogs(
                  Effect.logWarning("the state database does not answer: nothing is changed on n8n until it does"),
                  "reason",
                  message
                )
              )
            )
          )
      }
    })
  ).pipe(Layer.provide(Reactivity.layer))
