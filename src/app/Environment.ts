/** Environment of every start: files, logs, telemetry, and the explanation of a failure. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Cause from "effect/Cause"
import type * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import * as Options from "./config/Options.ts"
import * as Logging from "./Logging.ts"
import * as Telemetry from "./Telemetry.ts"
import * as Terminal from "./Terminal.ts"

/** Name of the program, and of the server for clients. */
export const name = "effect-n8n-mcp"

export const layer: Layer.Layer<FileSystem.FileSystem | Path.Path, Config.ConfigError> = Layer.suspend(() => {
  const variables = Options.variables(process.env)
  return Layer.merge(NodeFileSystem.layer, NodePath.layer).pipe(
    Layer.provideMerge(Telemetry.layer(variables)),
    Layer.provideMerge(Logging.layer),
    Layer.provideMerge(ConfigProvider.layer(ConfigProvider.fromEnv({ env: variables })))
  )
})

/** Failures of a configuration, which have no stack. */
const ofConfiguration = new Set(["InvalidOption", "InvalidProfile", "UnreadablePackage"])

/** Prints the reason of exit status 1 on stderr; usage errors are already printed. */
export const explain = (cause: Cause.Cause<{ readonly _tag: string; readonly message: string }>) => {
  const failure = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (failure?._tag === "ShowHelp") return Effect.void
  if (failure !== undefined && ofConfiguration.has(failure._tag)) return Terminal.warn(`${name}: ${failure.message}`)
  return Effect.forEach(
    Cause.prettyErrors(cause),
    (error) => Terminal.warn(`${name}: ${error.stack ?? error.message}`),
    {
      discard: true
    }
  )
}
