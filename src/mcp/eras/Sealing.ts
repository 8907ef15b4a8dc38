/** Sealed state that a client stores between question and answer: readable, tamper-proof, accepted once. */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import type * as Documents from "../../base/Documents.ts"
import { type Obj, obj, str } from "../../base/Json.ts"

const maxAge = 15 * 60_000

/** Seals and opens texts; `about` identifies the subject of a text and is not part of it. */
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

const keyName = "key"

class DamagedKey extends Data.TaggedError("DamagedKey")<{ readonly message: string }> {}

/** Reads the common key, which the first process makes. */
const keyIn = ({ add, read }: Documents.Collection) =>
  Effect.gen(function*() {
    const key = (yield* read(keyName)) ??
      (yield* Effect.andThen(add(keyName, randomBytes(32)), read(keyName)))
    return key?.length === 32 ? Redacted.make(key) : yield* new DamagedKey({ message: "the key is damaged" })
  })

/**
 * Sealing for processes that share these documents: a key, and marks of used texts. Until the documents can be read, it
 * works for this process alone; answers whose use cannot be marked are refused.
 */
export const shared = (documents: Documents.Collection): Effect.Effect<Sealing> =>
  Effect.gen(function*() {
    const own = yield* memory
    const use = Effect.fnUntraced(function*(id: string, expires: number) {
      const now = yield* Clock.currentTimeMillis
      for (const name of yield* documents.list) {
        const [, end] = /^used-(\d+)-/.exec(name) ?? []
        if (Number(end) <= now) yield* documents.remove(name)
      }
      return yield* documents.add(`used-${expires}-${id}`)
    }, Effect.catch((error) => Effect.as(Effect.logWarning(`an answer cannot be accepted: ${error.message}`), false)))

    let sealing: Sealing | undefined
    const load = keyIn(documents).pipe(
      Effect.map((key) => (sealing = make({ key, use }))),
      Effect.catch((error) =>
        Effect.as(Effect.logWarning("answers to questions are accepted by this process only", error), undefined)
      )
    )
    const current = Effect.suspend(() => sealing === undefined ? load : Effect.succeed(sealing))
    return {
      seal: (content, about) => Effect.flatMap(current, (sealing = own) => sealing.seal(content, about)),
      open: Effect.fnUntraced(function*(sealed, about) {
        const content = yield* own.open(sealed, about)
        return content ?? (yield* (yield* current)?.open(sealed, about) ?? Effect.undefined)
      })
    }
  })
