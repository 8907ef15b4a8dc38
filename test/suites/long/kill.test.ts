/**
 * `pnpm test:suite long`: a server is killed (SIGKILL) at random moments of its writes, snapshots and tests. What it leaves is
 * whole, and the next server goes on at once. `N8N_MCP_KILLS` is how often (default: 30).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { type Obj, obj } from "../../../src/base/Json.ts"
import * as TestMark from "../../../src/n8n/model/TestMark.ts"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import { succeededExecution } from "../../../src/testing/runs.ts"
import { serve } from "../../support/HttpN8n.ts"
import { bundle, installed, remove } from "../../support/Process.ts"
import { random as seeded } from "../../support/random.ts"
import { main, node } from "../../support/workflows.ts"

const kills = Number(process.env["N8N_MCP_KILLS"] ?? 30)
const file = "orders.json"

beforeAll(bundle)
afterAll(remove)

/** A state of the workflow, which says in three places which one it is; large, so that writing it takes a while. */
const state = (at: number): Obj & N8nApi.Workflow => ({
  id: "w",
  name: `state ${at}`,
  active: false,
  settings: {},
  nodes: [
    node("Start", "manualTrigger", 1, {}, { id: "t" }),
    ...["first", "last"].map((name, index) => ({
      id: name,
      name,
      type: "n8n-nodes-base.code",
      typeVersion: 2,
      position: [200 * (index + 1), 0],
      parameters: { jsCode: `// state ${at}\n${"x".repeat(200_000)}` }
    }))
  ],
  connections: {
    Start: main("first"),
    first: main("last")
  }
})

/** Which state it is, all through. */
const stateIn = (workflow: unknown): string => {
  const { name, nodes } = workflow as ReturnType<typeof state> & { readonly nodes: ReadonlyArray<unknown> }
  for (const node of nodes.slice(1)) {
    const code = String(obj(obj(node)?.["parameters"])?.["jsCode"])
    assert.strictEqual(code.length, `// ${name}\n`.length + 200_000)
    assert.isTrue(code.startsWith(`// ${name}\n`), `${name} holds ${code.slice(0, 30)}`)
  }
  return name
}

/** Paths of the snapshots of a home, also of those that were never completed. */
const snapshotsOf = (home: string) =>
  readdirSync(join(home, "state"), { recursive: true, encoding: "utf8" })
    .filter((name) => /snapshot-[^/]*$/.test(name))
    .map((name) => join(home, "state", name))

/** The workflow in a snapshot: after the line of its description, compressed. */
const workflowIn = (path: string) => {
  const body = readFileSync(path)
  return obj(JSON.parse(gunzipSync(body.subarray(body.indexOf("\n") + 1)).toString())) ?? {}
}

