/** Documents that outlive a call, by collection, owner and name: in memory, in a folder or in the shared database. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import { randomUUID } from "node:crypto"
import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"
import * as AtomicFile from "./AtomicFile.ts"
import * as Database from "./Database.ts"
import * as Errors from "./Errors.ts"
import { sha256 } from "./Hash.ts"

/** Result of an access; fails if the place of the documents cannot be read or written. */
export type Access<A> = Effect.Effect<A, Errors.ValidationError>

/** Documents of one owner in a collection. Names consist of letters, digits, `.`, `_` and `-`. */
export interface Collection {
  /** Names, in no particular order. */
  readonly list: Access<ReadonlyArray<string>>
  readonly read: (name: string) => Access<Uint8Array | undefined>
  /** Creates or replaces a document, whole or not at all. */
  readonly write: (name: string, body: Uint8Array) => Access<void>
  /** Creates a document, whole or not at all, empty by default; `false` if there is one of that name. */
  readonly add: (name: string, body?: Uint8Array) => Access<boolean>
  readonly remove: (name: string) => Access<void>
}

/** Collections by their name and owner, such as the key of an n8n. */
export class Documents extends Context.Service<Documents, {
  readonly collection: (name: string, owner: string) => Collection
}>()("effect-n8n-mcp/Documents") {}

const isName = Schema.is(Schema.String.check(Schema.isPattern(/^(?!\.+$)[\w.-]+$/)))

const refused = (name: string) =>
  Errors.invalid(
    "name",
    `'${name}' is not the name of a document`,
    "Names consist of letters, digits, '.', '_' and '-'."
  )

/** Collections that refuse other names, which could lead to another folder. */
const checked = (open: (name: string, owner: string) => Collection): typeof Documents.Service => ({
  collection: (collection, owner) => {
    if (!isName(collection)) {
      const fault = refused(collection)
      const refuse = () => fault
      return { list: fault, read: refuse, write: refuse, add: refuse, remove: refuse }
    }
    const { add, list, read, remove, write } = open(collection, owner)
    const named =
      <Rest extends ReadonlyArray<unknown>, A>(access: (name: string, ...rest: Rest) => Access<A>) =>
      (name: string, ...rest: Rest) => isName(name) ? access(name, ...rest) : refused(name)
    return { list, read: named(read), write: named(write), add: named(add), remove: named(remove) }
  }
})

/** Documents that end with the process. */
export const layerMemory: Layer.Layer<Documents> = Layer.sync(Documents, () => {
  const all = new Map<string, Map<string, Uint8Array>>()
  return checked((name, owner) => {
    const key = `${name}/${owner}`
    const own = all.get(key) ?? new Map<string, Uint8Array>()
    all.set(key, own)
    return {
      list: Effect.sync(() => [...own.keys()]),
      read: (name) => Effect.sync(() => own.get(name)),
      write: (name, body) => Effect.sync(() => void own.set(name, body)),
      add: (name, body = new Uint8Array()) => Effect.sync(() => !own.has(name) && own.set(name, body) !== undefined),
      remove: (name) => Effect.sync(() => void own.delete(name))
    }
  })
})

const isMissing = ({ reason }: PlatformError.PlatformError) => reason._tag === "NotFound"

const unusable = (folder: string) => ({ reason }: PlatformError.PlatformError) => {
  const code = Predicate.hasProperty(reason.cause, "code") ? String(reason.cause.code) : reason._tag
  return new Errors.ValidationError({
    reason: `'${folder}' cannot be used (${code})`,
    hint: { _tag: "UseStateFolder" },
    isServerFault: true
  })
}

const isTemporary = (name: string) => name.endsWith(".tmp")

/**
 * Folder of documents by default: `$XDG_STATE_HOME/effect-n8n-mcp`, else `~/.local/state/effect-n8n-mcp`; a relative
 * path in the variable is ignored.
 */
export const defaultFolder = (env: { readonly [name: string]: string | undefined }): string => {
  const state = env["XDG_STATE_HOME"] ?? ""
  return join(isAbsolute(state) ? state : join(env["HOME"] || homedir(), ".local", "state"), "effect-n8n-mcp")
}

