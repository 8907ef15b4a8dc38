/** Executions of tests in the database shared by the processes of a server. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { gunzipSync, gzipSync } from "node:zlib"
import * as Database from "../base/Database.ts"
import * as TestRuns from "./TestRuns.ts"

/** Stores executions in the table `n8n_mcp_test_runs`; while the database is down, none is stored or found. */
export const layer: Layer.Layer<never, never, Database.Database> = Layer.effect(
  TestRuns.TestRuns,
  Effect.gen(function*() {
    const database = yield* Database.Database
    return {
      save: (instance, id, body) =>
        body.length > TestRuns.maxBytes ? Effect.void : Effect.suspend(() => {
          const own = Database.owner(instance)
          const packed = gzipSync(body.read(0, body.length), { level: 1 })
          return database.run((sql) =>
            sql.withTransaction(Effect.andThen(
              sql`
                INSERT INTO n8n_mcp_test_runs ${sql.insert({ instance: own, execution: id, body: packed })}
                ON CONFLICT (instance, execution) DO UPDATE SET body = excluded.body, saved_at = clock_timestamp()`,
              sql`
                DELETE FROM n8n_mcp_test_runs WHERE instance = ${own} AND execution NOT IN (
                  SELECT execution FROM n8n_mcp_test_runs WHERE instance = ${own}
                  ORDER BY saved_at DESC LIMIT ${TestRuns.maxRuns})`
            ))
          )
        }).pipe(Effect.ignore, Effect.withSpan("TestRuns.save")),
      load: (instance, id) =>
        database.run((sql) =>
          sql<{ readonly body: Uint8Array }>`
            SELECT body FROM n8n_mcp_test_runs WHERE instance = ${Database.owner(instance)} AND execution = ${id}`
        ).pipe(
          Effect.flatMap(([row]) =>
            row === undefined
              ? Effect.undefined
              : Effect.try(() => gunzipSync(row.body, { maxOutputLength: TestRuns.maxBytes }))
          ),
          Effect.orElseSucceed(() => undefined),
          Effect.withSpan("TestRuns.load")
        )
    } satisfies TestRuns.Service
  })
)
