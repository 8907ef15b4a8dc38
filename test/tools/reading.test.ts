/** Reading never writes: neither to n8n, nor to files, nor to what is kept of either. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Demo from "../../src/demo/Demo.ts"
import * as McpServer from "../../src/mcp/McpServer.ts"
import * as tools from "../../src/tools/index.ts"
import { inWorld } from "../support/world.ts"
import { calls } from "./reading.ts"
import { draft, versioned } from "./workflows.ts"

/** Every file in and below the folders, with when it was written and what it holds. */
const everyFile = Effect.fnUntraced(function*(folders: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Effect.forEach(
    folders,
    (folder) =>
      Effect.map(fs.readDirectory(folder, { recursive: true }), (names) => names.map((name) => `${folder}/${name}`))
  )
  // The plan of a dry run is stored, so that it can be applied.
  const all = paths.flat().filter((path) => !/[\\/]plans([\\/]|$)/.test(path)).toSorted()
  return yield* Effect.forEach(all, (path) =>
    Effect.gen(function*() {
      const { mtime, type } = yield* fs.stat(path)
      return [path, mtime, type === "File" ? yield* fs.readFileString(path) : type]
    }))
})

/** What n8n 1 has not. */
const only2 = new Set(["credential_test", "table_read"])

describe("no tool that reads writes", () => {
  for (const version of ["2", "1"] as const) {
    it.effect(`on n8n ${version}`, () =>
      inWorld(
        ({ api, folder, state }) =>
          Effect.gen(function*() {
            const { id, snapshots, versions } = yield* versioned
            const { workflowId: file } = yield* draft()
            const { versions: ofFile } = yield* tools.workflowHistory.call({ id: file, limit: 5 })
            const all = calls({
              id,
              versions: version === "2" ? [...versions, ...snapshots] : snapshots,
              file,
              fileVersion: ofFile[0]?.version ?? "",
              executionId: "239",
              credentialId: "c1",
              nodes: ["Fetch customers", "Agreed to marketing?"]
            })
            const look = Effect.all([api.workflows, everyFile([folder, state])])
            const before = yield* look
            const { length } = yield* api.requests
            for (const [name, each] of Object.entries(all)) {
              const tool = McpServer.find(tools.all, name)
              if (tool === undefined) return assert.fail(`there is no ${name}`)
              // What is asked wrongly must not write, either.
              const exits = yield* Effect.forEach(each, (args) => Effect.exit(tool.run(args)))
              assert.strictEqual(exits.some(Exit.isSuccess), version === "2" || !only2.has(name), name)
              assert.deepStrictEqual(yield* look, before, name)
            }
            const sent = (yield* api.requests).slice(length)
              // These look, for all that they are called by POST.
              .filter(({ url }) => !/\/(audit|test)$/.test(url)).map(({ method }) => method)
            assert.deepStrictEqual([...new Set(sent)], ["GET"])
          }),
        {
          version,
          seed: {
            ...Demo.seed,
            projects: [{ id: "p1", name: "Mine", type: "personal" }],
            credentials: [{ id: "c1", name: "Key", type: "httpHeaderAuth" }]
          }
        }
      ))
  }
})
