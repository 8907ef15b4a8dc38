/**
 * Installs n8n from the npm registry once into a folder outside the repository.
 *
 * **Details**
 *
 * The folder is `N8N_TEST_CACHE`, or else `effect-n8n-mcp/n8n` under `XDG_CACHE_HOME` or `~/.cache`. An installation is
 * made in a temporary folder and renamed when complete, so that an interrupted or concurrent one does no harm.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Schedule from "effect/Schedule"
import * as npm from "../../support/npm.ts"
import * as processes from "../../support/processes.ts"
import { RealN8nError } from "./RealN8nError.ts"

/** Requirements of a release: the Node majors it runs on, and overrides for dependencies that npm cannot resolve. */
interface Recipe {
  readonly node: { readonly min: readonly [major: number, minor: number]; readonly maxMajor: number }
  readonly overrides: Readonly<Record<string, string>>
}

const node24: Recipe["node"] = { min: [24, 0], maxMajor: 24 }

// cssomnom is missing from the registry, and n8n refers to xlsx by URL.
const overrides = { cssomnom: "npm:rrweb-cssom@0.8.0", xlsx: "0.18.5" }

// Before 2.30 n8n pins LangChain's core, but not these, whose later versions need a later core.
const checkpoint = { "@langchain/langgraph-checkpoint": "1.0.0" }
const langgraph = { ...checkpoint, "@langchain/langgraph": "1.0.2" }

const recipeOf = (version: string): Recipe => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  if (major < 2) return { node: { min: [20, 19], maxMajor: 24 }, overrides: { ...overrides, ...checkpoint } }
  return { node: node24, overrides: minor < 30 ? { ...overrides, ...langgraph } : overrides }
}

/** A Node, and the folder of its headers if known. */
interface Node {
  readonly bin: string
  readonly headers: string | undefined
}

/** An installed n8n and the Node that runs it. */
export interface Installed {
  readonly node: string
  readonly bin: string
}

const cacheRoot = Effect.gen(function*() {
  const path = yield* Path.Path
  const explicit = process.env["N8N_TEST_CACHE"]
  return explicit ? path.resolve(explicit) : yield* npm.cache("n8n")
})

/** Node 24 with headers from the npm package of this platform, which needs no install script. */
const npmNode = Effect.fn("npmNode")(function*(root: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const name = `node-${process.platform}-${process.arch}`
  const folder = path.join(root, "node24")
  const home = path.join(folder, "node_modules", name)
  const bin = path.join(home, "bin", "node")
  if (!(yield* fs.exists(path.join(folder, ".ready")))) {
    yield* processes.say("installing Node 24 for n8n")
    yield* fs.makeDirectory(folder, { recursive: true })
    yield* fs.writeFileString(path.join(folder, "package.json"), `{"private":true}`)
    yield* processes.run(
      "installing Node 24",
      "npm",
      ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", `${name}@24`],
      { cwd: folder, env: npm.environment({}) }
    )
    yield* fs.writeFileString(path.join(folder, ".ready"), "")
  }
  return { bin, headers: home } satisfies Node
})

/** The running Node if the release supports it, with its headers if they are installed. */
const runningNode = Effect.fn("runningNode")(function*(recipe: Recipe) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  const { maxMajor, min } = recipe.node
  if (major < min[0] || (major === min[0] && minor < min[1]) || major > maxMajor) return Option.none<Node>()
  const bin = yield* fs.realPath(process.execPath)
  const prefix = path.dirname(path.dirname(bin))
  for (const home of [prefix, path.join(prefix, "node_modules", `node-${process.platform}-${process.arch}`)]) {
    if (yield* fs.exists(path.join(home, "include", "node", "node.h"))) return Option.some<Node>({ bin, headers: home })
  }
  return Option.some<Node>({ bin, headers: undefined })
})

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Removes a folder if possible; a leftover has a unique name and does no harm. */
const discard = (folder: string) =>
  Effect.ignore(FileSystem.FileSystem.use((fs) => fs.remove(folder, { recursive: true, force: true })))

