/** `pnpm test:suite pack`: the npm packages, in an empty folder. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { version } from "../../../src/base/Version.ts"
import { outdated } from "../../../src/packaging/manifests.ts"
import { metadata, root } from "../../../src/packaging/metadata.ts"
import * as tools from "../../../src/tools/index.ts"
import { command, inFolder, run, talk, tarball } from "./artifacts.ts"

const filesOf = (tarball: string) =>
  run("tar", ["tzf", tarball], root).trim().split("\n").map((file) => file.replace("package/", ""))

describe("the packages", () => {
  it("has one version", () => {
    assert.strictEqual(metadata.version, version)
    assert.deepStrictEqual(outdated(), [])
  })

  it("has a library of less than 4.2 MB, with its sources and without the command", () => {
    assert.isBelow(statSync(tarball).size, 4_200_000)
    const files = filesOf(tarball)
    assert.sameMembers(
      files.filter((file) => !/^dist\/.*\.(js|d\.ts)(\.map)?$|^dist\/examples\/|^src\/.*\.(ts|json|md)$/.test(file)),
      [
        "AGENTS.md",
        "LICENSE",
        "README.md",
        "package.json",
        ".claude-plugin/skills/n8n/SKILL.md",
        "dist/NOTICES.md",
        "dist/nodes.data",
        "dist/nodes.data.LICENSE.md",
        "dist/picture.html"
      ]
    )
    assert.deepStrictEqual(files.filter((file) => /^(dist|src)\/(plugin|packaging|demo|src|main)/.test(file)), [])
  })

  it("has a command of less than 2.7 MB, without the library", () => {
    assert.isBelow(statSync(command).size, 2_700_000)
    assert.sameMembers(filesOf(command).filter((file) => !/^dist\/main(-[\w-]+)?\.js$/.test(file)), [
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
    ])
  })

  it("starts without dependencies to install", () =>
    inFolder(async (folder) => {
      run("tar", ["xzf", command], folder)
      const packed = JSON.parse(readFileSync(join(folder, "package", "package.json"), "utf8"))
      assert.isUndefined(packed.dependencies)
      const main = join(folder, "package", "dist", "main.js")
      const told = await talk({ command: process.execPath, args: [main, "--demo"], cwd: folder })
      assert.strictEqual(told.version, version)
      assert.deepStrictEqual(told.tools, tools.standard.map(({ name }) => name))
      assert.include(JSON.stringify(told.content), "Upsert CRM contact")
    }))
})
