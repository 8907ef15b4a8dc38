/** Installs npm's `n8n-mcp` once into a cache outside the repository. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { homedir } from "node:os"
import * as processes from "../suites/n8n/processes.ts"

/** The release that we compare with. */
export const version = "2.87.0"

const cacheRoot = Effect.map(
  Path.Path,
  (path) => path.join(process.env["XDG_CACHE_HOME"] || path.join(homedir(), ".cache"), "effect-n8n-mcp", "peer")
)

/** Variables of `pnpm bench` that would affect npm. */
const excluded = /^(NODE_ENV|NODE_OPTIONS|NODE_PATH|INIT_CWD|npm_.*|pnpm_.*)$/

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
    ...Object.fromEntries(
      Object.entries(process.env).flatMap(([key, value]) =>
        value === undefined || excluded.test(key) ? [] : [[key, value]]
      )
    ),
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
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.join(yield* cacheRoot, `${version}-abi${process.versions.modules}`)
  const modules = path.join(folder, "node_modules")
  if (!(yield* fs.exists(modules))) {
    yield* processes.say(`installing n8n-mcp ${version} into ${folder}, about a minute, once`)
    const temporary = `${folder}.installing-${process.pid}`
    yield* fs.makeDirectory(temporary, { recursive: true })
    yield* Effect.gen(function*() {
      yield* fs.writeFileString(
        path.join(temporary, "package.json"),
        JSON.stringify({ private: true, dependencies: { "n8n-mcp": version } })
      )
      yield* processes.run(
        `installing n8n-mcp ${version}`,
        "npm",
        ["install", "--no-audit", "--no-fund", "--loglevel=error"],
        { cwd: temporary, env: yield* environment() }
      )
      yield* fs.rename(temporary, folder).pipe(
        // Another run may have installed it first.
        Effect.catch((error) => Effect.flatMap(fs.exists(modules), (there) => there ? Effect.void : Effect.fail(error)))
      )
    }).pipe(Effect.ensuring(Effect.ignore(fs.remove(temporary, { recursive: true, force: true }))))
  }
  const isCompiled = yield* processes.run(
    "loading better-sqlite3",
    process.execPath,
    ["-e", `new (require("better-sqlite3"))(":memory:")`],
    { cwd: folder, env: yield* environment() }
  ).pipe(Effect.isSuccess)
  return {
    main: path.join(modules, "n8n-mcp", "dist", "mcp", "stdio-wrapper.js"),
    sqlite: isCompiled ? "better-sqlite3" : "sql.js"
  } satisfies Installed
})
