/** Snapshots in the database that the processes of a server share. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import { gunzipSync, gzipSync } from "node:zlib"
import * as Database from "../../base/Database.ts"
import { obj } from "../../base/Json.ts"
import type { Instance } from "../../n8n/N8nClient.ts"
import * as Snapshots from "./Snapshots.ts"

const of = (sql: SqlClient, { key }: Instance, workflow: string) =>
  sql`instance = ${Database.owner(key)} AND workflow = ${workflow}`

const SnapshotText = Schema.fromJsonString(Snapshots.Snapshot)
const encode = Schema.encodeSync(SnapshotText)
const decode = Schema.decodeUnknownOption(SnapshotText)

const unpack = (body: Uint8Array) => Effect.try((): unknown => JSON.parse(gunzipSync(body).toString("utf8")))

/**
 * Stores snapshots in the table `n8n_mcp_snapshots`. Writers of one workflow take turns across processes, so that a
 * newer version sorts higher.
 */
export const layer: Layer.Layer<Snapshots.Snapshots, never, Database.Database> = Layer.effect(
  Snapshots.Snapshots,
  Effect.gen(function*() {
    const database = yield* Database.Database

    return Snapshots.Snapshots.of({
      save: Effect.fn("Snapshots.save")(function*(instance, workflow, operation) {
        const id = Database.owner(instance.key)
        const body = gzipSync(JSON.stringify(workflow))
        return yield* database.run((sql) =>
          sql.withTransaction(Effect.gen(function*() {
            const own = of(sql, instance, workflow.id)
            yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${`${id}/${workflow.id}`}, 0))`
            const [newest] = yield* sql<{ readonly version: string }>`
              SELECT version FROM n8n_mcp_snapshots WHERE ${own} ORDER BY version DESC LIMIT 1`
            const snapshot = yield* Snapshots.describe(workflow, operation, newest?.version)
            yield* sql`INSERT INTO n8n_mcp_snapshots ${
              sql.insert({
                instance: id,
                workflow: workflow.id,
                version: snapshot.version,
                snapshot: encode(snapshot),
                body
              })
            }`
            yield* sql`
              DELETE FROM n8n_mcp_snapshots WHERE ${own} AND version NOT IN (
                SELECT version FROM n8n_mcp_snapshots WHERE ${own}
                ORDER BY version DESC LIMIT ${Snapshots.maxSnapshots})`
            return snapshot
          }))
        ).pipe(
          Effect.mapError(
            Database.unusable(`No snapshot of Workflow '${workflow.id}' could be stored, so nothing was written`)
          )
        )
      }),

      list: Effect.fn("Snapshots.list")((instance, workflowId) =>
        database.run((sql) =>
          sql<{ readonly snapshot: string }>`
            SELECT snapshot FROM n8n_mcp_snapshots WHERE ${of(sql, instance, workflowId)} ORDER BY version DESC`
        ).pipe(
          Effect.map((rows) => rows.flatMap(({ snapshot }) => Option.toArray(decode(snapshot)))),
          Effect.mapError(Database.unusable(`The snapshots of Workflow '${workflowId}' cannot be read`))
        )
      ),

      read: Effect.fn("Snapshots.read")(function*(instance, workflowId, version) {
        const [row] = yield* database.run((sql) =>
          sql<{ readonly snapshot: string; readonly body: Uint8Array }>`
            SELECT snapshot, body FROM n8n_mcp_snapshots
            WHERE ${of(sql, instance, workflowId)} AND version = ${version}`
        ).pipe(Effect.mapError(Database.unusable(`Snapshot '${version}' cannot be read`)))
        if (row === undefined) return yield* Snapshots.notFound(version)
        const snapshot = yield* Effect.fromOption(decode(row.snapshot)).pipe(
          Effect.mapError(() => Snapshots.damaged(version))
        )
        const workflow = yield* unpack(row.body).pipe(
          Effect.filterOrFail((content) => obj(content)?.["id"] === workflowId),
          Effect.mapError(() => Snapshots.damaged(version))
        )
        return { snapshot, workflow }
      })
    })
  })
)
