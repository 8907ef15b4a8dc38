/** The other installable packages: their manifests are valid and match package.json and the tools, and they start. */
import { getMcpConfigForManifest } from "@anthropic-ai/mcpb"
import { assert, describe, it } from "@effect/vitest"
import { Ajv } from "ajv"
import { execFileSync } from "node:child_process"
import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs"
import { basename, join } from "node:path"
import { declarations } from "../../../src/app/config/Declarations.ts"
import { bundleManifest, pluginManifest } from "../../../src/packaging/manifests.ts"
import { commandPackage, metadata, root } from "../../../src/packaging/metadata.ts"
import * as tools from "../../../src/tools/index.ts"
import { bundle, command, inFolder, printed, read, readJson, run, talk, tarball } from "./artifacts.ts"

const names: ReadonlySet<string> = new Set(tools.all.map(({ name }) => name))
const mcpb = join(root, "node_modules/.bin/mcpb")

describe("server.json", () => {
  it("is valid and matches package.json", () => {
    const entry = readJson("dist/server.json")
    const ajv = new Ajv({ strict: false, validateFormats: false })
    const validate = ajv.compile(readJson("test/suites/pack/server.schema.json"))
    assert.isTrue(validate(entry), ajv.errorsText(validate.errors))
    assert.strictEqual(entry.name, metadata.mcpName)
    assert.strictEqual(entry.description, metadata.description)
    const [npm] = entry.packages
    assert.deepStrictEqual([entry.version, npm.version, npm.identifier], [
      metadata.version,
      metadata.version,
      commandPackage
    ])
  })

  it("requires the address and the key, which is secret, as a database's address is", () => {
    const variables: ReadonlyArray<{ name: string; isRequired?: boolean; isSecret?: boolean }> =
      readJson("dist/server.json").packages[0].environmentVariables
    const marked = (mark: "isRequired" | "isSecret") =>
      variables.filter((each) => each[mark] === true).map(({ name }) => name)
    assert.deepStrictEqual(marked("isRequired"), ["N8N_URL", "N8N_API_KEY"])
    assert.deepStrictEqual(marked("isSecret"), ["N8N_API_KEY", "N8N_MCP_STATE"])
    const options = read(".github/docs/options.md")
    for (const { name } of variables) assert.include(options, `\`${name}\``)
  })
})

describe("the .mcpb bundle", () => {
  it("is valid and starts as a host starts it", () =>
    inFolder(async (folder) => {
      assert.isBelow(statSync(bundle).size, 3_000_000)
      run(mcpb, ["unpack", bundle, folder], root)
      assert.include(run(mcpb, ["validate", join(folder, "manifest.json")], root), "passes")
      assert.deepStrictEqual(readdirSync(folder).toSorted(), [
        "LICENSE",
        "README.md",
        "icon.png",
        "manifest.json",
        "screenshot.png",
        "server"
      ])

      const config = await getMcpConfigForManifest({
        manifest: { ...bundleManifest, keywords: [...bundleManifest.keywords] } as never,
        extensionPath: folder,
        systemDirs: { DOCUMENTS: folder },
        userConfig: { n8n_url: "http://127.0.0.1:9", api_key: "key", read_only: true, files_root: folder },
        pathSeparator: "/"
      })
      if (config === undefined) throw new Error("The manifest gives no server")
      assert.deepStrictEqual(config.env, {
        N8N_URL: "http://127.0.0.1:9",
        N8N_API_KEY: "key",
        N8N_MCP_READ_ONLY: "true",
        N8N_MCP_FILES_ROOT: folder
      })
      const told = await talk({
        command: process.execPath,
        args: [...config.args ?? [], "--demo"],
        env: config.env ?? {},
        cwd: folder
      })
      assert.strictEqual(told.version, metadata.version)
      assert.notInclude(told.tools, "update_workflow")
      assert.include(JSON.stringify(told.content), "Upsert CRM contact")
    }))
})

describe("the Claude Code plugin", () => {
  it("matches package.json and the options", () => {
    const plain = JSON.parse(JSON.stringify(pluginManifest))
    assert.deepStrictEqual(readJson(".claude-plugin/plugin.json"), plain)
    assert.deepStrictEqual(readJson("dist/plugin/.claude-plugin/plugin.json"), plain)
    assert.strictEqual(readJson("dist/plugin/.claude-plugin/marketplace.json").plugins[0].source, "./")
  })

  it("contains the server", async () => {
    const plugin = join(root, "dist/plugin")
    const [argument = ""] = pluginManifest.mcpServers["n8n"]?.args ?? []
    const main = argument.replace("${CLAUDE_PLUGIN_ROOT}", plugin)
    const told = await talk({ command: process.execPath, args: [main, "--demo"], cwd: plugin })
    assert.strictEqual(told.version, metadata.version)
  })

  it("has a short skill that names existing tools", () => {
    const skill = read(".claude-plugin/skills/n8n/SKILL.md")
    assert.isAtMost(skill.split("\n").length, 60)
    assert.match(skill, /^---\nname: n8n\ndescription: .{20,}\n---\n/)
    const named = [...skill.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, name]) => name ?? "")
    assert.isAbove(named.length, 10)
    assert.deepStrictEqual(named.filter((name) => !names.has(name)), [])
  })
})

