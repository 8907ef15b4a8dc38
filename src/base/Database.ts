/** The database that the processes of a server share, where they have one; it may be down. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type * as SqlError from "effect/sql/SqlError"

/**
 * The database did not do it, nor will have.
 *
 * @category errors
 * @since 0.1.0
 */
export class DatabaseError extends Data.TaggedError("DatabaseError")<{ readonly message: string }> {}

/**
 * Runs statements, in tables of this version.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /** Runs them within seconds, or fails; what is to be done whole needs a transaction. */
  readonly run: <A>(
    use: (sql: SqlClient.SqlClient) => Effect.Effect<A, SqlError.SqlError>
  ) => Effect.Effect<A, DatabaseError>
}

/**
 * The shared database.
 *
 * @category services
 * @since 0.1.0
 */
export class Database extends Context.Service<Database, Service>()("effect-n8n-mcp/Database") {}
