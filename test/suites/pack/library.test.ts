/** The packed library in another app: its types, its modules, its maps, and what is built with it. */
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import {
  copyFileSync,
  cpSync,
  globSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join, resolve } from "node:path"
import { createContext, runInContext } from "node:vm"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { text } from "../../../src/packaging/agents.ts"
import { metadata, root } from "../../../src/packaging/metadata.ts"
import { codeOf, sizes, uses } from "../../support/consumer.ts"
import { inFolder, run, tarball } from "./artifacts.ts"

const bin = (name: string) => join(root, "node_modules/.bin", name)

const app = mkdtempSync(join(tmpdir(), "effect-n8n-mcp-app-"))
const installed = join(app, "node_modules", metadata.name)

beforeAll(() => {
  writeFileSync(join(app, "package.json"), JSON.stringify({ type: "module", private: true }))
  run("npm", ["install", "--no-audit", "--no-fund", tarball, "effect@4.1.0"], app)
})

afterAll(() => rmSync(app, { recursive: true, force: true }))

/** What a module of the app prints, as JSON. */
const told = (code: string, ...options: ReadonlyArray<string>) => {
  writeFileSync(join(app, "told.js"), code)
  // A program may log before its last line.
  return JSON.parse(run(process.execPath, [...options, "told.js"], app).trim().split("\n").at(-1) ?? "")
}

