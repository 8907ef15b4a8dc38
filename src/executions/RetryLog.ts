/**
 * Record of runs that were started again, written before a request is sent: a request of which the outcome is unknown
 * is never sent twice, by any process that shares the record.
 *
 * **Details**
 *
 * The record is a set of names per n8n, by {@link keyOf}: `<run>.<attempt>` before an attempt, and `<run>.<attempt>.<new run>.<status>`
 * when its outcome is known.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Database from "../base/Database.ts"
import * as Errors from "../base/Errors.ts"
import { sha256 } from "../base/Hash.ts"
import { defined } from "../base/Json.ts"
import * as Locks from "../base/KeyedMutex.ts"
import type { Instance } from "../n8n/N8nClient.ts"

/** Attempt to start a run again; without `newId`, its outcome is unknown. */
export interface Attempt {
  readonly run: string
  readonly number: number
  readonly newId?: string
  readonly status?: string
}

/** Attempts of one n8n; those that cannot be recorded fail. */
export interface Service {
  readonly read: (instance: string) => Effect.Effect<ReadonlyArray<Attempt>, Errors.ValidationError>
  /** Records an attempt; `false` if another call has made it. */
  readonly claim: (instance: string, attempt: Attempt) => Effect.Effect<boolean, Errors.ValidationError>
  /** Removes an attempt that certainly started nothing. */
  readonly release: (instance: string, attempt: Attempt) => Effect.Effect<void>
  /** Records the outcome of an attempt. */
  readonly settle: (instance: string, attempt: Required<Attempt>) => Effect.Effect<void>
  /** Runs retries of the same run one after the other. */
  readonly oneAtATime: (run: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Record of retries. */
export class RetryLog extends Context.Service<RetryLog, Service>()("effect-n8n-mcp/RetryLog") {}

/** Key of an n8n: its address, whatever its API key, and however this machine is called in it. */
export const keyOf = ({ url }: Instance): string =>
  url.replace(/^(https?:\/\/)(?:localhost|\[::1\])(?=[:/])/, "$1127.0.0.1")

/** Names per n8n; `add` is `false` for a name that exists. */
interface Names<E> {
  readonly list: (instance: string) => Effect.Effect<ReadonlyArray<string>, E>
  readonly add: (instance: string, name: string) => Effect.Effect<boolean, E>
  readonly remove: (instance: string, name: string) => Effect.Effect<void, E>
}

/**
 * Maximum number of names per n8n; the oldest runs, which n8n prunes too, are forgotten first.
 *
 * @internal
 */
export const maxNames = 20_000

const nameOf = ({ newId, number, run, status }: Attempt) =>
  [run, number, ...newId === undefined ? [] : [newId, status]].join(".")

/** Attempts by names; a name with an outcome is longer, and comes after the one without. */
const attemptsOf = (names: ReadonlyArray<string>): ReadonlyArray<Attempt> => {
  const attempts = new Map<string, Attempt>()
  for (const name of names.toSorted()) {
    const [, key, run, number, newId, status] = /^((\d+)\.(\d+))(?:\.(\d+)\.(\w+))?$/.exec(name) ?? []
    if (key !== undefined && run !== undefined) {
      attempts.set(key, defined({ run, number: Number(number), newId, status }))
    }
  }
  return [...attempts.values()]
}

const make = <E>({ add, list, remove }: Names<E>, refusal: (error: E) => Errors.ValidationError): Service => ({
  read: (instance) => list(instance).pipe(Effect.map(attemptsOf), Effect.mapError(refusal)),
  claim: Effect.fn("RetryLog.claim")(function*(instance, { number, run }) {
    if (!(yield* add(instance, nameOf({ run, number })))) return false
    const names = (yield* list(instance)).toSorted((a, b) => Number.parseInt(b) - Number.parseInt(a))
    yield* Effect.forEach(names.slice(maxNames), (name) => Effect.ignore(remove(instance, name)), { discard: true })
    return true
  }, Effect.mapError(refusal)),
  release: (instance, { number, run }) => Effect.ignore(remove(instance, nameOf({ run, number }))),
  settle: (instance, attempt) => Effect.ignore(add(instance, nameOf(attempt))),
  oneAtATime: Locks.make()
})

/** Record that ends with the process. */
export const layerMemory: Layer.Layer<RetryLog> = Layer.sync(RetryLog, () => {
  const all = new Map<string, Set<string>>()
  const of = (instance: string) => all.get(instance) ?? new Set()
  return make<never>({
    list: (instance) => Effect.sync(() => [...of(instance)]),
    add: (instance, name) =>
      Effect.sync(() => {
        const isNew = !of(instance).has(name)
        all.set(instance, of(instance).add(name))
        return isNew
      }),
    remove: (instance, name) => Effect.sync(() => void of(instance).delete(name))
  }, identity)
})

const unwritable = "Nothing was sent, since a retry from the start is recorded first"

/** Record as empty files below a folder, `<hash of the instance>/<name>`. */
export const layerFolder = (folder: string): Layer.Layer<RetryLog, never, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    RetryLog,
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const own = (instance: string) => path.join(folder, sha256(instance).slice(0, 16))
      return make({
        list: (instance) =>
          Effect.catchIf(
            fs.readDirectory(own(instance)),
            ({ reason }) => reason._tag === "NotFound",
            () => Effect.succeed([])
          ),
        add: (instance, name) =>
          fs.makeDirectory(own(instance), { recursive: true, mode: 0o700 }).pipe(
            Effect.andThen(fs.open(path.join(own(instance), name), { flag: "wx", mode: 0o600 })),
            Effect.flatMap((file) => file.sync),
            Effect.scoped,
            Effect.as(true),
            Effect.catchIf(({ reason }) => reason._tag === "AlreadyExists", () => Effect.succeed(false))
          ),
        remove: (instance, name) => fs.remove(path.join(own(instance), name))
      }, ({ message }) =>
        new Errors.ValidationError({
          reason: `${unwritable}: ${message}`,
          hint: "Ask the operator to make the state folder writable (--state, N8N_MCP_STATE).",
          isServerFault: true
        }))
    })
  )

/** Record in the table `n8n_mcp_retries` of the database that the processes of a server share. */
export const layerDatabase: Layer.Layer<RetryLog, never, Database.Database> = Layer.effect(
  RetryLog,
  Effect.map(Database.Database, ({ run }) =>
    make({
      list: (instance) =>
        Effect.map(
          run((sql) =>
            sql<{ readonly name: string }>`
              SELECT name FROM n8n_mcp_retries WHERE instance = ${Database.owner(instance)}`
          ),
          (rows) => rows.map(({ name }) => name)
        ),
      add: (instance, name) =>
        Effect.map(
          run((sql) =>
            sql`
              INSERT INTO n8n_mcp_retries ${sql.insert({ instance: Database.owner(instance), name })}
              ON CONFLICT DO NOTHING RETURNING name`
          ),
          (rows) => rows.length > 0
        ),
      remove: (instance, name) =>
        run((sql) => sql`DELETE FROM n8n_mcp_retries WHERE instance = ${Database.owner(instance)} AND name = ${name}`)
    }, Database.unusable(unwritable)))
)
