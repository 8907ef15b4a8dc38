/** Every way to start a package, on versions of Node that are too old. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { metadata, root } from "../../../src/packaging/metadata.ts"
import * as npm from "../../support/npm.ts"
import { bundle, command, inFolder, run } from "./artifacts.ts"

/** The program of a version of Node. */
const nodeOf = Effect.fn(function*(version: string) {
  const path = yield* Path.Path
  const folder = path.join(yield* npm.cache("node"), version)
  return path.join(yield* npm.install(folder, { name: "node", version }), "node", "bin", "node")
}, Effect.provide(NodeServices.layer))

const [, needed = ""] = />=(\d+\.\d+)/.exec(metadata.engines.node) ?? []

describe.each(["12.22.12", "22.12.0"])("Node %s", (version) => {
  it(
    "is refused, with a way on, by the package, its bin, the bundle and the plugin",
    { timeout: 300_000 },
    async () => {
      const node = await Effect.runPromise(nodeOf(version))
      await inFolder((folder) => {
        run("tar", ["xzf", command], folder)
        run("unzip", ["-q", bundle, "-d", "extension"], folder)
        const bin = JSON.parse(readFileSync(join(folder, "package", "package.json"), "utf8")).bin[metadata.name]
        const starts = [
          join(folder, "package", bin),
          join(folder, "extension/server/main.js"),
          `${root}dist/plugin/dist/main.js`
        ]
        for (const main of starts) {
          for (const args of [[], ["--transport", "http"], ["doctor"]]) {
            const { status, stderr, stdout } = spawnSync(node, [main, ...args], { encoding: "utf8", input: "" })
            assert.deepStrictEqual({ status, stderr, stdout }, {
              status: 1,
              stderr:
                `effect-n8n-mcp needs Node ${needed} or later, but this is Node ${version} at ${node}. Run it with npx -y -p node@24 node ${main}, or install Node 24.\n`,
              stdout: ""
            }, `${main} ${args.join(" ")}`)
          }
        }
      })
    }
  )
})
