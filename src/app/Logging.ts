/** Logs go to stderr; stdout carries the protocol. */
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as References from "effect/References"
import * as Visible from "../base/Visible.ts"
import * as Progress from "./Progress.ts"

const levelOf = (name: string): LogLevel.LogLevel =>
  LogLevel.values.find((level) => level.toLowerCase() === name.toLowerCase().replace(/^warning$/, "warn")) ?? "Info"

/** Line of `key=value` pairs with invisible and reordering characters escaped. */
export const format = Logger.map(Logger.formatLogFmt, Visible.text)

/** Writes the lines of one turn of the event loop together, since a write takes a good part of a small call's time. */
const writer = (console: Console.Console) => {
  let lines: Array<string> = []
  const flush = () => {
    if (lines.length === 0) return
    Progress.clear()
    console.error(lines.join("\n"))
    lines = []
  }
  process.once("exit", flush)
  return (line: string) => {
    if (lines.length === 0) setImmediate(flush)
    lines.push(line)
  }
}

/** Logger on stderr; `LOG_LEVEL` (default `info`) is the lowest level shown. */
export const layer: Layer.Layer<never, Config.ConfigError> = Layer.mergeAll(
  Layer.unwrap(Effect.map(Console.Console, (console) => Logger.layer([Logger.map(format, writer(console))]))),
  Layer.effect(
    References.MinimumLogLevel,
    Config.String("LOG_LEVEL").pipe(Config.withDefault("info"), Effect.map(levelOf))
  )
)