/** Waits for another process that installs this version, and removes the leftovers of processes that have ended. */
const settleOthers = Effect.fn("settleOthers")(function*(root: string, version: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (const name of yield* fs.readDirectory(root)) {
    const [, of, pid] = /^(.+)\.installing-(\d+)$/.exec(name) ?? []
    if (of !== version) continue
    const folder = path.join(root, name)
    if (Number(pid) === process.pid || !isAlive(Number(pid))) yield* discard(folder)
    else yield* fs.exists(folder).pipe(Effect.repeat({ schedule: Schedule.spaced("1 second"), while: Boolean }))
  }
})

const installInto = Effect.fn("installInto")(function*(folder: string, version: string, node: Node) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const env = npm.environment({
    PATH: `${path.dirname(node.bin)}:${process.env["PATH"] ?? ""}`,
    ...(node.headers === undefined ? {} : { npm_config_nodedir: node.headers })
  })
  yield* fs.makeDirectory(folder, { recursive: true })
  yield* fs.writeFileString(
    path.join(folder, "package.json"),
    JSON.stringify({ private: true, dependencies: { n8n: version } })
  )
  // JSON is valid YAML.
  yield* fs.writeFileString(
    path.join(folder, "pnpm-workspace.yaml"),
    JSON.stringify({ overrides: recipeOf(version).overrides, allowBuilds: { sqlite3: true } })
  )
  yield* processes.run("installing n8n", "npx", ["-y", "pnpm@12", "install", "--ignore-scripts"], { cwd: folder, env })

  const step = "compiling sqlite3"
  const store = path.join(folder, "node_modules", ".pnpm")
  const name = (yield* fs.readDirectory(store)).find((entry) => entry.startsWith("sqlite3@"))
  if (name === undefined) return yield* new RealN8nError({ step, detail: `not found in ${store}` })
  const sqlite3 = path.join(store, name, "node_modules", "sqlite3")
  yield* processes.run(step, "npm", ["run", "install", "--foreground-scripts"], { cwd: sqlite3, env }).pipe(
    // sqlite3's node-gyp is too old for Python 3.12.
    Effect.catchTag(
      "ProcessError",
      () => processes.run(step, "npx", ["-y", "node-gyp@11", "rebuild"], { cwd: sqlite3, env })
    )
  )
  yield* processes.run(step, node.bin, ["-e", `require(".")`], { cwd: sqlite3, env })
  yield* fs.writeFileString(path.join(folder, ".ready"), "")
})

/**
 * Returns an installed n8n of a version, and installs it if needed.
 *
 * **Gotchas**
 *
 * The first time takes about 3 minutes, most of it compiling sqlite3, and needs python3, make and g++.
 */
export const install = Effect.fn("install")(function*(version: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = yield* cacheRoot
  const folder = path.join(root, version)
  const ready = fs.exists(path.join(folder, ".ready"))
  const running = yield* runningNode(recipeOf(version))

  if (!(yield* ready)) {
    yield* fs.makeDirectory(root, { recursive: true })
    yield* settleOthers(root, version)
  }
  if (!(yield* ready)) {
    yield* processes.say(`installing n8n ${version} into ${folder}, about 3 minutes, once`)
    const node = Option.isSome(running) && running.value.headers !== undefined ? running.value : yield* npmNode(root)
    const temporary = path.join(root, `${version}.installing-${process.pid}`)
    yield* installInto(temporary, version, node).pipe(
      Effect.onError(() => discard(temporary))
    )
    // A folder without a marker is incomplete.
    if (!(yield* ready)) yield* discard(folder)
    yield* fs.rename(temporary, folder).pipe(
      // Another process may have installed it first.
      Effect.catch((error) => Effect.flatMap(ready, (there) => there ? discard(temporary) : Effect.fail(error)))
    )
  }
  const node = Option.isSome(running) ? running.value : yield* npmNode(root)
  return { node: node.bin, bin: path.join(folder, "node_modules", "n8n", "bin", "n8n") } satisfies Installed
})
