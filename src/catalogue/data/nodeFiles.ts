/** Descriptions of nodes from their classes, since few community packages have a `nodes.json`. */
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { realpathSync } from "node:fs"
import type { Module } from "node:module"
import { dirname, join } from "node:path"
import { obj } from "../../base/Json.ts"

/** Time limit, longer than any package takes to load. */
const timeout = "20 seconds"

type Load = (request: string, parent: Module, isMain: boolean) => unknown

/** Script for a separate process, self-contained: instantiates nodes as n8n does, with proxies of missing modules. */
const describeInside = (require: NodeJS.Require, folder: string, files: ReadonlyArray<string>): string => {
  const path = require("node:path") as typeof import("node:path")
  const modules = require("node:module") as { _load: Load }

  const connectionType = (key: string) => key === "Main" ? "main" : `ai_${key[2]?.toLowerCase()}${key.slice(3)}`
  const connectionTypes = new Proxy({}, { get: (_, key) => connectionType(String(key)) })
  const known: Record<PropertyKey, unknown> = {
    NodeConnectionTypes: connectionTypes,
    NodeConnectionType: connectionTypes,
    VersionedNodeType: class {
      nodeVersions: unknown
      description: unknown
      constructor(nodeVersions: unknown, description: unknown) {
        this.nodeVersions = nodeVersions
        this.description = description
      }
    },
    [Symbol.toPrimitive]: () => "",
    [Symbol.iterator]: () => [].values()
  }
  const anything = (): object =>
    new Proxy(Object, {
      get: (target, key) =>
        key === "prototype" ? target.prototype : Object.hasOwn(known, key) ? known[key] : anything(),
      apply: anything
    })

  const load = modules._load
  modules._load = (...request) => {
    try {
      return load(...request)
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined
      if (code === "MODULE_NOT_FOUND" || code === "ERR_ACCESS_DENIED") return anything()
      throw error
    }
  }

  type Node = { readonly description: object; readonly nodeVersions?: Readonly<Record<string, Node>> }
  const all = files.flatMap((file) => {
    const exported = require(path.resolve(folder, file)) as Record<string, new() => Node>
    const Node = exported[path.basename(file).split(".")[0] ?? ""] ?? Object.values(exported)[0]
    if (Node === undefined) return []
    const node = new Node()
    return node.nodeVersions === undefined
      ? [node.description]
      : Object.entries(node.nodeVersions).map(([version, { description }]) => ({
        version: Number(version),
        ...description
      }))
  })
  return JSON.stringify(all)
}

// tsx wraps functions in its helper `__name`.
const code = `const __name = (it) => it
const send = process.send.bind(process)
const [folder, ...files] = process.argv.slice(1)
const end = (message) => send(message, () => process.exit())
try { end({ json: (${
  String(describeInside)
})(require, folder, files) }) } catch (error) { end({ error: String(error) }) }`

const above = (folder: string): ReadonlyArray<string> =>
  dirname(folder) === folder ? [] : [dirname(folder), ...above(dirname(folder))]

const readable = (folder: string): ReadonlyArray<string> => [
  folder,
  ...above(folder).map((each) => join(each, "node_modules"))
]

/**
 * Reads the descriptions of a package's nodes as JSON; fails with the reason.
 *
 * The package's code runs in an isolated process: environment PATH and HOME only, no stdin, no stdout (which may be an
 * MCP connection). Node's permissions allow it to read only the package and its dependencies, and neither to write
 * files nor to start processes.
 *
 * **Gotchas**
 *
 * Node's permissions do not restrict the network.
 */
export const describe = (folder: string, files: ReadonlyArray<string>): Effect.Effect<string, string> =>
  Effect.callback<string, string>((resume) => {
    const real = realpathSync(folder)
    const { HOME, PATH } = process.env
    const child = spawn(
      process.execPath,
      [
        "--permission",
        "--max-old-space-size=512",
        ...readable(real).map((path) => `--allow-fs-read=${path}`),
        "--eval",
        code,
        "--",
        real,
        ...files
      ],
      { cwd: real, env: { ...(PATH && { PATH }), ...(HOME && { HOME }) }, stdio: ["ignore", "ignore", "ignore", "ipc"] }
    )
    child.once("message", (message) => {
      const { error, json } = obj(message) ?? {}
      resume(json === undefined ? Effect.fail(String(error)) : Effect.succeed(String(json)))
    })
    child.once("error", (error) => resume(Effect.fail(String(error))))
    child.once("exit", () => resume(Effect.fail("it ended before its nodes were made")))
    return Effect.sync(() => child.kill("SIGKILL"))
  }).pipe(
    Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(`it did not load in ${timeout}`) })
  )
