/**
 * What a client holds for the server between a question and its answer: it can be read, but not changed, and comes back
 * once, to any process that has the key.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import { type Obj, obj, str } from "../../base/Json.ts"

/**
 * How long a person may take to answer, in milliseconds.
 *
 * @internal
 */
export const maxAge = 15 * 60_000

/**
 * Seals and opens; `about` is what the text is of, and is not in it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Sealing {
  readonly seal: (content: Obj, about: string) => Effect.Effect<string>
  /** The content, if the text is ours, of this, in time, and comes for the first time. */
  readonly open: (sealed: string, about: string) => Effect.Effect<Obj | undefined>
}

/**
 * What the processes of a server share.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** 32 random bytes. */
  readonly key: Redacted.Redacted<Uint8Array>
  /** Notes that a text was used, until it expires (milliseconds since 1970); `false` if it was before. */
  readonly use: (id: string, expires: number) => Effect.Effect<boolean>
}

const bytesOf = (text: string) => Buffer.from(text, "base64url")

/**
 * Seals with HMAC-SHA256.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ key, use }: Options): Sealing => {
  const mac = (body: string, about: string) =>
    createHmac("sha256", Redacted.value(key)).update(JSON.stringify([body, about])).digest()
  return {
    seal: (content, about) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const id = randomBytes(16).toString("base64url")
        const body = Buffer.from(JSON.stringify({ content, id, expires: now + maxAge })).toString("base64url")
        return `${body}.${mac(body, about).toString("base64url")}`
      }),
    open: (sealed, about) =>
      Effect.gen(function*() {
        const [body = "", tag = "", ...others] = sealed.split(".")
        const expected = mac(body, about)
        const actual = bytesOf(tag)
        // Node's decoder ignores what is no base64: the text itself has to be the one that was sent.
        const isOurs = others.length === 0 && actual.toString("base64url") === tag &&
          actual.length === expected.length && timingSafeEqual(actual, expected)
        if (!isOurs) return undefined
        const { content, expires, id } = obj(JSON.parse(bytesOf(body).toString("utf8"))) ?? {}
        const isInTime = Number(expires) > (yield* Clock.currentTimeMillis)
        return isInTime && (yield* use(str(id) ?? "", Number(expires))) ? obj(content) : undefined
      })
  }
}

/**
 * For one process: its key ends with it.
 *
 * @category functions
 * @since 0.1.0
 */
export const memory: Effect.Effect<Sealing> = Effect.sync(() => {
  const used = new Map<string, number>()
  return make({
    key: Redacted.make(randomBytes(32)),
    use: (id, expires) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        for (const [other, end] of used) if (end <= now) used.delete(other)
        return !used.has(id) && used.set(id, expires) === used
      })
  })
})

/**
 * For every process that has the folder: its key is a file there, as is each text that was used.
 *
 * **Details**
 *
 * The folder is made when something is first sealed or opened. Where it cannot be written, this process seals alone and
 * says so in the log.
 *
 * @category functions
 * @since 0.1.0
 */
export const folder = (place: string): Effect.Effect<Sealing, never, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const create = (name: string, content: Uint8Array) =>
      fs.writeFile(path.join(place, name), content, { flag: "wx", mode: 0o600 })
    const keyFile = path.join(place, "key")

    const readKey = Effect.filterOrFail(fs.readFile(keyFile), (key) => key.length === 32, () => "the key is damaged")

    /** Written beside its place and linked there: nobody reads half a key, and the first of several processes wins. */
    const makeKey = Effect.gen(function*() {
      const draft = `key-${randomBytes(8).toString("hex")}`
      yield* create(draft, randomBytes(32))
      yield* Effect.ignore(fs.link(path.join(place, draft), keyFile))
      yield* fs.remove(path.join(place, draft))
      return yield* readKey
    })

    const removeOld = Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      for (const name of yield* fs.readDirectory(place)) {
        const [, expires] = /^used-(\d+)-/.exec(name) ?? []
        if (Number(expires) <= now) yield* fs.remove(path.join(place, name))
      }
    })

    const use = (id: string, expires: number) =>
      Effect.andThen(Effect.ignore(removeOld), create(`used-${expires}-${id}`, new Uint8Array())).pipe(
        Effect.as(true),
        Effect.catch(({ reason }) =>
          reason._tag === "AlreadyExists"
            ? Effect.succeed(false)
            : Effect.as(Effect.logWarning(`an answer cannot be taken: ${reason.message}`), false)
        )
      )

    const open = fs.makeDirectory(place, { recursive: true, mode: 0o700 }).pipe(
      Effect.andThen(Effect.catch(readKey, () => makeKey)),
      Effect.map((key) => make({ key: Redacted.make(key), use })),
      Effect.catch((error) =>
        Effect.andThen(Effect.logWarning("answers to questions are this process's own", error), memory)
      )
    )
    const sealing = yield* Effect.cached(open)
    return {
      seal: (content, about) => Effect.flatMap(sealing, ({ seal }) => seal(content, about)),
      open: (sealed, about) => Effect.flatMap(sealing, (own) => own.open(sealed, about))
    }
  })
