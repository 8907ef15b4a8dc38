/** The database that the processes of a server share, where they have one; it may be down. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type * as SqlError from "effect/sql/SqlError"
import { createHash } from "node:crypto"
import * as Errors from "./Errors.ts"

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

/**
 * What stands in its tables for the n8n and the user that a row belongs to: nothing of a key is there.
 *
 * @category functions
 * @since 0.1.0
 */
export const owner = (instance: string): string => createHash("sha256").update(instance).digest("hex")

/**
 * What a caller is told when it does not answer.
 *
 * @category functions
 * @since 0.1.0
 */
export const unusable = (reason: string, field?: string) => ({ message }: DatabaseError): Errors.ValidationError =>
  new Errors.ValidationError({
    reason: `${reason}: the state database does not answer (${message})`,
    ...(field === undefined ? {} : { field }),
    hint: { _tag: "AwaitDatabase" },
    isServerFault: true
  })
