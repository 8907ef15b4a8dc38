/** Sealing for every process that shares a database. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { randomBytes } from "node:crypto"
import { Database } from "../../base/Database.ts"
import * as Sealing from "./Sealing.ts"

/** Sealing by the database; until it is reached, for this process alone; while it is down, answers may be refused. */
export const make: Effect.Effect<Sealing.Sealing, never, Database> = Effect.gen(function*() {
  const database = yield* Database
  const own = yield* Sealing.memory

  const use = (id: string, expires: number) =>
    database.run((sql) =>
      Effect.andThen(
        sql`DELETE FROM n8n_mcp_used WHERE expires_at < ${String(expires - Sealing.maxAge)}`,
        sql`INSERT INTO n8n_mcp_used (id, expires_at) VALUES (${id}, ${
          String(expires)
        }) ON CONFLICT DO NOTHING RETURNING id`
      )
    ).pipe(
      Effect.map((rows) => rows.length === 1),
      Effect.orElseSucceed(() => false)
    )

  let shared: Sealing.Sealing | undefined
  const load = database.run((sql) =>
    Effect.andThen(
      sql`INSERT INTO n8n_mcp_keys (name, key) VALUES ('sealing', ${randomBytes(32)}) ON CONFLICT DO NOTHING`,
      sql<{ readonly key: Uint8Array }>`SELECT key FROM n8n_mcp_keys WHERE name = 'sealing'`
    )
  ).pipe(
    Effect.map(([row]) => {
      shared = row === undefined ? undefined : Sealing.make({ key: Redacted.make(row.key), use })
      return shared
    }),
    Effect.orElseSucceed(() => undefined)
  )
  const current = Effect.suspend(() => shared === undefined ? load : Effect.succeed(shared))

  return {
    seal: (content, about) => Effect.flatMap(current, (sealing = own) => sealing.seal(content, about)),
    open: Effect.fnUntraced(function*(sealed, about) {
      const content = yield* own.open(sealed, about)
      if (content !== undefined) return content
      const sealing = yield* current
      return sealing === undefined ? undefined : yield* sealing.open(sealed, about)
    })
  }
})
