/** `pnpm test:suite pack`: the npm package, in an empty folder. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { version } from "../../../src/base/Version.ts"
import { outdated } from "../../../src/packaging/manifests.ts"
import { metadata } from "../../../src/packaging/metadata.ts"
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
})
