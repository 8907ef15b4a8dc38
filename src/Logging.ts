/** Logs go to stderr; stdout carries the protocol. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"

const levels = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  warning: "Warn",
  error: "Error",
  fatal: "Fatal",
  none: "None"
} as const

/** One line of `key=value` pairs an event, on stderr; `LOG_LEVEL` (default `info`) is the least that is shown. */
export const layer: Layer.Layer<never, Config.ConfigError> = Layer.mergeAll(
  Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)]),
  Layer.effect(
    References.MinimumLogLevel,
    Config.String("LOG_LEVEL").pipe(
      Config.withDefault("info"),
      Effect.map((level) =>
        Object.hasOwn(levels, level.toLowerCase()) ? levels[level.toLowerCase() as keyof typeof levels] : "Info"
      )
    )
  )
)