describe("the library", () => {
  it("is published as Node, bundlers and TypeScript expect it, for ESM", async () => {
    const bytes = readFileSync(tarball)
    const { messages, pkg } = await publint({ pack: { tarball: new Uint8Array(bytes).buffer }, strict: true })
    assert.deepStrictEqual(messages.map((message) => formatMessage(message, pkg)), [])
    const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(bytes)), {
      excludeEntrypoints: ["./nodes.data", "./picture.html"]
    })
    if (!analysis.types) return assert.fail("there are no types")
    // `effect` is ESM as well: neither Node 10 nor `require` of CommonJS are served.
    const unserved: ReadonlySet<string> = new Set(["node10", "node16-cjs"])
    const problems = analysis.problems.filter((problem) =>
      !("resolutionKind" in problem && unserved.has(problem.resolutionKind))
    )
    assert.deepStrictEqual(problems, [])
    assert.isAbove(Object.keys(analysis.entrypoints).length, 20)
  })

  it("has an entry for each module of its index", () => {
    const index = readFileSync(join(root, "src/index.ts"), "utf8")
    const { exports: published } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"))
    const compiled = (file: string | null) => file?.replace("./src/", "./dist/").replace(/\.ts$/, ".js") ?? null
    assert.deepStrictEqual(
      published,
      Object.fromEntries(Object.entries(metadata.exports).map(([name, file]) => [name, compiled(file)]))
    )
    for (const [, name = "", file = ""] of index.matchAll(/^export \* as (\w+) from "(.*)"$/gm)) {
      const entry = file.startsWith("./tools/") ? metadata.exports["./tools/*"] : metadata.exports[`./${name}`]
      assert.strictEqual(entry?.replace("*", basename(file, ".ts")).replace("./src/", "./"), file)
    }
  })

  it("has maps that lead to sources which are in it", () => {
    const maps = globSync("dist/**/*.map", { cwd: installed })
    assert.isAbove(maps.length, 300)
    for (const map of maps) {
      const { sources } = JSON.parse(readFileSync(join(installed, map), "utf8")) as { sources: ReadonlyArray<string> }
      for (const source of sources) {
        const file = resolve(installed, dirname(map), source)
        assert.isAbove(readFileSync(file, "utf8").length, 0, `${map}: ${source}`)
      }
    }
    const stack: string = told(
      `import { Tool } from "effect-n8n-mcp"
try { Tool.make({ name: "x", get input() { throw new Error("here") } }) } catch (error) {
  console.log(JSON.stringify(error.stack))
}`,
      "--enable-source-maps"
    )
    const [, file = "", line = ""] = /\/(src\/answer\/Tool\.ts):(\d+)/.exec(stack) ?? []
    const source = readFileSync(join(installed, file), "utf8").split("\n").slice(Number(line) - 1, Number(line) + 1)
    assert.include(source.join("\n"), "input", stack)
  })

  it("loads with one module neither another tool nor the SDK, parser, search or catalogue", () => {
    const loaded = (entry: string): { own: ReadonlyArray<string>; files: ReadonlyArray<string> } =>
      told(`import * as fs from "node:fs"
import { registerHooks } from "node:module"
const urls = []
registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) })
await import(${JSON.stringify(entry)})
console.log(JSON.stringify({
  own: urls.filter((url) => url.includes("/effect-n8n-mcp/dist/")).map((url) => url.replace(/.*\\/dist\\//, "")),
  files: urls.map((url) => url.replace(/.*node_modules\\//, ""))
}))`)
    const sourcesOf = (own: ReadonlyArray<string>) =>
      // Modules of data have no source map.
      own.filter((file) => !file.startsWith("vendor/") && !/\.(?:json|md)\.js$/.test(file)).flatMap((file) => {
        const { sources } = JSON.parse(readFileSync(join(installed, "dist", `${file}.map`), "utf8")) as {
          sources: ReadonlyArray<string>
        }
        return sources.map((source) => join("dist", dirname(file), source))
      })
    const size = (own: ReadonlyArray<string>) =>
      own.reduce((sum, file) => sum + readFileSync(join(installed, "dist", file)).length, 0)
    const entries = ["", "/domain", "/N8nClient", "/Redact", "/testing", "/tools/executions/getExecution"] as const
    const byEntry = new Map(entries.map((entry) => [entry, loaded(`effect-n8n-mcp${entry}`)]))
    for (const [entry, { files, own }] of byEntry) {
      assert.deepStrictEqual(files.filter((file) => file.startsWith("@modelcontextprotocol/")), [], entry)
      const text = own.map((file) => readFileSync(join(installed, "dist", file), "utf8")).join("\n")
      // Bundled, in modules of their own that are loaded when they are needed.
      for (const heavy of ["class RE2JS", "class Parser", "class MiniSearch", "class StdioServerTransport"]) {
        assert.notInclude(text, heavy, `${entry}: ${heavy}`)
      }
    }
    const toolsIn = (entry: typeof entries[number]) =>
      sourcesOf(byEntry.get(entry)?.own ?? []).filter((source) =>
        /^src\/tools\/(?!shared)[a-z]+\/\w+\.ts$/.test(source)
      )
    assert.deepStrictEqual(toolsIn("/tools/executions/getExecution"), ["src/tools/executions/getExecution.ts"])
    for (const entry of ["/domain", "/N8nClient", "/Redact"] as const) assert.deepStrictEqual(toolsIn(entry), [])
    const bytes = (entry: typeof entries[number]) => size(byEntry.get(entry)?.own ?? [])
    assert.isBelow(bytes("/Redact"), 40_000)
    assert.isBelow(bytes("/N8nClient"), 180_000)
    assert.isBelow(bytes("/tools/executions/getExecution"), 600_000)
    assert.isBelow(bytes(""), 2_200_000)
  })

  it.each(uses)("costs a bundle at most $most kB for { $name } of '$from'", async (use) => {
    const { atOnce, whole } = await sizes(app, codeOf(use))
    assert.isAtMost(Math.min(atOnce, whole) / 1000, use.most)
  })

  it("names the package that is missing without its peer", () =>
    inFolder((folder) => {
      cpSync(installed, join(folder, "node_modules", metadata.name), { recursive: true })
      writeFileSync(join(folder, "app.mjs"), `import "effect-n8n-mcp"`)
      assert.throws(
        () => run(process.execPath, ["app.mjs"], folder),
        /Cannot find package 'effect' imported from .*effect-n8n-mcp/
      )
    }))

  it("has types that need no more than the declared peers; other modules are closed", () => {
    const entries = ["", "/domain", "/mcp", "/testing", "/tools", "/tools/executions/getExecution"]
    const code = entries.map((entry, at) => `export * as e${at} from "${metadata.name}${entry}"\n`).join("")
    writeFileSync(join(app, "entries.ts"), code)
    const options =
      "--noEmit --strict --skipLibCheck false --target ES2024 --lib ES2024,DOM,DOM.Iterable --module nodenext"
    run(bin("tsc"), [...options.split(" "), "--types", "", "entries.ts"], app)
    const inner = told(
      `console.log(JSON.stringify(await import("${metadata.name}/tools/shared/Links").catch(({ code }) => code)))`
    )
    assert.strictEqual(inner, "ERR_PACKAGE_PATH_NOT_EXPORTED")
  })

  it("has a page for agents, with modules and examples that exist", () => {
    const page = readFileSync(join(installed, "AGENTS.md"), "utf8")
    assert.strictEqual(page, text)
    assert.isBelow(page.length, 6_000)
    for (const [, folder, names = ""] of page.matchAll(/^- `\/(tools\/\w+)\/…`: (.*)$/gm)) {
      for (const [, name] of names.matchAll(/`(\w+)`/g)) {
        assert.include(readFileSync(join(installed, `dist/${folder}/${name}.js`), "utf8"), `  ${name}\n`)
      }
    }
    const named = [...page.matchAll(/\]\((dist\/examples\/.*?)\)/g)].map(([, file]) => file ?? "")
    assert.deepStrictEqual(named.toSorted(), globSync("dist/examples/*", { cwd: installed }).toSorted())
  })

  it("tags every export of its declarations with its stability", () => {
    const texts = globSync("dist/**/*.d.ts", { cwd: installed })
      .map((file) => [file, readFileSync(join(installed, file), "utf8")] as const)
    const untagged = texts.flatMap(([file, text]) =>
      [...text.matchAll(/^\/\*\*((?:(?!\*\/)[^])*)\*\/\nexport (?:declare|interface|type) .*/gm)]
        .filter(([, comment]) => !/^ \* @stability (un)?stable$/m.test(comment ?? "")).map(([code]) =>
          `${file}: ${code}`
        )
    )
    assert.deepStrictEqual(untagged, [])
    const client = texts.find(([file]) => file === "dist/n8n/N8nClient.d.ts")?.[1]
    assert.include(client, "@stability stable")
    const types = statSync(join(installed, "dist/tools/index.d.ts")).size
    assert.isBelow(types, 15_000)
  })

  const tasks = globSync("test/suites/pack/tasks/*.ts", { cwd: root }).toSorted()

  it("is enough for what its users build: types with no more than the declared peers", () => {
    assert.isAtLeast(tasks.length, 10)
    for (const task of tasks) copyFileSync(join(installed, "dist/examples", basename(task)), join(app, basename(task)))
    const more = ["@types/node@24.9.1", "@effect/platform-node@4.1.0"]
    run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", ...more], app)
    const options = "--noEmit --strict --exactOptionalPropertyTypes --skipLibCheck false --target ES2024 " +
      "--lib ES2024,DOM,DOM.Iterable --module nodenext --types node"
    run(bin("tsc"), [...options.split(" "), ...tasks.map((task) => basename(task))], app)
  })

  it("has types that the declarations of its users can name", () => {
    writeFileSync(
      join(app, "declared.ts"),
      `import { type Errors, N8nClient, tools } from "effect-n8n-mcp"
export const hintOf = (error: Errors.N8nError) => error.hint
export const all = tools.all
export const why = tools.getExecution.call({ id: "1" })
export const workflow = N8nClient.N8nClient.use((n8n) => n8n.getWorkflow("1"))
`
    )
    const options = "--declaration --emitDeclarationOnly --strict --exactOptionalPropertyTypes --target ES2024 " +
      "--module nodenext --rootDir . --outDir types"
    run(bin("tsc"), [...options.split(" "), "declared.ts"], app)
    const declared = readFileSync(join(app, "types/declared.d.ts"), "utf8")
    assert.match(declared, /const why: .*\.Effect<[^<>]*\.GetExecutionData, /)
    const types = readFileSync(join(installed, "dist/tools/executions/getExecution.d.ts"), "utf8")
    assert.match(types, /const getExecution: Tool\.Tool<"get_execution", GetExecutionInput, GetExecutionOutput, /)
    // Editors show it at each argument of `call`.
    assert.include(types, "    /** From list_executions. */\n    readonly id: Schema.decodeTo<Schema.NonEmptyString, ")
    assert.match(declared, /const workflow: .*\.Effect<N8nClient\.Workflow, /)
    assert.match(declared, /const hintOf: \(error: Errors\.N8nError\) => (?:[^|]*\.)?Hint \| undefined;/)
  })

  it("does the tasks", () => {
    const results: ReadonlyArray<{ task: string; actual: unknown; expected: unknown }> = told(
      `import * as Effect from "effect/Effect"
const results = []
for (const task of ${JSON.stringify(tasks.map((task) => basename(task)))}) {
  const { expected, test } = await import("./" + task)
  results.push({ task, expected, actual: await Effect.runPromise(test).catch(String) })
}
console.log(JSON.stringify(results))`
    )
    assert.lengthOf(results, tasks.length)
    for (const { actual, expected, task } of results) assert.deepStrictEqual(actual, expected, task)
  })

  it.each(["browser", "neutral"])(
    "lists workflows from a bundle for the platform %s, without Node",
    async (platform) => {
      writeFileSync(
        join(app, "edge.js"),
        `import { layer, N8nClient } from "effect-n8n-mcp/N8nClient"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
const n8n = layer({ url: new URL("https://n8n.example"), apiKey: Redacted.make("key") })
globalThis.names = Effect.runPromise(N8nClient.use((n8n) => Effect.map(
  n8n.listWorkflows({}), ({ workflows }) => [n8n.instance.key, ...workflows.map(({ name }) => name)]
)).pipe(Effect.provide(Layer.provide(n8n, FetchHttpClient.layer))))`
      )
      run(bin("esbuild"), ["edge.js", "--bundle", `--platform=${platform}`, "--format=iife", "--outfile=out.js"], app)
      const web = { AbortController, clearTimeout, Headers, performance, Request, Response, setTimeout }
      const text = { TextDecoder, TextEncoder, URL, URLSearchParams }
      const workflow = { id: "1", name: "Orders", active: false, nodes: [], connections: {} }
      const fetch = () => Promise.resolve(Response.json({ data: [workflow], nextCursor: null }))
      const context = createContext({ ...web, ...text, crypto, console, fetch, queueMicrotask, ReadableStream })
      runInContext(readFileSync(join(app, "out.js"), "utf8"), context)
      assert.deepStrictEqual([...await context["names"]], ["https://n8n.example/#2c70e12b7a0646f9", "Orders"])
    }
  )

  it("does the page's task in a bundle for browsers", () => {
    const options = ["--bundle", "--platform=browser", "--format=esm", "--outfile=page.js"]
    run(bin("esbuild"), ["page.ts", ...options], app)
    const result: { actual: unknown; expected: unknown } = told(`import { expected, test } from "./page.js"
import * as Effect from "effect/Effect"
console.log(JSON.stringify({ actual: await Effect.runPromise(test), expected }))`)
    assert.deepStrictEqual(result.actual, result.expected)
  })

  it("runs with its tools from a bundle for CommonJS, esbuild's default for Node", () => {
    writeFileSync(
      join(app, "common.js"),
      `import { Services, tools } from "effect-n8n-mcp"
import { FakeN8n } from "effect-n8n-mcp/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
const services = Layer.merge(FakeN8n.layer(), Services.layerMemory)
Effect.runPromise(tools.nodeGet.call({ type: "slack" }).pipe(Effect.provide(services)))
  .then(({ type }) => console.log(JSON.stringify([tools.all.length, type])))`
    )
    run(bin("esbuild"), ["common.js", "--bundle", "--platform=node", "--outfile=out/common.cjs"], app)
    const result = JSON.parse(run(process.execPath, ["out/common.cjs"], app))
    assert.deepStrictEqual(result, [46, "n8n-nodes-base.slack"])
  })

  it("finds its catalogue from an app's bundle: in the package, next to the bundle, or at a given path", () => {
    const code = (options: string) =>
      `import { NodeCatalogue } from "effect-n8n-mcp"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Layer from "effect/Layer"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
const files = Layer.merge(NodeFileSystem.layer, Path.layer)
const release = NodeCatalogue.NodeCatalogue.use(({ release }) => release)
console.log(JSON.stringify(await Effect.runPromise(release.pipe(
  Effect.catch(({ message }) => Effect.succeed(message)),
  Effect.provide(NodeCatalogue.layer(${options}).pipe(Layer.provide(files)))
))))`
    const bundle = (options: string, outfile: string) => {
      writeFileSync(join(app, "catalogue.js"), code(options))
      const platform = [
        "--bundle",
        "--platform=node",
        "--format=esm",
        "--banner:js=import{createRequire}from'node:module';const require=createRequire(import.meta.url);"
      ]
      run(bin("esbuild"), ["catalogue.js", ...platform, `--outfile=${outfile}`], app)
    }
    const release = (file: string) => JSON.parse(run(process.execPath, [file], dirname(file)))
    const inApp = join(app, "out", "bundle.js")
    bundle("", inApp)
    assert.match(release(inApp), /^2\.\d+\.\d+$/)

    const away = mkdtempSync(join(tmpdir(), "effect-n8n-mcp-away-"))
    try {
      const alone = join(away, "bundle.mjs")
      bundle("", alone)
      assert.include(release(alone), "The node catalogue cannot be read")
      writeFileSync(join(away, "nodes.data"), readFileSync(join(installed, "dist/nodes.data")))
      assert.match(release(alone), /^2\.\d+\.\d+$/)
      renameSync(join(away, "nodes.data"), join(away, "other.data"))
      bundle(`{ dataFile: ${JSON.stringify(join(away, "other.data"))} }`, alone)
      assert.match(release(alone), /^2\.\d+\.\d+$/)
    } finally {
      rmSync(away, { recursive: true, force: true })
    }
  })
})
