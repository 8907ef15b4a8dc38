/** Database that the processes of a server share, if configured; it may be down. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type * as SqlError from "effect/sql/SqlError"
import * as Errors from "./Errors.ts"
import { sha256 } from "./Hash.ts"

/** The statement was not applied. */
export class DatabaseError extends Data.TaggedError("DatabaseError")<{ readonly message: string }> {}

/** Runs statements on tables of this version. */
export interface Service {
  /** Runs statements within seconds, or fails; atomic changes need a transaction. */
  readonly run: <A>(
    use: (sql: SqlClient.SqlClient) => Effect.Effect<A, SqlError.SqlError>
  ) => Effect.Effect<A, DatabaseError>
}

/** The shared database. */
export class Database extends Context.Service<Database, Service>()("effect-n8n-mcp/Database") {}

/** Digest of an instance, which identifies the owner of a row without revealing the key. */
export const owner = (instance: string): string => sha256(instance)

/** Error for a database that does not answer. */
export const unusable = (reason: string, field?: string) => ({ message }: DatabaseError): Errors.ValidationError =>
  new Errors.ValidationError({
    reason: `${reason}: the state database does not answer (${message})`,
    ...(field === undefined ? {} : { field }),
    hint: { _tag: "AwaitDatabase" },
    isServerFault: true
  })
