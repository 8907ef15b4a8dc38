/** Sealed state that a client holds between question and answer: readable, tamper-proof, accepted once. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import { type Obj, obj, str } from "../../base/Json.ts"

/** Time to answer a question, in milliseconds. @internal */
export const maxAge = 15 * 60_000

/** Seals and opens texts; `about` is the subject of a text and not part of it. */
export interface Sealing {
  readonly seal: (content: Obj, about: string) => Effect.Effect<string>
  /** Content of a text that is authentic, about this subject, not expired and unused. */
  readonly open: (sealed: string, about: string) => Effect.Effect<Obj | undefined>
}

/** State that the processes of a server share. */
export interface Options {
  /** 32 random bytes. */
  readonly key: Redacted.Redacted<Uint8Array>
  /** Marks a text as used until it expires (epoch milliseconds); `false` if it was used before. */
  readonly use: (id: string, expires: number) => Effect.Effect<boolean>
}

const bytesOf = (text: string) => Buffer.from(text, "base64url")

/** Seals with HMAC-SHA256. */
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
    open: Effect.fnUntraced(function*(sealed, about) {
      const [body = "", tag = "", ...others] = sealed.split(".")
      const expected = mac(body, about)
      const actual = bytesOf(tag)
      // Node's decoder ignores invalid base64, so the text itself is compared.
      const isOurs = others.length === 0 && actual.toString("base64url") === tag &&
        actual.length === expected.length && timingSafeEqual(actual, expected)
      if (!isOurs) return undefined
      const { content, expires, id } = obj(JSON.parse(bytesOf(body).toString("utf8"))) ?? {}
      const isInTime = Number(expires) > (yield* Clock.currentTimeMillis)
      return isInTime && (yield* use(str(id) ?? "", Number(expires))) ? obj(content) : undefined
    })
  }
}

/** Sealing for one process, with a key that ends with it. */
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

/** Sealing for processes with this folder of key and used texts; if it cannot be written, for this one alone. */
export const folder = Effect.fnUntraced(function*(
  place: string
): Effect.fn.Return<Sealing, never, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const create = (name: string, content: Uint8Array) =>
    fs.writeFile(path.join(place, name), content, { flag: "wx", mode: 0o600 })
  const keyFile = path.join(place, "key")

  const readKey = Effect.filterOrFail(fs.readFile(keyFile), (key) => key.length === 32, () => "the key is damaged")

  /** Written to a temporary file and linked: no process reads a partial key, and the first of several wins. */
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
          : Effect.as(Effect.logWarning(`an answer cannot be accepted: ${reason.message}`), false)
      )
    )

  const open = fs.makeDirectory(place, { recursive: true, mode: 0o700 }).pipe(
    Effect.andThen(Effect.catch(readKey, () => makeKey)),
    Effect.map((key) => make({ key: Redacted.make(key), use })),
    Effect.catch((error) =>
      Effect.andThen(Effect.logWarning("answers to questions are accepted by this process only", error), memory)
    )
  )
  const sealing = yield* Effect.cached(open)
  return {
    seal: (content, about) => Effect.flatMap(sealing, ({ seal }) => seal(content, about)),
    open: (sealed, about) => Effect.flatMap(sealing, (own) => own.open(sealed, about))
  }
})
