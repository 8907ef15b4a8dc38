/** Drafts in the database that the processes of a server share, where there is no files root. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as SqlClient from "effect/sql/SqlClient"
import type * as SqlError from "effect/sql/SqlError"
import { createHash } from "node:crypto"
import { gunzipSync, gzipSync } from "node:zlib"
import type { Hint } from "../../base/Advice.ts"
import * as Database from "../../base/Database.ts"
import { defined, obj, str } from "../../base/Json.ts"
import * as Locks from "../../base/KeyedMutex.ts"
import { nearest } from "../../base/Nearest.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import { draftId, draftName } from "../WorkflowPlace.ts"
import * as JsonText from "./JsonText.ts"
import { type Listed, maxUnreadable } from "./list.ts"
import * as names from "./names.ts"
import { isWorkflow, type WorkflowFile } from "./read.ts"
import { exists, maxBytes, notWorkflow, quote, refuse, refuseAt, serverFault, tooLarge } from "./refusals.ts"
import { type Service, WorkflowFiles } from "./WorkflowFiles.ts"

/** How many drafts there may be of one n8n, as one API key sees it. */
export const maxKept = 200

/** Days until a draft that nobody changes is removed, by the next one that is made. */
export const maxDays = 30

/** Days until one that nobody changes makes room where there are as many as there may be. */
const minDays = 1

/** How often a change is made anew to what somebody else wrote meanwhile. */
const maxTries = 20

interface Row {
  readonly name: string
  readonly body: Uint8Array
}

const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest()

const noPath = (path: string) =>
  refuse(`No files are kept here, such as '${path}': only drafts are`, { _tag: "SetFilesRoot", purpose: "LeaveDrafts" })

const busy = (id: string) =>
  refuse(`Draft '${id}' changed each time that it was about to be written`, "Nothing was written: call again.")

const noFolder = (path: string, hint: Hint) =>
  refuseAt({ kind: "Folder", path }, `There is no folder '${path}': no files are kept here, only drafts`, hint)

/** The name of the draft that a path stands for. */
const nameIn = (path: string) => {
  const name = draftName(path)?.normalize("NFC")
  return name === undefined || name === "" || name.includes("\0") ? Effect.fail(noPath(path)) : Effect.succeed(name)
}

const missing = (name: string, all: ReadonlyArray<string>) => {
  const near = nearest(name, all).map(draftId)
  return refuse(
    `There is no draft '${draftId(name)}'`,
    `${near.length === 0 ? "" : `Did you mean ${quote(near)}? `}What nobody changes for ${maxDays} days is removed.`
  )
}

const full = refuse(
  `There are ${maxKept} drafts, as many as are kept, and each was changed within a day`,
  ["Nothing was written. Go on with one of them: what nobody changes makes room after a day.", { _tag: "ListFiles" }]
)

const damaged = (name: string) =>
  serverFault(`Draft '${draftId(name)}' is damaged`, "Start it anew under another name.")

/** A name that nobody gives is refused: a draft's id must look like one wherever it is written. */
const checkName = (name: string) =>
  names.readable(name) === name
    ? Effect.void
    : Effect.fail(
      refuse(
        `'${draftId(name)}' is no name of a draft`,
        `Nothing was written. Call it '${draftId(names.readable(name))}'.`
      )
    )

const pack = (path: string, text: string) => {
  const bytes = Buffer.from(text)
  return bytes.length > maxBytes ? Effect.fail(tooLarge(path, bytes.length)) : Effect.sync(() => gzipSync(bytes))
}

const unpack = ({ body, name }: Row) =>
  Effect.gen(function*() {
    const text = yield* Effect.try(() => gunzipSync(body, { maxOutputLength: maxBytes }).toString("utf8"))
    return { text, ...yield* Effect.fromResult(Result.mapError(JsonText.parse(text), () => undefined)) }
  }).pipe(Effect.mapError(() => damaged(name)))

interface Opened extends WorkflowFile {
  readonly name: string
  /** What stands in the database. */
  readonly hash: Uint8Array
}

