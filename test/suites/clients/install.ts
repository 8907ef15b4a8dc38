/** Installs pinned versions of real clients once into a cache outside the repository. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import { homedir } from "node:os"
import * as processes from "../n8n/processes.ts"
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

/** Variables of the test run that would affect npm. */
const excluded = /^(NODE_ENV|NODE_OPTIONS|NODE_PATH|INIT_CWD|VITEST.*|npm_.*|pnpm_.*)$/

const environment = () =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) =>
      value === undefined || excluded.test(key) ? [] : [[key, value]]
    )
  )

const cacheRoot = Effect.map(
  Path.Path,
  (path) => path.join(process.env["XDG_CACHE_HOME"] || path.join(homedir(), ".cache"), "effect-n8n-mcp", "clients")
)

/** The `node_modules` of a client, which is installed if needed, without install scripts. */
const install = Effect.fn("install")(function*({ name, version }: Client) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.join(yield* cacheRoot, `${path.basename(name)}-${version}`)
  const modules = path.join(folder, "node_modules")
  if (yield* fs.exists(modules)) return modules
  yield* processes.say(`installing ${name} ${version} into ${folder}, once`)
  const temporary = `${folder}.installing-${process.pid}`
  yield* fs.makeDirectory(temporary, { recursive: true })
  return yield* Effect.gen(function*() {
    yield* fs.writeFileString(
      path.join(temporary, "package.json"),
      JSON.stringify({ private: true, dependencies: { [name]: version } })
    )
    yield* processes.run(
      `installing ${name} ${version}`,
      "npm",
      ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"],
      { cwd: temporary, env: environment() }
    )
    yield* fs.rename(temporary, folder).pipe(
      // Another run may have installed it first.
      Effect.catch((error) => Effect.flatMap(fs.exists(modules), (there) => there ? Effect.void : Effect.fail(error)))
    )
    return modules
  }).pipe(Effect.ensuring(Effect.ignore(fs.remove(temporary, { recursive: true, force: true }))))
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
