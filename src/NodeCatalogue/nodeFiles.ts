/** What the nodes of a package say of themselves when they are made: few community packages carry a `nodes.json`. */
import * as Effect from "effect/Effect"
import type { Module } from "node:module"
import { Worker } from "node:worker_threads"

/** Longer than any package takes to load. */
const timeout = "20 seconds"

type Load = (request: string, parent: Module, isMain: boolean) => unknown

/**
 * Runs in a thread of its own, as text: it may use nothing from outside.
 *
 * **Details**
 *
 * Makes each node as n8n does. What is not installed, `n8n-workflow` above all, which n8n lends its packages, is stood
 * in for by something that has every name; of that only the names of connection types and versioned nodes matter here.
 */
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
      if (error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND") return anything()
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

// tsx names functions by a helper of its own.
const code = `const __name = (it) => it
const { parentPort, workerData: { folder, files } } = require("node:worker_threads")
parentPort.postMessage((${String(describeInside)})(require, folder, files))
process.exit()`

/** The descriptions of a package's nodes, as JSON; fails with what went wrong. */
export const describe = (folder: string, files: ReadonlyArray<string>): Effect.Effect<string, string> =>
  Effect.callback<string, string>((resume) => {
    // Nothing of ours is lent to it: not the environment with its key, and not stdout.
    const worker = new Worker(code, { eval: true, workerData: { folder, files }, env: {}, stdout: true, stderr: true })
    worker.once("message", (json) => resume(Effect.succeed(String(json))))
    worker.once("error", (error) => resume(Effect.fail(String(error))))
    worker.once("exit", () => resume(Effect.fail("it ended before its nodes were made")))
    return Effect.promise(() => worker.terminate())
  }).pipe(
    Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(`it did not load in ${timeout}`) })
  )