describe("pnpm package", () => {
  it("leaves the program of the last build in place until it has another", () =>
    assert.isAtMost(Number(/^absent: (\d+)$/m.exec(readFileSync(printed, "utf8"))?.[1]), 1))

  it("prints a line for each artefact", () => {
    const lines = readFileSync(printed, "utf8").split("\n").filter((line) => line.startsWith("dist/"))
    assert.deepStrictEqual(lines.map((line) => line.replace(/ {2}[\d.]+ [kM]B$/, "")), [
      `dist/${basename(tarball)}`,
      "dist/server.json",
      `dist/${basename(bundle)}`,
      "dist/plugin",
      `dist/${basename(command)}`
    ])
    assert.isBelow(readFileSync(printed, "utf8").split("\n").length, 20)
  })
})

/** Copies what a COPY names, as Docker does: the contents of a folder, or files. */
const copyAs = (from: string, line: string, into: (target: string) => string) => {
  const parts = line.split(" ").filter((part) => !part.startsWith("--"))
  const target = into(parts.at(-1) ?? "")
  mkdirSync(target, { recursive: true })
  for (const part of parts.slice(0, -1)) {
    const files = globSync(part.replace(/^\/app\//, ""), { cwd: from })
    assert.isNotEmpty(files, `COPY ${line}`)
    for (const file of files) {
      const isFolder = statSync(join(from, file)).isDirectory()
      cpSync(join(from, file), isFolder ? target : join(target, basename(file)), { recursive: true })
    }
  }
}

describe("the image", () => {
  it(
    "is built of what its stages copy, starts, answers and draws",
    { timeout: 120_000 },
    () =>
      inFolder(async (folder) => {
        const [first = "", second = ""] = read(".docker/Dockerfile").split(/^FROM .*$/m).slice(1)
        const linesOf = (stage: string, word: string) =>
          [...stage.matchAll(new RegExp(`^${word} (.*)$`, "gm"))].map(([, line = ""]) => line)
        const [build, image] = [join(folder, "build"), join(folder, "image")]
        for (const line of linesOf(first, "COPY")) copyAs(root, line, (target) => join(build, target))
        symlinkSync(join(root, "node_modules"), join(build, "node_modules"))
        const { scripts } = JSON.parse(readFileSync(join(build, "package.json"), "utf8"))
        for (const line of linesOf(first, "RUN")) {
          const [, script] = /^pnpm ([a-z]+)$/.exec(line) ?? []
          if (script === undefined) {
            assert.match(line, /^(npm install --global pnpm@[\d.]+|pnpm install --frozen-lockfile)$/)
          } else run("sh", ["-c", scripts[script]], build)
        }
        for (const line of linesOf(second, "COPY")) {
          copyAs(line.startsWith("--from=build") ? build : root, line, (target) => join(image, target))
        }
        const app = join(image, "app")
        for (const file of ["LICENSE", "healthy.mjs", "NOTICES.md", "nodes.data.LICENSE.md", "start.json"]) {
          assert.isTrue(statSync(join(app, file)).isFile(), file)
        }
        const [entry = ""] = linesOf(second, "ENTRYPOINT")
        const [, main = ""] = JSON.parse(entry)
        const server = join(image, main)
        const { content } = await talk({ command: process.execPath, args: [server, "--demo"], cwd: folder })
        assert.include(JSON.stringify(content), "Upsert CRM contact")
        const page = join(folder, "run.html")
        run(process.execPath, [server, "--demo", "picture", "cR5mSyNc9bVh4KqE", "--out", page], folder)
        assert.include(readFileSync(page, "utf8"), "<svg")
      })
  )

  it("sets variables that the server knows, and so does the composition of several", () => {
    const known = new Set(Object.values(declarations).map(({ variable }) => variable))
    const files = { Dockerfile: read(".docker/Dockerfile"), compose: read(".docker/compose.yaml") }
    for (const [name, text] of Object.entries(files)) {
      const variables = [...text.matchAll(/\bN8N_\w+/g)].map(([variable]) => variable)
      assert.isNotEmpty(variables)
      for (const variable of variables) assert.isTrue(known.has(variable), `${name}: ${variable}`)
    }
    const [, command = ""] = /^ {2}command: (.*)$/m.exec(files.compose) ?? []
    const [, context = ""] = /dockerfile: (\S+)/.exec(files.compose) ?? []
    assert.isTrue(statSync(join(root, context)).isFile())
    const help = execFileSync(process.execPath, [join(root, "dist/main.js"), ...JSON.parse(command), "--version"], {
      encoding: "utf8"
    })
    assert.include(help, metadata.version)
  })
})

describe("the workflows and the image", () => {
  it("run the one check", () => {
    assert.match(read(".github/workflows/check.yml"), /^ +- run: \.ci\/run$/m)
    assert.include(read(".github/workflows/release.yml"), "uses: ./.github/workflows/check.yml")
  })

  it("copy existing files", () => {
    const dockerfile = read(".docker/Dockerfile")
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, files = ""]) => files.split(" "))
    const sent = read(".dockerignore")
    for (const file of copied) {
      assert.isTrue(statSync(join(root, file)).size > 0, file)
      assert.include(sent, `!${file}\n`)
    }
  })
})
