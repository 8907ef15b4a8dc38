/** Locks files, unlike `proper-lockfile` with the owner's pid: after a crash the next writer need not wait. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import { randomBytes } from "node:crypto"
import { tmpdir } from "node:os"
import { sha256 } from "../../base/Hash.ts"
import * as Locks from "../../base/KeyedMutex.ts"
import { code, serverFault } from "./refusals.ts"

const staleAfter = 30_000
/** Age of an empty lock whose owner ended before it wrote its pid. */
const unfinishedAfter = 2_000
const beatEvery = "5 seconds"
const shortestPause = 25
const longestPause = 250
const timeout = 35_000

const here = Locks.make()

/** Identifies this process, even if an earlier one had the same pid, as in containers. */
const self = `${process.pid} ${randomBytes(8).toString("hex")}`

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // A process of another user.
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

const isStale = (content: string, touched: number, now: number) => {
  const pid = Number(content.split(" ")[0])
  return now - touched > (content === "" ? unfinishedAfter : staleAfter) ||
    pid === process.pid && touched < now - process.uptime() * 1000 ||
    pid > 0 && !isAlive(pid)
}

const busy = (path: string) =>
  serverFault(`File '${path}' is being written by another process`, "Nothing was written: try again.")

const unusable = (folder: string) => (error: PlatformError.PlatformError) =>
  serverFault(
    `No lock could be created in '${folder}' (${code(error)})`,
    "Make that folder writable for this user only, or set TMPDIR to one that is, where the server is started."
  )

const is = (tag: PlatformError.PlatformError["reason"]["_tag"]) => ({ reason }: PlatformError.PlatformError) =>
  reason._tag === tag

/** Returns `lock(userPath, realPath)(effect)`; the owner touches the lock every 5 s, and loses it after 30 s. */
export const make = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  // Windows has no user ids, but a temporary folder for each user.
  const uid = process.getuid?.() ?? 0
  const folder = path.join(tmpdir(), `effect-n8n-mcp-${uid}`)

  const openFolder = Effect.gen(function*() {
    yield* fs.makeDirectory(folder, { mode: 0o700 }).pipe(Effect.catchIf(is("AlreadyExists"), () => Effect.void))
    const info = yield* fs.lstat(folder)
    if (info.type === "Directory" && Option.getOrElse(info.uid, () => uid) === uid) return
    return yield* serverFault(
      `The folder of locks, '${folder}', does not belong to this user`,
      "Remove it, or set TMPDIR to another folder, where the server is started."
    )
  })

  const createNew = (file: string) =>
    fs.writeFileString(file, self, { flag: "wx", mode: 0o600 }).pipe(
      Effect.as(true),
      Effect.catchIf(is("AlreadyExists"), () => Effect.succeed(false))
    )

  const staleness = (file: string) =>
    Effect.all([fs.readFileString(file), fs.stat(file), Clock.currentTimeMillis]).pipe(
      Effect.map(([content, { mtime }, now]) => isStale(content, Option.getOrThrow(mtime).getTime(), now)),
      Effect.catchIf(is("NotFound"), () => Effect.succeed(false))
    )

  const remove = (file: string) => Effect.ignore(fs.remove(file))

  /** Removes a stale lock under a guard, since a second process would remove the new lock of the first. */
  const removeStale = Effect.fnUntraced(function*(file: string) {
    if (!(yield* staleness(file))) return
    const guard = `${file}.stale`
    if (yield* createNew(guard)) {
      yield* Effect.ensuring(Effect.when(remove(file), staleness(file)), remove(guard))
    } else if (yield* staleness(guard)) {
      yield* remove(guard)
    }
  })

  const release = (file: string) =>
    fs.readFileString(file).pipe(
      Effect.flatMap((content) => content === self ? fs.remove(file) : Effect.void),
      Effect.ignore
    )

  const touch = (file: string) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.ignore(fs.utimes(file, new Date(now), new Date(now))))

  const acquire = Effect.fnUntraced(function*(userPath: string, file: string, restore: typeof Effect.interruptible) {
    let pause = shortestPause
    for (let waited = 0; waited < timeout; waited += pause) {
      if (yield* createNew(file)) return
      yield* removeStale(file)
      yield* restore(Effect.sleep(pause))
      pause = Math.min(pause * 1.25, longestPause)
    }
    return yield* busy(userPath)
  })

  /** Locks a real path while an effect runs; `userPath` is that path as the caller wrote it. */
  return (userPath: string, real: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) => {
    const file = path.join(folder, `${sha256(real).slice(0, 32)}.lock`)
    const beating = touch(file).pipe(Effect.delay(beatEvery), Effect.forever, Effect.forkChild)
    const across = Effect.uninterruptibleMask((restore) =>
      openFolder.pipe(
        Effect.andThen(acquire(userPath, file, restore)),
        Effect.catchTag("PlatformError", (error) => Effect.fail(unusable(folder)(error))),
        Effect.andThen(beating),
        Effect.flatMap((beat) =>
          restore(effect).pipe(Effect.ensuring(Fiber.interrupt(beat)), Effect.ensuring(release(file)))
        )
      )
    )
    return here(real)(across)
  }
})

export type Lock = Effect.Success<typeof make>
