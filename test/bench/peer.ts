/** Installs npm's `n8n-mcp` once into a cache outside the repository. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as npm from "../support/npm.ts"
import * as processes from "../support/processes.ts"

/** The release that we compare with. */
export const version = "2.87.0"

/** The environment for the running Node's npm; if its headers are installed, the compiler need not download them. */
const environment = Effect.fn("peer.environment")(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const bin = path.dirname(yield* fs.realPath(process.execPath))
  const homes = [
    path.dirname(bin),
    path.join(path.dirname(bin), "node_modules", `node-${process.platform}-${process.arch}`)
  ]
  const withHeaders = yield* Effect.filter(homes, (home) => fs.exists(path.join(home, "include", "node", "node.h")))
  return {
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
    ...(withHeaders[0] === undefined ? {} : { npm_config_nodedir: withHeaders[0] })
  }
})

/** An installed peer. */
export interface Installed {
  /** The path of its main script. */
  readonly main: string
  /** Its SQLite module: the compiled one, or a slower fallback if that could not be built. */
  readonly sqlite: "better-sqlite3" | "sql.js"
}

/** Installs the peer unless it is installed: about a minute, once per ABI of Node. */
export const install = Effect.fn("peer.install")(function*() {
  const path = yield* Path.Path
  const folder = path.join(yield* npm.cache("peer"), `${version}-abi${process.versions.modules}`)
  const env = yield* environment()
  const modules = yield* npm.install(folder, { name: "n8n-mcp", version }, { env })
  const isCompiled = yield* processes.run(
    "loading better-sqlite3",
    process.execPath,
    ["-e", `new (require("better-sqlite3"))(":memory:")`],
    { cwd: folder, env: npm.environment(env) }
  ).pipe(Effect.isSuccess)
  return {
    main: path.join(modules, "n8n-mcp", "dist", "mcp", "stdio-wrapper.js"),
    sqlite: isCompiled ? "better-sqlite3" : "sql.js"
  } satisfies Installed
})
