/** Executions of tests in the database shared by the processes of a server. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Database from "../base/Database.ts"
import * as TestRuns from "./TestRuns.ts"

/** Stores executions in the table `n8n_mcp_test_runs`; while the database is down, none is stored or found. */
export const layer: Layer.Layer<never, never, Database.Database> = Layer.effect(
  TestRuns.TestRuns,
  Effect.gen(function*() {
    const database = yield* Database.Database
    return TestRuns.compressed({
      save: (instance, id, body) => {
        const own = Database.owner(instance)
        return database.run((sql) =>
          sql.withTransaction(Effect.andThen(
            sql`
              INSERT INTO n8n_mcp_test_runs ${sql.insert({ instance: own, execution: id, body })}
              ON CONFLICT (instance, execution) DO UPDATE SET body = excluded.body, saved_at = clock_timestamp()`,
            sql`
              DELETE FROM n8n_mcp_test_runs WHERE instance = ${own} AND execution NOT IN (
                SELECT execution FROM n8n_mcp_test_runs WHERE instance = ${own}
                ORDER BY saved_at DESC LIMIT ${TestRuns.maxRuns})`
          ))
        )
      },
      load: (instance, id) =>
        database.run((sql) =>
          sql<{ readonly body: Uint8Array }>`
            SELECT body FROM n8n_mcp_test_runs WHERE instance = ${Database.owner(instance)} AND execution = ${id}`
        ).pipe(Effect.map(([row]) => row?.body))
    })
  })
)