/** A server on stdio and its answers by id. */
const started = (main: string, url: URL, home: string) => {
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      XDG_STATE_HOME: join(home, "state"),
      N8N_URL: url.href,
      N8N_API_KEY: "the-key-of-this-n8n",
      N8N_MCP_FILES_ROOT: join(home, "files")
    },
    stdio: ["pipe", "pipe", "ignore"]
  })
  const answers = new Map<number, Obj>()
  const waiting = new Map<number, (answer: Obj) => void>()
  let rest = ""
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = `${rest}${chunk}`.split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) {
      const answer = JSON.parse(line) as Obj & { readonly id?: number }
      if (answer.id === undefined) continue
      answers.set(answer.id, answer)
      waiting.get(answer.id)?.(answer)
    }
  })
  child.stdin.on("error", () => undefined)
  let id = 0
  const send = (method: string, params: Obj) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: ++id, method, params })}\n`)
    return id
  }
  const ask = (method: string, params: Obj) =>
    Effect.callback<Obj>((resume) => {
      waiting.set(send(method, params), (answer) => resume(Effect.succeed(obj(answer["result"]) ?? answer)))
    })
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()))
  const clientInfo = { name: "kill", version: "0" }
  return {
    child,
    send: (name: string, args: Obj) => send("tools/call", { name, arguments: args }),
    call: (name: string, args: Obj) => ask("tools/call", { name, arguments: args }),
    initialize: ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo }),
    kill: Effect.promise(() => {
      child.kill("SIGKILL")
      return ended
    })
  }
}

const succeeded = (result: Obj) => {
  assert.notStrictEqual(result["isError"], true, JSON.stringify(result).slice(0, 800))
  return obj(obj(result["structuredContent"])?.["data"]) ?? {}
}

/** A home for servers. */
const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-n8n-mcp-kill-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Writes of all kinds, in an order by the seed. */
const writes = (random: (below: number) => number, from: number) =>
  Array.from({ length: 12 }, (_, at): readonly [string, Obj] => {
    const next = state(from + at)
    const { connections, name, nodes } = next
    switch (random(5)) {
      case 0:
        return ["workflow_save", { workflowId: file, filePath: file, workflowData: next }]
      case 1:
        return ["test_workflow", { workflowId: "w" }]
      case 2:
        return ["workflow_save", { workflowId: "w", filePath: file }]
    }
    return ["update_workflow", { id: "w", name, nodes, connections }]
  })

describe("a server that is killed", () => {
  it.live("leaves files, snapshots and workflows whole, and its test copies to the next", () =>
    Effect.gen(function*() {
      const { api, url } = yield* serve({ workflows: [state(0)], executions: [] }, {
        runs: (workflow) => succeededExecution({ workflow })
      })
      const home = yield* folder
      const files = join(home, "files")
      yield* Effect.sync(() => {
        for (const folder of [files, join(home, "state")]) mkdirSync(folder)
        writeFileSync(join(files, file), JSON.stringify(state(0)))
      })
      const { main } = yield* installed
      const random = seeded(7)
      const counts = { changed: 0, saved: 0, leftovers: 0, copies: 0, snapshots: 0 }
      for (let round = 0; round < kills; round++) {
        const before = { n8n: yield* api.workflows, file: readFileSync(join(files, file), "utf8") }
        const server = started(main, url, home)
        yield* server.initialize
        for (const [name, args] of writes(random, 1 + 100 * round)) server.send(name, args)
        // In the midst of work, however slow the machine is: after some requests, and a moment more.
        const asked = (yield* api.requests).length + 1 + random(20)
        yield* Effect.repeat(api.requests, {
          until: ({ length }) => length >= asked,
          schedule: Schedule.spaced("1 millis"),
          times: 10_000
        })
        yield* Effect.sleep(random(40))
        yield* server.kill

        const workflows = yield* api.workflows
        counts.copies += workflows.filter(({ name }) => TestMark.isTaken(name)).length
        const originals = workflows.filter(({ name }) => !TestMark.isTaken(name))
        assert.deepStrictEqual(originals.map(({ id }) => id), ["w"], `round ${round}`)
        const now = stateIn(originals[0])
        const was = before.n8n.find(({ id }) => id === "w")
        if (now !== was?.name) counts.changed++
        const text = readFileSync(join(files, file), "utf8")
        stateIn(JSON.parse(text))
        if (text !== before.file) counts.saved++
        const kept = snapshotsOf(home)
        const whole = kept.filter((path) => !path.endsWith(".tmp"))
        counts.leftovers += kept.length - whole.length + readdirSync(files).length - 1
        counts.snapshots = whole.length
        const states = whole.map((path) => {
          const workflow = workflowIn(path)
          return workflow["id"] === "w" ? stateIn(workflow) : ""
        })
        // What was overwritten is kept.
        if (now !== was?.name) assert.include(states, was?.name, `round ${round}`)
      }

      // The next server writes at once, whatever the others held, and clears up what has been there for a while.
      const yesterday = new Date(Date.now() - 86_400_000)
      for (const name of readdirSync(files)) utimesSync(join(files, name), yesterday, yesterday)
      const server = started(main, url, home)
      yield* server.initialize
      const last = state(9_999)
      const saved = yield* server.call("workflow_save", { workflowId: file, filePath: file, workflowData: last }).pipe(
        Effect.timeout("5 seconds")
      )
      succeeded(saved)
      assert.deepStrictEqual(readdirSync(files), [file])
      const { name, nodes } = last
      succeeded(yield* server.call("update_workflow", { id: "w", name, nodes }))
      assert.isAbove(Object.keys(succeeded(yield* server.call("workflow_history", { id: "w" }))).length, 0)
      server.send("test_workflow", { workflowId: "w" })
      const copies = Effect.map(api.workflows, (all) =>
        all.filter(({ name }) =>
          TestMark.isTaken(name) && TestMark.ownerOf(name)?.pid !== server.child.pid
        ).length)
      yield* Effect.repeat(copies, {
        until: (left) => left === 0,
        schedule: Schedule.spaced("200 millis"),
        times: 100
      })
      assert.strictEqual(yield* copies, 0)
      yield* server.kill
      process.stderr.write(`${kills} kills: ${JSON.stringify(counts)}\n`)
      // Else it was killed before or after everything.
      assert.isAbove(counts.changed, kills / 8)
      assert.isAbove(counts.saved, 0)
    }).pipe(Effect.scoped), 900_000)

  it.live("in the midst of a test leaves its copy, published, to the next test", () =>
    Effect.gen(function*() {
      let hangs = true
      const { api, url } = yield* serve({ workflows: [state(0)], executions: [] }, {
        before: ({ url }) => hangs && url.includes("/webhook/") ? Effect.never : Effect.void,
        runs: (workflow) => succeededExecution({ workflow })
      })
      const home = yield* folder
      const { main } = yield* installed
      const copies = Effect.map(api.workflows, (all) => all.filter(({ name }) => TestMark.isTaken(name)))
      for (let round = 0; round < 3; round++) {
        const server = started(main, url, home)
        yield* server.initialize
        const calls = Effect.map(api.requests, (all) => all.filter(({ url }) => url.includes("/webhook/")).length)
        const before = yield* calls
        server.send("test_workflow", { workflowId: "w" })
        yield* Effect.repeat(calls, {
          until: (count) => count > before,
          schedule: Schedule.spaced("5 millis"),
          times: 6_000
        })
        const pid = server.child.pid
        yield* server.kill
        // It has swept the copy of the one before.
        const left = yield* copies
        assert.deepStrictEqual(left.map(({ active, name }) => [TestMark.ownerOf(name)?.pid, active]), [[pid, true]])
      }
      hangs = false
      const server = started(main, url, home)
      yield* server.initialize
      const { status } = succeeded(yield* server.call("test_workflow", { workflowId: "w" }))
      assert.strictEqual(status, "success")
      assert.deepStrictEqual((yield* api.workflows).map(({ id }) => id), ["w"])
      yield* server.kill
      assert.lengthOf(snapshotsOf(home).filter((path) => TestMark.isTaken(String(workflowIn(path)["name"]))), 3)
    }).pipe(Effect.scoped), 120_000)
})
