/** Environment of every start: files, logs and telemetry. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import type * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as Options from "./config/Options.ts"
import * as Logging from "./Logging.ts"
import * as Telemetry from "./Telemetry.ts"

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
