/** Installs pinned versions of real clients once into a cache outside the repository. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as npm from "../../support/npm.ts"
import { ClientError } from "./ClientError.ts"

/** A client and its npm package. */
interface Client {
  readonly name: string
  readonly version: string
}

/** The MCP project's own client, of which we use the command line. */
export const inspector: Client = { name: "@modelcontextprotocol/inspector", version: "2.12.0" }

/** Claude Code, whose program is in a package per platform. */
export const claudeCode: Client = { name: "@anthropic-ai/claude-code", version: "2.1.330" }

/** The `node_modules` of a client, which is installed if needed, without install scripts. */
const install = Effect.fn("install")(function*(client: Client) {
  const path = yield* Path.Path
  const folder = path.join(yield* npm.cache("clients"), `${path.basename(client.name)}-${client.version}`)
  return yield* npm.install(folder, client, { arguments: ["--ignore-scripts"] })
}, Effect.mapError(({ message }) => new ClientError({ step: "installing a client", detail: message })))

/** The path of the Inspector's launcher for Node. */
export const inspectorMain = Effect.gen(function*() {
  const path = yield* Path.Path
  return path.join(yield* install(inspector), inspector.name, "clients", "launcher", "build", "index.js")
})

/** The path of Claude Code's program. */
export const claudeCodeMain = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const modules = yield* install(claudeCode)
  const names = [`${process.platform}-${process.arch}`, `${process.platform}-${process.arch}-musl`]
  for (const name of names) {
    const main = path.join(
      modules,
      `${claudeCode.name}-${name}`,
      process.platform === "win32" ? "claude.exe" : "claude"
    )
    if (yield* fs.exists(main)) return main
  }
  return yield* new ClientError({
    step: "installing a client",
    detail: `${claudeCode.name} has nothing for ${names[0]}`
  })
}).pipe(
  Effect.catchTag("PlatformError", ({ message }) => new ClientError({ step: "installing a client", detail: message }))
)

/** The layer for tests of a client: installs it before the first test, since that may take minutes. */
export const installed = (main: typeof inspectorMain | typeof claudeCodeMain) =>
  Layer.effectDiscard(main).pipe(Layer.provideMerge(NodeServices.layer))

/** The options of a suite of a client. */
export const options = { excludeTestServices: true, timeout: "20 minutes" } as const
