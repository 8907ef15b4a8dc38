/** Pulls and pushes that are killed (SIGKILL) at random moments. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Services from "../../src/app/Services.ts"
import { arr, type Obj, obj } from "../../src/base/Json.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import * as Sync from "../../src/sync/Sync.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { folderWith } from "../support/folders.ts"
import { serve } from "../support/HttpN8n.ts"
import { random as seeded } from "../support/random.ts"
import { node } from "../support/workflows.ts"

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

const workflows = 12

const code = (state: string) => `// ${state}\n${"work()\n".repeat(3_000)}// ${state}\n`

/** A workflow that says in four places which state it is in. */
const body = (name: string, state: string) => ({
  name,
  nodes: ["First", "Second"].map((each) => node(each, "code", 2, { jsCode: code(state) }, { id: `${name} ${each}` })),
  connections: {},
  settings: { timezone: "UTC" }
})

/** The one state that a workflow is in. */
const stateOf = (workflow: unknown) => {
  const codes = arr(obj(workflow)?.["nodes"]).map((node) => String(obj(obj(node)?.["parameters"])?.["jsCode"]))
  const state = /^\/\/ (.*)\n/.exec(codes[0] ?? "")?.[1] ?? ""
  assert.deepStrictEqual(codes, [code(state), code(state)], `${String(obj(workflow)?.["name"])} is in two states`)
  return state
}

/** Runs a command and kills it once n8n got so many requests, and a moment later. */
const killed = Effect.fnUntraced(function*(
  api: N8nApi.N8nApi,
  command: { readonly args: ReadonlyArray<string>; readonly cwd: string; readonly env: Record<string, string> },
  requests: number,
  pause: number
) {
  const before = (yield* api.requests).length
  const child = spawn(process.execPath, [main, ...command.args], {
    cwd: command.cwd,
    env: { PATH: process.env["PATH"] ?? "", ...command.env },
    stdio: "ignore"
  })
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()))
  yield* Effect.repeat(api.requests, {
    until: ({ length }) => length >= before + requests || child.exitCode !== null,
    schedule: Schedule.spaced("1 millis"),
    times: 60_000
  })
  yield* Effect.sleep(pause)
  const isKilled = child.exitCode === null
  child.kill("SIGKILL")
  yield* Effect.promise(() => ended)
  return isKilled
})

/** Kills so many; fails unless what each leaves is whole, and what comes after it loses and repeats nothing. */
export const killing = (kills: number) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* folderWith({ "flows/.keep": "" })
    const names = Array.from({ length: workflows }, (_, at) => `w${at}`)
    const { api, url } = yield* serve({
      workflows: names.map((name) => ({ ...body(name, "0"), id: name })),
      executions: []
    })
    const run = Effect.provide(Layer.merge(
      N8nClient.layer({ url, apiKey: Redacted.make("k") }).pipe(Layer.provide(FetchHttpClient.layer)),
      Services.layer({ filesRoots: [`${folder}/flows`], stateFolder: `${folder}/state` })
    ))
    const env = { N8N_URL: url.href, N8N_API_KEY: "k", XDG_STATE_HOME: `${folder}/home` }
    const random = seeded(11)
    const file = (name: string, node = "first") => `${folder}/flows/${name}.code/${node}.js`
    const change = (name: string, state: string) =>
      Effect.forEach(["first", "second"], (node) =>
        fs.writeFileString(`${folder}/flows/${name}.code/${node}.js`, code(state)))
    yield* Sync.pull(".", { splitsCode: true }).pipe(run)
    assert.isTrue(yield* fs.exists(file("w0")))
    let interrupted = 0
    const all = [...names]
    for (let round = 1; round <= kills; round++) {
      // Half of them change here, half there, and one is new here.
      const there = names.filter((_, at) =>
        at % 2 === round % 2
      )
      const here = names.filter((name) => !there.includes(name))
      const state = String(round)
      const created = `new${round}`
      yield* Effect.forEach(there, (name) => api.edit(name, (workflow) => ({ ...workflow, ...body(name, state) })))
      yield* Effect.forEach(here, (name) => change(name, state))
      const more: Obj = { description: "what for", tags: [{ name: "t" }] }
      yield* fs.writeFileString(`${folder}/flows/${created}.json`, JSON.stringify({ ...body(created, state), ...more }))
      all.push(created)
      const isPull = round % 2 === 1
      const isKilled = yield* killed(
        api,
        { args: [isPull ? "pull" : "push", "flows"], cwd: folder, env },
        isPull ? 3 + random(workflows / 2 + 2) : 3 + random(workflows * 3),
        random(60)
      )
      if (isKilled) interrupted++

      // A file of code may be new where another is old: a conflict, and the only one.
      const status = yield* Sync.status(".").pipe(run)
      const torn = yield* Effect.filter(
        status.entries.filter((entry) => entry.status === "both"),
        ({ name }) =>
          Effect.map(
            Effect.forEach(["first", "second"], (node) => fs.readFileString(file(name, node))),
            ([first, second]) => isPull && first !== second
          )
      )
      const bad = status.entries.filter((entry) => entry.status === "both" || entry.status === "invalid")
      assert.deepStrictEqual(bad, torn, `round ${round}`)
      if (torn.length > 0) {
        yield* Sync.pull(".", { only: torn.flatMap(({ id }) => id ?? []), resolve: "there" }).pipe(run)
      }
      for (const workflow of yield* api.workflows) stateOf(workflow)
      const pulled = yield* Sync.pull(".").pipe(run)
      const pushed = yield* Sync.push(".").pipe(run)
      const errors = [...pulled.entries, ...pushed.entries].filter(({ error }) => error !== undefined)
      assert.deepStrictEqual(errors, [], `round ${round}`)
      assert.isTrue((yield* Sync.status(".").pipe(run)).isSame, `round ${round}`)
      const now = yield* api.workflows
      assert.deepStrictEqual(now.map(({ name }) => name).toSorted(), all.toSorted(), `round ${round}`)
      for (const workflow of now) {
        const { name } = workflow
        assert.strictEqual(stateOf(workflow), name.startsWith("new") ? name.slice(3) : state, `round ${round}, ${name}`)
        assert.strictEqual(yield* fs.readFileString(file(name)), code(stateOf(workflow)))
      }
      const made = now.find(({ name }) => name === created)
      assert.deepStrictEqual(made?.tags?.map(({ name }) => name), ["t"], `round ${round}`)
      assert.strictEqual(made?.["description"], "what for", `round ${round}`)
    }
    return interrupted
  })
