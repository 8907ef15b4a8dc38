/** `pnpm test:pack`: what npm would publish, in an empty folder. */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { version } from "../../src/version.ts"

const root = new URL("../../", import.meta.url).pathname
const run = (command: string, args: ReadonlyArray<string>, cwd: string) =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })

describe("the package", () => {
  it("has one version", () => {
    assert.strictEqual(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version, version)
  })

  it(
    "packs to less than 3 MB, starts with nothing installed, and composes in another app",
    { timeout: 300_000 },
    () => {
      const folder = mkdtempSync(join(tmpdir(), "effect-n8n-mcp-pack-"))
      try {
        run("pnpm", ["pack", "--pack-destination", folder], root)
        const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? ""
        assert.isBelow(statSync(join(folder, tarball)).size, 3_000_000)

        run("tar", ["xzf", tarball], folder)
        const main = join(folder, "package", "dist", "main.js")
        const answer = run(process.execPath, [main, "--demo", "call", "get_execution", "{\"id\":\"239\"}"], folder)
        assert.include(answer, "Upsert CRM contact")
        for (const file of ["index.js", "index.d.ts", "testing/index.js", "testing/index.d.ts", "N8nClient.d.ts"]) {
          assert.isTrue(existsSync(join(folder, "package", "dist", file)), file)
        }

        const app = join(folder, "package", "dist")
        assert.notInclude(readdirSync(app), "src")
        writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }))
        run("npm", ["install", "--no-audit", "--no-fund", `./${tarball}`, "effect@4.1.0"], folder)
        writeFileSync(
          join(folder, "app.js"),
          `import { Executions, tools } from "effect-n8n-mcp"
import { FakeN8n } from "effect-n8n-mcp/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
const n8n = Layer.merge(FakeN8n.layer({ workflows: [], executions: [] }), Executions.layer())
const { count } = await Effect.runPromise(
  tools.listWorkflows.call({ limit: 5, offset: 0, raw: false }).pipe(Effect.provide(n8n))
)
console.log("count", count)
`
        )
        assert.strictEqual(run(process.execPath, ["app.js"], folder).trim(), "count 0")
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    }
  )
})
