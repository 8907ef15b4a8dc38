import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { folderWith, platform } from "../../../../support/folders.ts"
import { serve } from "../../../../support/HttpN8n.ts"
import { body } from "../../../../sync/workflows.ts"

const main = fileURLToPath(new URL("../../../../../src/main.ts", import.meta.url))

/** The exit status of a command whose output goes through a pipe that its reader closes. */
const runInto = Effect.fnUntraced(function*(
  reader: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
  ...args: ReadonlyArray<string>
) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.callback<void>((resume) => {
    const script = `{ "$0" "$@" 2>&1; echo $? > status; } | ${reader}`
    const child = spawn("sh", ["-c", script, process.execPath, main, ...args], {
      cwd,
      env: { PATH: process.env["PATH"], ...env },
      stdio: "ignore"
    })
    child.on("close", () => resume(Effect.void))
  })
  return Number(yield* fs.readFileString(`${cwd}/status`))
})

const secret = { id: "s", name: "Call", type: "n8n-nodes-base.httpRequest", typeVersion: 4.2, position: [0, 0] }

describe("a command whose reader closes its pipe", () => {
  for (const reader of ["head -n 1", "true"]) {
    it.live(`does all of its work and exits with its own status: ${reader}`, () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* folderWith()
        const workflows = Array.from({ length: 40 }, (_, at) => ({
          ...body(`w${at}`),
          name: `w${at}`,
          id: `w${at}`,
          // Literal secrets are reported on stderr.
          nodes: [{
            ...secret,
            parameters: { url: `https://x.test?api_key=9f86d081884c7d659a2feaa0c55ad0${at + 10}` }
          }],
          connections: {}
        }))
        const { api, url } = yield* serve({ workflows, executions: [] })
        const env = { N8N_URL: url.href, N8N_API_KEY: "k", XDG_STATE_HOME: `${folder}/state` }
        assert.strictEqual(yield* runInto(reader, folder, env, "pull", "flows"), 0)
        const names = yield* fs.readDirectory(`${folder}/flows`)
        assert.strictEqual(names.filter((name) => /^w\d+\.json$/.test(name)).length, 40)
        assert.include(names, ".n8n-sync.json")

        for (let at = 0; at < 8; at++) {
          const file = `${folder}/flows/w${at}.json`
          yield* fs.writeFileString(file, (yield* fs.readFileString(file)).replace("https://x.test", "https://y.test"))
        }
        assert.strictEqual(yield* runInto(reader, folder, env, "push", "flows"), 0)
        const pushed = (yield* api.workflows).filter((workflow) => JSON.stringify(workflow).includes("https://y.test"))
        assert.strictEqual(pushed.length, 8)

        yield* fs.writeFileString(`${folder}/flows/w9.json`, "{")
        assert.strictEqual(yield* runInto(reader, folder, env, "status", "flows"), 1)

        const others: ReadonlyArray<readonly [status: number, ...args: ReadonlyArray<string>]> = [
          [0, "workflows"],
          [0, "tools"],
          [0, "help", "options"],
          [1, "why"],
          [1, "call", "get_workflow", "{\"id\": \"nope\"}"]
        ]
        const statuses = yield* Effect.forEach(others, ([, ...args]) => runInto(reader, folder, env, ...args))
        assert.deepStrictEqual(statuses, others.map(([status]) => status))
      }).pipe(Effect.scoped, Effect.provide(platform)), 300_000)
  }
})
