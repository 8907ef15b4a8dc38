/** `pnpm test:suite pack`: the npm package, in an empty folder. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { version } from "../../../src/base/Version.ts"
import { outdated } from "../../../src/packaging/manifests.ts"
import { metadata, root } from "../../../src/packaging/metadata.ts"
import * as tools from "../../../src/tools/index.ts"
import { inFolder, run, talk, tarball } from "./artifacts.ts"

describe("the package", () => {
  it("has one version", () => {
    assert.strictEqual(metadata.version, version)
    assert.deepStrictEqual(outdated(), [])
  })

  it("is less than 5.2 MB and contains only what is needed to run, and the library's sources", () =>
    inFolder((folder) => {
      assert.isBelow(statSync(tarball).size, 5_200_000)
      const files = run("tar", ["tzf", tarball], folder).trim().split("\n").map((file) => file.replace("package/", ""))
      assert.sameMembers(
        files.filter((file) => !/^dist\/.*\.(js|d\.ts)(\.map)?$|^dist\/examples\/|^src\/.*\.(ts|json|md)$/.test(file)),
        [
          "AGENTS.md",
          "LICENSE",
          "README.md",
          "package.json",
          ".claude-plugin/plugin.json",
          ".claude-plugin/marketplace.json",
          ".claude-plugin/skills/n8n/SKILL.md",
          "dist/NOTICES.md",
          "dist/nodes.data",
          "dist/nodes.data.LICENSE.md",
          "dist/picture.html",
          "dist/start.json"
        ]
      )
      assert.deepStrictEqual(
        files.filter((file) => /^(dist|src)\/(plugin|packaging|demo|src|main.*map)/.test(file)),
        []
      )
    }))

  it("starts without dependencies to install", () =>
    inFolder(async (folder) => {
      run("tar", ["xzf", tarball], folder)
      const packed = JSON.parse(readFileSync(join(folder, "package", "package.json"), "utf8"))
      assert.isUndefined(packed.dependencies)
      const main = join(folder, "package", "dist", "main.js")
      const told = await talk({ command: process.execPath, args: [main, "--demo"], cwd: folder })
      assert.strictEqual(told.version, version)
      assert.deepStrictEqual(told.tools, tools.standard.map(({ name }) => name))
      assert.include(JSON.stringify(told.content), "Upsert CRM contact")
    }))

  it("works as a library in another app and provides its command", { timeout: 300_000 }, () =>
    inFolder((folder) => {
      writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }))
      run("npm", ["install", "--no-audit", "--no-fund", tarball, "effect@4.1.0"], folder)
      const installed = join(folder, "node_modules", metadata.name, "dist")
      for (const file of ["index.js", "index.d.ts", "testing/index.js", "testing/index.d.ts", "n8n/N8nClient.d.ts"]) {
        assert.isTrue(existsSync(join(installed, file)), file)
      }
      assert.include(run("node_modules/.bin/effect-n8n-mcp", ["--version"], folder), version)
      writeFileSync(
        join(folder, "app.js"),
        `import { Executions, tools } from "effect-n8n-mcp"
import { FakeN8n } from "effect-n8n-mcp/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
const n8n = Layer.merge(FakeN8n.layer({ workflows: [], executions: [] }), Executions.layer())
const { count } = await Effect.runPromise(
  tools.listWorkflows.call({ limit: 5, offset: 0 }).pipe(Effect.provide(n8n))
)
console.log("count", count)
`
      )
      assert.strictEqual(run(process.execPath, ["app.js"], folder).trim(), "count 0")
    }))

  it(
    "has types that need no more than the declared peers, and a domain for browsers",
    { timeout: 300_000 },
    () =>
      inFolder((folder) => {
        writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }))
        run("npm", ["install", "--no-audit", "--no-fund", tarball, "effect@4.1.0"], folder)
        writeFileSync(
          join(folder, "app.ts"),
          `export * as all from "effect-n8n-mcp"
export * as domain from "effect-n8n-mcp/domain"
export * as mcp from "effect-n8n-mcp/mcp"
export * as testing from "effect-n8n-mcp/testing"
export * as tools from "effect-n8n-mcp/tools"
export * as one from "effect-n8n-mcp/tools/executions/getExecution"
`
        )
        const bin = join(root, "node_modules/.bin")
        const options =
          "--noEmit --strict --skipLibCheck false --target ES2024 --lib ES2024,DOM,DOM.Iterable --module nodenext"
        run(join(bin, "tsc"), [...options.split(" "), "--types", "", "app.ts"], folder)
        run("node", [
          "--input-type=module",
          "-e",
          `
        await import("effect-n8n-mcp/mcp")
        const inner = await import("effect-n8n-mcp/tools/shared/Links").catch(({ code }) => code)
        if (inner !== "ERR_PACKAGE_PATH_NOT_EXPORTED") throw new Error(inner)
      `
        ], folder)
        writeFileSync(join(folder, "page.js"), `import * as domain from "effect-n8n-mcp/domain"\nconsole.log(domain)\n`)
        run(
          join(bin, "esbuild"),
          ["page.js", "--bundle", "--platform=browser", "--format=esm", "--outfile=out.js"],
          folder
        )
      })
  )
})
