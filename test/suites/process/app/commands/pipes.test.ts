import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { spawn } from "node:child_process"
import { main } from "../../../../support/cli.ts"
import { folderWith, platform } from "../../../../support/folders.ts"
import { serve } from "../../../../support/HttpN8n.ts"
import { execution } from "../../../../support/scenarios/recorded.ts"
import { body } from "../../../../sync/workflows.ts"

/** Runs a command by a shell script, in which it is `"$0" "$@"` and leaves its exit status in a file. */
const shell = Effect.fnUntraced(function*(
  script: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
  ...args: ReadonlyArray<string>
) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.callback<void>((resume) => {
    const child = spawn("sh", ["-c", script, process.execPath, main, ...args], {
      cwd,
      env: { PATH: process.env["PATH"], ...env },
      stdio: "ignore"
    })
    child.on("close", () => resume(Effect.void))
  })
  return Number(yield* fs.readFileString(`${cwd}/status`))
})

/** The exit status of a command whose output goes through a pipe that its reader closes. */
const runInto = (reader: string, cwd: string, env: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  shell(`{ "$0" "$@" 2>&1; echo $? > status; } | ${reader}`, cwd, env, ...args)

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

        assert.strictEqual(yield* runInto(reader, folder, env, "tools"), 0)
        assert.strictEqual(yield* runInto(reader, folder, env, "call", "get_workflow", "{\"id\": \"nope\"}"), 1)
      }).pipe(Effect.scoped, Effect.provide(platform)), 300_000)
  }
})

/** Loaded into the command: the reader starts when a stream holds what the pipe did not take, at the latest at the end. */
const signal = `
import { writeFileSync } from "node:fs"
let isSent = false
const send = () => {
  if (!isSent) writeFileSync("reader", "go\\n")
  isSent = true
}
for (const stream of [process.stdout, process.stderr]) {
  const { write } = stream
  stream.write = function(...args) {
    const isTaken = write.apply(this, args)
    if (this.writableLength > 0) send()
    return isTaken
  }
}
process.on("exit", send)
`

/** Script of a command whose pipe is read only when it is full, and then a little at a time. */
const late = (output: string) =>
  `mkfifo reader; { NODE_OPTIONS="--import ./signal.mjs" "$0" "$@" ${output}; echo $? > status; } |
    { read -r go < reader; dd bs=4096 of=piped 2> log; }; rm reader`

describe("a command that prints more than a pipe holds", () => {
  it.live(
    "prints all of it to a reader that comes late and is slow, and exits with its own status",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const nodes = Array.from({ length: 8 }, (_, at) => ({
          ...secret,
          id: `n${at}`,
          name: `Call number ${at} of the interface of the supplier of parts`,
          parameters: { url: `https://x.test/${at}?api_key=9f86d081884c7d659a2feaa0c55ad0${at + 10}` }
        }))
        const workflows = Array.from({ length: 240 }, (_, at) => ({
          ...body(`w${at}`),
          id: `w${at}`,
          name: `w${at} ${"long ".repeat(150)}`,
          nodes,
          connections: {}
        }))
        const executions = Array.from({ length: 500 }, (_, at) => ({
          ...execution("fail"),
          id: String(at + 1),
          workflowId: "w1"
        }))
        const folder = yield* folderWith({
          "signal.mjs": signal,
          ...Object.fromEntries(workflows.map((workflow) => [`flows/${workflow.id}.json`, JSON.stringify(workflow)]))
        })
        const { url } = yield* serve({ workflows, executions })
        const env = { N8N_URL: url.href, N8N_API_KEY: "k", XDG_STATE_HOME: `${folder}/state` }
        const commands: ReadonlyArray<readonly [output: string, ...args: ReadonlyArray<string>]> = [
          ["", "check", "flows", "--format", "json"],
          ["", "tools", "--json", "--toolsets", "all"],
          ["", "call", "list_workflows", "{\"limit\": 100, \"raw\": true}", "--max-result-chars", "1000000"],
          ["", "executions", "--limit", "500", "--json"],
          ["", "map"],
          // Literal secrets are reported on stderr.
          ["2>&1 >/dev/null", "pull", "new", "--dry-run"]
        ]
        for (const [output, ...args] of commands) {
          const what = args.join(" ")
          const status = yield* shell(`{ "$0" "$@" ${output}; echo $? > status; } > whole`, folder, env, ...args)
          const whole = yield* fs.readFileString(`${folder}/whole`)
          assert.isAbove(whole.length, 70_000, what)
          assert.strictEqual(yield* shell(late(output), folder, env, ...args), status, what)
          // Times and durations may differ.
          assert.approximately((yield* fs.readFileString(`${folder}/piped`)).length, whole.length, 9, what)
        }
      }).pipe(Effect.scoped, Effect.provide(platform)),
    300_000
  )
})

const requests = Array.from({ length: 30 }, (_, id) => ({ jsonrpc: "2.0", id, method: "tools/list", params: {} }))

/** Loaded into the server: its time after the end of stdin is over, and its reader starts, when all is answered. */
const outOfTime = `
import { writeFileSync } from "node:fs"
const { setTimeout: later } = globalThis
const { write } = process.stdout
let ends = []
let lines = 0
let isSent = false
const send = () => {
  if (!isSent) writeFileSync("reader", "go\\n")
  isSent = true
}
process.on("exit", send)
const end = () => {
  for (const each of ends.splice(0)) each()
  send()
}
const check = () => lines === ${requests.length + 1} && ends.length > 0 && setImmediate(end)
process.stdout.write = function(...args) {
  const isTaken = write.apply(this, args)
  lines += String(args[0]).split("\\n").length - 1
  check()
  return isTaken
}
globalThis.setTimeout = (run, milliseconds, ...args) => {
  if (milliseconds !== 3000) return later(run, milliseconds, ...args)
  ends.push(run)
  check()
  return { unref() {} }
}
`

describe("a server whose client has closed stdin and reads slowly", () => {
  it.live("gives it all answers, although its time is over", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const initialize = {
        jsonrpc: "2.0",
        id: "first",
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "0" } }
      }
      const folder = yield* folderWith({
        "signal.mjs": outOfTime,
        requests: [initialize, ...requests].map((each) => `${JSON.stringify(each)}\n`).join("")
      })
      assert.strictEqual(yield* shell(late("< requests"), folder, {}, "--demo"), 0)
      const answers = (yield* fs.readFileString(`${folder}/piped`)).trimEnd().split("\n").map((line) =>
        JSON.parse(line)
      )
      assert.deepStrictEqual(answers.map(({ id }) => id), ["first", ...requests.map(({ id }) => id)])
    }).pipe(Effect.scoped, Effect.provide(platform)), 60_000)
})
