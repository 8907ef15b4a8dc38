import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, readFileSync, writeFileSync } from "node:fs"
import { main, runIn } from "../../../../support/cli.ts"
import { platform } from "../../../../support/folders.ts"
import { failed, sink, world } from "../../../../support/scenarios/watched.ts"

/** Each look has a time slot of a second of its own. */
const nextSecond = Effect.sleep("1050 millis")

describe("watch", () => {
  it.live(
    "--exec: the report is on stdin; another exit status means that it was not delivered",
    () =>
      Effect.gen(function*() {
        const { api, env, folder } = yield* world
        // Fails once, and has a name that a shell would expand.
        const script = `${folder}/tell me`
        writeFileSync(
          script,
          "#!/bin/sh\necho noise\nif [ -e fails ]; then rm fails; exit 3; fi\necho \"$# $0\" >> calls\ncat >> calls\n"
        )
        chmodSync(script, 0o755)
        writeFileSync(`${folder}/fails`, "")
        const look = Effect.andThen(
          runIn(folder, env, "watch", "--once", "--exec", `'${script}'`),
          (exit) => Effect.as(nextSecond, exit)
        )
        assert.strictEqual((yield* look).code, 0)
        yield* api.addExecution(failed("$(touch pwned) `touch pwned`"))
        const first = yield* look
        assert.strictEqual(first.code, 1)
        assert.include(first.stderr, "noise")
        assert.include(first.stderr, "--exec: exit status 3")
        const second = yield* look
        assert.strictEqual(second.code, 2)
        assert.notInclude(second.stdout, "noise")
        const [called = "", document = ""] = readFileSync(`${folder}/calls`, "utf8").split("\n")
        assert.strictEqual(called, `0 ${script}`)
        assert.include(JSON.parse(document).incidents[0].what, "$(touch pwned)")
        assert.throws(() => readFileSync(`${folder}/pwned`))
      }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.live(
    "goes on until a signal or the end of its reader, and another start continues where it ended",
    () =>
      Effect.gen(function*() {
        const { api, env, folder } = yield* world
        const start = (state: string, ...args: ReadonlyArray<string>) => {
          const options = ["--every", "10", "--state", `${folder}/${state}`, ...args]
          const child = spawn(process.execPath, [main, "watch", ...options], {
            cwd: folder,
            env: { PATH: process.env["PATH"], ...env }
          })
          let stdout = ""
          let stderr = ""
          child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk))
          child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk))
          return {
            child,
            output: () => stdout,
            errors: () => stderr,
            ended: once(child, "close") as Promise<[number | null]>
          }
        }
        const until = (holds: Effect.Effect<boolean>) =>
          Effect.repeat(Effect.andThen(Effect.promise(() => new Promise((next) => setTimeout(next, 50))), holds), {
            until: (value) => value
          })
        const looks = (count: number) =>
          Effect.map(api.requests, (all) => all.filter(({ url }) => url.includes("/executions")).length >= count)
        /** Answers too late for a signal in between. */
        let isSlow = false
        const receiver = yield* sink((_, response) =>
          void setTimeout(() => response.writeHead(200).end(), isSlow ? 300 : 0)
        )
        const printing = start("a")
        const piped = start("b")
        const posting = start("c", "--to", receiver.url)
        yield* until(looks(6))
        yield* api.addExecution(failed("card 17 declined"))
        piped.child.stdout.destroy()
        isSlow = true
        yield* until(Effect.sync(() => receiver.posts.length > 0))
        const at = Date.now()
        posting.child.kill("SIGTERM")
        assert.deepStrictEqual(yield* Effect.promise(() => posting.ended), [0, null] as never)
        assert.isBelow(Date.now() - at, 1_500)
        yield* until(Effect.sync(() => printing.output() !== ""))
        printing.child.kill("SIGINT")
        assert.deepStrictEqual(yield* Effect.promise(() => printing.ended), [0, null] as never)
        assert.deepStrictEqual([printing.output().split("\n").length, printing.errors()], [
          2,
          "The first look only learns what is usual; the next ones report new incidents.\n"
        ])
        assert.deepStrictEqual(yield* Effect.promise(() => piped.ended), [0, null] as never)
        yield* nextSecond
        const states = [["a", 0], ["b", 2], ["c", 0]] as const
        for (const [state, code] of states) {
          const again = yield* runIn(folder, env, "watch", "--once", "--state", `${folder}/${state}`)
          assert.strictEqual(again.code, code, `${state}: ${again.output}`)
        }
        assert.strictEqual(receiver.posts.length, 1)
      }).pipe(Effect.scoped, Effect.provide(platform)),
    120_000
  )
})
