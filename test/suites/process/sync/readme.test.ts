/** Runs the commands of the page about workflows as code. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { main } from "../../../support/cli.ts"
import { folderWith, platform } from "../../../support/folders.ts"
import { serve } from "../../../support/HttpN8n.ts"
import { body, edit, json } from "../../../sync/workflows.ts"

const section = readFileSync(new URL("../../../../.github/docs/workflows-as-code.md", import.meta.url), "utf8")

const block = (language: string) => new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(section)?.[1] ?? ""

/** What the job runs, but for the installation. */
const steps = [...block("yaml").matchAll(/^ *- run: (.*)$/gm)].flatMap(([, step = ""]) =>
  step.startsWith("npm install") ? [] : [step.startsWith("\"") ? String(JSON.parse(step)) : step]
)

const shell = (cwd: string, env: Readonly<Record<string, string>>, script: string) =>
  Effect.callback<{ readonly code: number | null; readonly output: string }>((resume) => {
    // As GitHub runs a step.
    const child = spawn("bash", ["-e", "-o", "pipefail", "-c", script], { cwd, env })
    let output = ""
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => (output += chunk))
    }
    child.on("close", (code) => resume(Effect.succeed({ code, output })))
  })

describe("the documented repository", () => {
  it.live("is created, and its pull requests are checked, by the documented commands", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* folderWith({
        "bin/effect-n8n-mcp": `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`
      })
      yield* fs.chmod(`${folder}/bin/effect-n8n-mcp`, 0o755)
      const long = `1 // ${"long ".repeat(60)}`
      const { api, url } = yield* serve({
        workflows: ["Invoices", "Sync orders"].map((name, at) => ({ ...body(name, long), name, id: `w${at}` })),
        executions: []
      })
      const identity = { NAME: "t", EMAIL: "t@example.com" }
      const env = {
        PATH: `${folder}/bin:${process.env["PATH"]}`,
        HOME: folder,
        XDG_STATE_HOME: `${folder}/state`,
        N8N_URL: url.href,
        N8N_API_KEY: "k",
        GITHUB_BASE_REF: "main",
        ...Object.fromEntries(
          ["AUTHOR", "COMMITTER"].flatMap((who) =>
            Object.entries(identity).map(([key, value]) => [`GIT_${who}_${key}`, value])
          )
        )
      }
      const begun = yield* shell(folder, env, block("sh"))
      assert.strictEqual(begun.code, 0, begun.output)
      const repository = `${folder}/n8n`
      assert.deepStrictEqual((yield* fs.readDirectory(`${repository}/workflows`)).toSorted(), [
        ".n8n-sync.json",
        "invoices.code",
        "invoices.json",
        "sync-orders.code",
        "sync-orders.json"
      ])
      const inside = (script: string) => shell(repository, env, script)
      yield* fs.makeDirectory(`${repository}/.github/workflows`, { recursive: true })
      yield* fs.writeFileString(`${repository}/.github/workflows/n8n.yml`, block("yaml"))
      const origin =
        "git clone -q --bare . ../origin && git remote add origin ../origin && git fetch -q && git switch -q -c change"
      assert.strictEqual((yield* inside(`git add . && git commit -qm check && ${origin}`)).code, 0)

      // A pull request.
      yield* edit(`${repository}/workflows/invoices.code/code.js`, "value: 1", "value: 2")
      yield* fs.writeFileString(`${repository}/workflows/new.json`, JSON.stringify(body("New")))
      assert.strictEqual((yield* inside("git add . && git commit -qm change")).code, 0)
      assert.isAtLeast(steps.length, 4)
      const passed = yield* Effect.forEach(steps, inside)
      assert.deepStrictEqual(passed.map(({ code }) => code), steps.map(() => 0), JSON.stringify(passed))
      const output = passed.map((step) => step.output).join("")
      assert.match(output, /changed here +invoices\.json/)
      assert.match(output, /new here +new\.json/)
      assert.match(output, /parameters\.jsCode/)
      assert.match(output, /updated \(dry\) +invoices\.json/)
      assert.match(output, /created \(dry\) +new\.json/)
      assert.strictEqual((yield* api.requests).filter(({ method }) => method !== "GET").length, 0)

      // Somebody changes n8n meanwhile.
      yield* api.edit("w0", (workflow) => ({ ...workflow, name: "Invoices (hotfix)" }))
      const met = yield* inside(steps.find((step) => step.includes("--dry-run")) ?? "")
      assert.strictEqual(met.code, 2, met.output)
      yield* api.edit("w0", (workflow) => ({ ...workflow, name: "Invoices" }))

      const pushed = yield* inside("effect-n8n-mcp push workflows && git add . && git commit -qm ids")
      assert.strictEqual(pushed.code, 0, pushed.output)
      assert.isString((yield* json(`${repository}/workflows/new.json`))["id"])
      assert.strictEqual((yield* inside("effect-n8n-mcp status workflows")).output, "3 same\n")
    }).pipe(Effect.scoped, Effect.provide(platform)))
})