/** Documents as files `<collection>/<hash of the owner>/<name>` below a folder, for this user only. */
export const layerFolder = (folder: string): Layer.Layer<Documents, never, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    Documents,
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const create = (file: string) =>
        fs.open(file, { flag: "wx", mode: 0o600 }).pipe(Effect.flatMap(({ sync }) => sync), Effect.scoped)
      const content = (file: string, bytes: Uint8Array) => {
        const temporary = `${file}.${randomUUID()}.tmp`
        return { data: bytes, temporary, mode: 0o600 }
      }
      // No one reads a part of it.
      const link = (file: string, body: Uint8Array) => {
        const staged = content(file, body)
        return AtomicFile.stage(fs, staged, () => fs.link(staged.temporary, file))
      }
      return checked((collection, owner) => {
        const own = path.join(folder, collection, sha256(owner).slice(0, 16))
        const made = Effect.andThen(
          fs.makeDirectory(own, { recursive: true, mode: 0o700 }),
          // An existing folder may be open to all.
          Effect.ignore(fs.chmod(folder, 0o700))
        )
        const file = (name: string) => path.join(own, name)
        const access = <A>(effect: Effect.Effect<A, PlatformError.PlatformError>) =>
          Effect.mapError(effect, unusable(folder))
        return {
          list: fs.readDirectory(own).pipe(
            Effect.catchIf(isMissing, () => Effect.succeed([])),
            Effect.tap((names) =>
              AtomicFile.removeLeft(fs, names.filter(isTemporary).map((name) => path.join(own, name)))
            ),
            Effect.map((names) => names.filter((name) => !isTemporary(name))),
            access
          ),
          read: (name) => access(Effect.catchIf(fs.readFile(file(name)), isMissing, () => Effect.undefined)),
          write: (name, bytes) =>
            access(Effect.andThen(made, AtomicFile.write(fs, file(name), content(file(name), bytes)))),
          add: (name, body) =>
            made.pipe(
              Effect.andThen(body === undefined ? create(file(name)) : link(file(name), body)),
              Effect.as(true),
              Effect.catchIf(({ reason }) => reason._tag === "AlreadyExists", () => Effect.succeed(false)),
              access
            ),
          remove: (name) => access(fs.remove(file(name), { force: true }))
        }
      })
    })
  )

/** Documents in the table `n8n_mcp_documents` of the database that the processes of a server share. @internal */
export const layerDatabase: Layer.Layer<Documents, never, Database.Database> = Layer.effect(
  Documents,
  Effect.map(Database.Database, ({ run }) =>
    checked((collection, instance) => {
      const owner = Database.owner(instance)
      const access = <A>(use: Parameters<typeof run<A>>[0]) => Effect.mapError(run(use), Database.unusable("State"))
      const insert = (sql: SqlClient, name: string, body: Uint8Array) =>
        sql`INSERT INTO n8n_mcp_documents ${sql.insert({ collection, owner, name, body })}`
      const named = (sql: SqlClient, name: string) =>
        sql`collection = ${collection} AND owner = ${owner} AND name = ${name}`
      return {
        list: Effect.map(
          access((sql) =>
            sql<{ readonly name: string }>`
              SELECT name FROM n8n_mcp_documents WHERE collection = ${collection} AND owner = ${owner}`
          ),
          (rows) => rows.map(({ name }) => name)
        ),
        read: (name) =>
          Effect.map(
            access((sql) =>
              sql<{ readonly body: Uint8Array }>`SELECT body FROM n8n_mcp_documents WHERE ${named(sql, name)}`
            ),
            ([row]) => row?.body
          ),
        write: (name, body) =>
          Effect.asVoid(
            access((sql) =>
              sql`${insert(sql, name, body)} ON CONFLICT (collection, owner, name) DO UPDATE SET body = excluded.body`
            )
          ),
        add: (name, body = new Uint8Array()) =>
          Effect.map(
            access((sql) => sql`${insert(sql, name, body)} ON CONFLICT DO NOTHING RETURNING name`),
            (rows) => rows.length > 0
          ),
        remove: (name) => Effect.asVoid(access((sql) => sql`DELETE FROM n8n_mcp_documents WHERE ${named(sql, name)}`))
      }
    }))
)
