import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Logging from "../../src/app/Logging.ts"

it.effect("a log line contains no character that hides or reorders others", () => {
  const lines: Array<string> = []
  const logger = Logger.map(Logging.format, (line) => void lines.push(line))
  return Effect.gen(function*() {
    yield* Effect.logInfo("a\u202eb\nc").pipe(Effect.annotateLogs("call", "x\u001b[2Jy\u0085z"))
    assert.lengthOf(lines, 1)
    assert.match(lines[0] ?? "", /message="a\\u202eb\\nc" call=x\\u001b\[2Jy\\u0085z/)
  }).pipe(Effect.provide(Logger.layer([logger])))
})
