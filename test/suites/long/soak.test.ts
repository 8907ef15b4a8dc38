/**
 * `pnpm test:suite long`: servers at work on stdio and HTTP, with a tenth of n8n's answers failing; memory and descriptors
 * stay what they were. `N8N_MCP_SOAK_MINUTES` is how long each works (default: 1).
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import type { Obj } from "../../../src/base/Json.ts"
import * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import { toolsets } from "../../../src/tools/index.ts"
import { serveClient } from "../../support/HttpN8n.ts"
import { bundle, installed, remove, start } from "../../support/Process.ts"
import { random as seeded } from "../../support/random.ts"
import { calls, seed, workflow, writeFiles } from "../../tools/calls.ts"

const minutes = Number(process.env["N8N_MCP_SOAK_MINUTES"] ?? 1)

beforeAll(bundle)
afterAll(remove)

interface Sample {
  readonly megabytes: number
  readonly descriptors: number
  readonly calls: number
  readonly failed: number
}

const sample = (pid: number, calls: number, failed: number): Sample => ({
  megabytes: Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024,
  descriptors: readdirSync(`/proc/${pid}/fd`).length,
  calls,
  failed
})

const median = (numbers: ReadonlyArray<number>) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

/** The shortest time between two rounds of calls, in milliseconds: others work on this machine too. */
const pace = 250

/** Calls tools by turns until the time is up and there are enough samples; a new client each hundred calls. */
const work = async (connect: () => Promise<{ readonly client: Client; readonly pid: number }>, until: number) => {
  const random = seeded(1)
  const tools = Object.entries(calls).filter(([name]) =>
    !["delete_workflow", "create_workflow", "create_workflow_from_file", "workflow_create"].includes(name) &&
    // They need other options.
    !["test_workflow", "credential_create"].includes(name)
  )
  const samples: Array<Sample> = []
  let made = 0
  let failed = 0
  let { client, pid } = await connect()
  let created: string | undefined
  for (let next = Date.now(); Date.now() < until || samples.length < 18;) {
    const pause = setTimeout(pace)
    const call = async (name: string, args: Obj) => {
      made++
      // On a busy machine a request may arrive too late: 408.
      const result = await client.callTool({ name, arguments: { ...args } }).catch((error: unknown) => {
        if ((error as { readonly code?: unknown }).code !== 408) throw error
        return { isError: true, structuredContent: undefined }
      })
      if (result.isError === true) failed++
      return result
    }
    await Promise.all(Array.from({ length: 12 }, () => {
      const [name, args] = tools[random(tools.length)] ?? ["list_workflows", {}]
      return call(name, name === "get_execution" ? { id: args["id"] } : args)
    }))
    if (created === undefined) {
      const { structuredContent } = await call("create_workflow", { ...workflow, active: false })
      created = (structuredContent as { readonly data?: { readonly id?: string } } | undefined)?.data?.id
    } else {
      await call("delete_workflow", { id: created, confirm: true })
      created = undefined
    }
    await pause
    if (made % 100 < 13) {
      const before = client
      ;({ client, pid } = await connect())
      if (before !== client) await before.close()
    }
    if (Date.now() >= next) {
      samples.push(sample(pid, made, failed))
      next += minutes * 60_000 / 60
    }
  }
  await client.close()
  return samples
}

/** Compares the last third with the one before: what comes first warms up. */
const isFlat = (name: string, samples: ReadonlyArray<Sample>) => {
  const third = Math.floor(samples.length / 3)
  const [middle, last] = [samples.slice(third, 2 * third), samples.slice(2 * third)]
  const of = (part: ReadonlyArray<Sample>, key: keyof Sample) => Math.round(median(part.map((each) => each[key])))
  process.stderr.write(
    `${name}: ${samples.at(-1)?.calls} calls (${samples.at(-1)?.failed} failed) in ${minutes} min; MB ${
      of(samples.slice(0, third), "megabytes")
    } -> ${of(middle, "megabytes")} -> ${of(last, "megabytes")}, descriptors ${
      of(samples.slice(0, third), "descriptors")
    } -> ${of(middle, "descriptors")} -> ${of(last, "descriptors")}\n`
  )
  assert.isAbove(third, 5)
  assert.isBelow(samples.at(-1)?.failed ?? Infinity, (samples.at(-1)?.calls ?? 0) / 4)
  assert.isBelow(of(last, "megabytes"), of(middle, "megabytes") * 1.2 + 10)
  assert.isAtMost(of(last, "descriptors"), of(middle, "descriptors") + 3)
}

/** An n8n of which every tenth answer fails; each few thousand requests it is a new one, so that it does not grow. */
const unreliable = Effect.gen(function*() {
  const random = seeded(2)
  const before = () =>
    Effect.sync(() =>
      random(10) === 0
        ? Response.json({ message: "slow down" }, { status: 429, headers: { "retry-after": "0" } })
        : undefined
    )
  const make = N8nApi.make(seed, { before })
  let api = yield* make
  let requests = 0
  return yield* serveClient(HttpClient.make(Effect.fnUntraced(function*(request) {
    if (++requests % 5_000 === 0) api = yield* make
    return yield* api.client.execute(request)
  })))
})

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-n8n-mcp-soak-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
).pipe(Effect.tap(writeFiles), Effect.provide(NodeServices.layer))

const environment = (url: URL, home: string) => ({
  PATH: process.env["PATH"] ?? "",
  HOME: home,
  N8N_URL: url.href,
  N8N_API_KEY: "the-key-of-this-n8n",
  XDG_STATE_HOME: join(home, ".state"),
  N8N_MCP_TOOLSETS: Object.keys(toolsets).join(),
  N8N_MCP_FILES_ROOT: home
})

const info = { name: "soak", version: "0" }

it.live("on stdio", () =>
  Effect.gen(function*() {
    const { url } = yield* unreliable
    const home = yield* folder
    const { main } = yield* installed
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [main],
      env: environment(url, home),
      stderr: "ignore"
    })
    const client = new Client(info)
    yield* Effect.promise(() => client.connect(transport))
    const samples = yield* Effect.promise(() =>
      work(() => Promise.resolve({ client, pid: transport.pid ?? 0 }), Date.now() + minutes * 60_000)
    )
    isFlat("stdio", samples)
  }).pipe(Effect.scoped), 3_600_000 * 2)

it.live("on HTTP", () =>
  Effect.gen(function*() {
    const { url } = yield* unreliable
    const home = yield* folder
    const { main } = yield* installed
    const { child, errors } = yield* Effect.acquireRelease(
      Effect.sync(() => start(["--transport", "http", "--port", "0"], environment(url, home), main)),
      ({ child }) => Effect.sync(() => void child.kill("SIGKILL"))
    )
    const address = yield* Effect.callback<string>((resume) => {
      const look = () => {
        const [, found] = /address=(\S+)/.exec(errors()) ?? []
        if (found !== undefined) resume(Effect.succeed(found))
      }
      child.stderr.on("data", look)
    })
    const samples = yield* Effect.promise(() =>
      work(async () => {
        const client = new Client(info)
        await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", address)))
        return { client, pid: child.pid ?? 0 }
      }, Date.now() + minutes * 60_000)
    )
    isFlat("HTTP", samples)
  }).pipe(Effect.scoped), 3_600_000 * 2)