const make = Effect.gen(function*() {
  const { run } = yield* Database.Database
  const { instance } = yield* N8nClient
  const owner = Database.owner(instance.key)
  const inTurn = Locks.make()

  const unreadable = (what: string) => Database.unusable(`${what} cannot be read`, "filePath")
  const unwritable = (what: string) => Database.unusable(`${what} was not written`, "filePath")

  const namesKept = run((sql) =>
    sql<Pick<Row, "name">>`SELECT name FROM n8n_mcp_drafts WHERE instance = ${owner} ORDER BY name`
  ).pipe(Effect.map((rows) => rows.map(({ name }) => name)))

  const find = (name: string) =>
    run((sql) => sql<Row>`SELECT name, body FROM n8n_mcp_drafts WHERE instance = ${owner} AND name = ${name}`).pipe(
      Effect.mapError(unreadable(`Draft '${draftId(name)}'`)),
      Effect.flatMap(([row]) => row === undefined ? Effect.undefined : open(row))
    )

  const open = (row: Row) =>
    Effect.map(unpack(row), (parsed): Opened => ({
      path: draftId(row.name),
      name: row.name,
      hash: hash(row.body),
      ...parsed
    }))

  const openNamed = Effect.fnUntraced(function*(name: string) {
    const opened = yield* find(name)
    if (opened !== undefined) return opened
    return yield* missing(name, yield* Effect.orElseSucceed(namesKept, () => []))
  })

  /** Makes room, and then a draft under the first of these names that is free; tells what kept it from that. */
  const insert = (candidates: (taken: ReadonlySet<string>) => string | undefined, body: Uint8Array) =>
    run((sql) =>
      sql.withTransaction(Effect.gen(function*() {
        yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${`drafts of ${owner}`}, 0))`
        const prune = (days: number, count: number) =>
          sql`
            DELETE FROM n8n_mcp_drafts WHERE instance = ${owner} AND name IN (
              SELECT name FROM n8n_mcp_drafts
              WHERE instance = ${owner} AND changed_at < clock_timestamp() - make_interval(days => ${days})
              ORDER BY changed_at LIMIT ${count})`
        const rows = sql<Pick<Row, "name">>`SELECT name FROM n8n_mcp_drafts WHERE instance = ${owner}`
        yield* prune(maxDays, maxKept)
        const before = yield* rows
        if (before.length >= maxKept) yield* prune(minDays, before.length - maxKept + 1)
        const kept = yield* rows
        const name = candidates(new Set(kept.map(({ name }) => `${name}.json`)))
        if (name === undefined || kept.length >= maxKept) return { isFull: kept.length >= maxKept }
        yield* sql`INSERT INTO n8n_mcp_drafts ${sql.insert({ instance: owner, name, body })}`
        return { isFull: false, name }
      }))
    )

  const insertNamed = Effect.fnUntraced(function*(name: string, text: string) {
    yield* checkName(name)
    const body = yield* pack(draftId(name), text)
    const { isFull, name: made } = yield* Effect.mapError(
      insert((taken) => taken.has(`${name}.json`) ? undefined : name, body),
      unwritable(`Draft '${draftId(name)}'`)
    )
    return made === undefined ? yield* isFull ? full : exists(draftId(name)) : { path: draftId(made) }
  })

  /** Keeps what it was and replaces it, if it still is as it was read: whether it was. */
  const replace = Effect.fnUntraced(function*<E, R>(old: Opened, text: string, keep: Effect.Effect<void, E, R>) {
    const body = yield* pack(old.path, text)
    const once = <A extends object>(
      use: (sql: SqlClient.SqlClient) => Effect.Effect<ReadonlyArray<A>, SqlError.SqlError>
    ) => Effect.map(Effect.mapError(run(use), unwritable(`Draft '${old.path}'`)), (rows) => rows.length === 1)
    // What another process kept need not be kept again.
    const isSame = yield* once((sql) =>
      sql`SELECT name FROM n8n_mcp_drafts WHERE instance = ${owner} AND name = ${old.name} AND sha256(body) = ${old.hash}`
    )
    if (!isSame) return false
    yield* keep
    return yield* once((sql) =>
      sql`
        UPDATE n8n_mcp_drafts SET body = ${body}, changed_at = clock_timestamp()
        WHERE instance = ${owner} AND name = ${old.name} AND sha256(body) = ${old.hash} RETURNING name`
    )
  })

  const alone = (name: string) => inTurn(`${owner}/${name}`)

  /** Tries again where another process came between. */
  const again = Effect.fnUntraced(function*<A, E, R>(path: string, attempt: Effect.Effect<A | undefined, E, R>) {
    for (let tries = 0; tries < maxTries; tries++) {
      const done = yield* attempt
      if (done !== undefined) return done
    }
    return yield* busy(path)
  })

  const service: Service = {
    instance: { url: instance.url, key: `drafts ${instance.key}` },

    read: Effect.fn("WorkflowFiles.read")((path) => Effect.flatMap(nameIn(path), openNamed)),

    locate: (path) => Effect.map(nameIn(path), draftId),

    create: Effect.fn("WorkflowFiles.create")(function*(path, text) {
      return yield* insertNamed(yield* nameIn(path), text)
    }),

    createDraft: Effect.fn("WorkflowFiles.createDraft")(function*(workflowName, text) {
      const body = yield* pack(workflowName, text)
      const { isFull, name } = yield* Effect.mapError(
        insert((taken) => names.free(workflowName, taken).next().value ?? undefined, body),
        unwritable(`The draft of '${workflowName}'`)
      )
      if (name !== undefined) return { id: draftId(name), path: draftId(name) }
      return yield* isFull ? full : refuse(`No name is free for '${workflowName}'`, "Give the workflow another name.")
    }),

    update: Effect.fn("WorkflowFiles.update")(function*(path, change, keep = () => Effect.void) {
      const name = yield* nameIn(path)
      const attempt = Effect.gen(function*() {
        const old = yield* openNamed(name)
        const text = yield* change(old)
        const written = { path: old.path, before: old.text, after: text ?? old.text }
        if (written.after === old.text) return written
        return (yield* replace(old, written.after, keep(old.text, old.path))) ? written : undefined
      })
      return yield* again(path, attempt).pipe(alone(name))
    }),

    save: Effect.fn("WorkflowFiles.save")(function*(path, content, keep = () => Effect.void) {
      const name = yield* nameIn(path)
      const attempt = Effect.gen(function*() {
        const old = yield* find(name)
        if (old === undefined) {
          const after = yield* content(undefined)
          return { ...yield* insertNamed(name, after), before: undefined, after }
        }
        if (!isWorkflow(old.value)) return yield* notWorkflow(old.path)
        const written = { path: old.path, before: old.text, after: yield* content(old) }
        if (written.after === old.text) return written
        return (yield* replace(old, written.after, keep(old.text, old.path))) ? written : undefined
      })
      return yield* again(path, attempt).pipe(alone(name))
    }),

    remove: Effect.fn("WorkflowFiles.remove")(function*(path, keep) {
      const name = yield* nameIn(path)
      const attempt = Effect.gen(function*() {
        const old = yield* openNamed(name)
        yield* keep(old)
        const rows = yield* run((sql) =>
          sql`
            DELETE FROM n8n_mcp_drafts
            WHERE instance = ${owner} AND name = ${name} AND sha256(body) = ${old.hash} RETURNING name`
        ).pipe(Effect.mapError(unwritable(`Draft '${old.path}'`)))
        return rows.length === 1 ? true : undefined
      })
      yield* again(path, attempt).pipe(alone(name))
    }),

    folder: (path) => Effect.fail(noFolder(path, { _tag: "SetFilesRoot", purpose: "KeepFiles" })),

    list: Effect.fn("WorkflowFiles.list")(function*(directory = ".", { limit = maxKept, offset = 0 } = {}) {
      if (!["", ".", "./"].includes(directory)) {
        return yield* noFolder(directory, "Leave directoryPath out: all drafts are listed then.")
      }
      const { rows, total } = yield* run((sql) =>
        Effect.all({
          rows: sql<Row & { readonly changed_at: Date }>`
            SELECT name, body, changed_at FROM n8n_mcp_drafts WHERE instance = ${owner}
            ORDER BY name LIMIT ${limit} OFFSET ${offset}`,
          total: sql<{ readonly count: number }>`
            SELECT count(*)::int AS count FROM n8n_mcp_drafts WHERE instance = ${owner}`
        })
      ).pipe(Effect.mapError(Database.unusable("The drafts cannot be listed", "directoryPath")))
      const looks = yield* Effect.forEach(rows, (row) =>
        unpack(row).pipe(
          Effect.match({
            onFailure: ({ reason }) => ({ workflows: [], unreadable: [{ path: draftId(row.name), reason }] }),
            onSuccess: ({ value }) => {
              const { id, name } = obj(value) ?? {}
              const listed: Listed = defined({
                id: str(id),
                name: str(name) ?? row.name,
                path: draftId(row.name),
                lastModified: row.changed_at.toISOString()
              })
              return { workflows: [listed], unreadable: [] }
            }
          })
        ))
      const unreadable = looks.flatMap((look) => look.unreadable)
      return {
        workflows: looks.flatMap((look) => look.workflows),
        total: total[0]?.count ?? 0,
        unreadable: unreadable.slice(0, maxUnreadable),
        unreadableCount: unreadable.length
      }
    })
  }
  return service
})

/**
 * Keeps the drafts of the client's n8n in the table `n8n_mcp_drafts`: all who have the same n8n and API key share them.
 *
 * **Details**
 *
 * A change is written only over what it was made of; where another process came between, it is made anew. At most
 * {@link maxKept} are kept, and each for {@link maxDays} days after its last change.
 */
export const layer: Layer.Layer<WorkflowFiles, never, Database.Database | N8nClient> = Layer.effect(
  WorkflowFiles,
  make
)
