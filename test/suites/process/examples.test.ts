/** Examples of docstrings and pages: code compiled and run as an app's modules, commands run on the demo. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { blocks as blocksOf, commandsIn, pages, read, type Shown } from "../../support/documents.ts"
import { folderWith, platform } from "../../support/folders.ts"
import { runAt } from "../../support/inProcess.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** Inside of the package, so that it is imported by its name. */
const folder = join(root, "coverage/examples")

const blocks = (text: string) => [...text.matchAll(/```ts\n([^]*?)```/g)].map(([, code = ""]) => code)

const ofSource = globSync("src/**/*.ts", { cwd: root }).toSorted().flatMap((file) => {
  const text = readFileSync(join(root, file), "utf8").replace(/^ *\* ?/gm, "")
  return blocks(text).map((code, index) => ({ name: `${file.replace(/\W/g, "_")}_${index}`, code }))
})

/** Each block of a page is a module of its own. */
const ofPages = ["README.md", ...globSync(".github/docs/**/*.md", { cwd: root })].flatMap((page) =>
  blocks(readFileSync(join(root, page), "utf8")).map((code, index) => ({
    name: `${page.replace(/\W/g, "_")}_${index}`,
    code
  }))
)

const run = (command: string, ...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(command, args, { cwd: folder, encoding: "utf8" })
  assert.strictEqual(status, 0, `${stdout}${stderr}`)
  return stdout
}

/** Loads each example, and runs what it exports as a `test`. */
const runner = `
import * as Effect from "effect/Effect"
for (const name of process.argv.slice(2)) {
  const { test } = await import("./" + name + ".ts")
  console.log(name, test === undefined ? "" : JSON.stringify(await Effect.runPromise(test)))
}
`

describe("examples", () => {
  it("compile, load, and do what they say", { timeout: 180_000 }, () => {
    assert.isAtLeast(ofSource.length, 7)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    for (const { code, name } of [...ofSource, ...ofPages]) writeFileSync(join(folder, `${name}.ts`), code)
    writeFileSync(join(folder, "run.ts"), runner)
    const config = {
      extends: "../../tsconfig.json",
      include: ["*.ts"],
      exclude: [],
      compilerOptions: { rootDir: "../..", noUnusedLocals: false }
    }
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config))
    run(join(root, "node_modules/.bin/tsc"), "--noEmit", "--project", ".")
    const told = run(process.execPath, "run.ts", ...ofSource.map(({ name }) => name))
    const results = new Map(
      told.trim().split("\n").map((line) => {
        const [name = "", ...result] = line.split(" ")
        return [name, result.join(" ")]
      })
    )
    assert.deepInclude(Object.fromEntries(results), {
      src_answer_Tool_ts_0: "1",
      src_answer_Tool_ts_1: "\"Nothing is deleted at night\"",
      src_domain_ts_0: JSON.stringify({
        changes: "name",
        shareable: { id: "1", name: "Orders (old)", active: false, nodes: [], connections: {} }
      }),
      src_mcp_McpServer_ts_2: JSON.stringify({ status: "ok", name: "our-app", version: "1.2.0" }),
      src_n8n_executions_ts_0: "[]",
      src_workflows_store_WorkflowStore_ts_0: "\"Orders (old)\""
    })
    assert.match(results.get("src_testing_FakeN8n_ts_0") ?? "", /"status":"error"/)
    assert.match(results.get("src_workflow_check_WorkflowProblems_ts_0") ?? "", /leads to 'Pay', which does not exist/)
  })
})

/** Commands that change nothing but files of the working directory. */
const looking = ["audit", "call", "executions", "health", "map", "picture", "tools", "why", "workflows"]

/** Lines of a block that are commands: all of a script, of a transcript those with a prompt. */
const commandLines = ({ language, text }: Shown) =>
  language === "sh" ? text : [...text.matchAll(/^\$ .*$/gm)].join("\n")

/** Commands of pages that say all they need, in the order of the pages. */
const runnable = pages.flatMap((page) =>
  blocksOf(read(page)).filter(({ language }) => language === "sh" || language === "").flatMap((block) =>
    commandsIn(commandLines(block), new Set(looking)).map(({ args }) => args)
      .filter((args) => args.some((word) => looking.includes(word)))
      .filter((args) => !args.some((word) => /^[A-Z]+$|^-$|^@|[$…]/.test(word)))
      .map((args) => ({ page, args: args.includes("--demo") ? args : [...args, "--demo"] }))
  )
)

describe("commands", () => {
  it.live("of the pages do what they say, on the demo", () =>
    Effect.gen(function*() {
      assert.isAtLeast(runnable.length, 8)
      const home = yield* folderWith()
      for (const { args, page } of runnable) {
        const { code, stderr } = yield* runAt(home, ...args)
        // 2 means that there are findings.
        assert.include([0, 2], code, `${page}: ${args.join(" ")}\n${stderr}`)
      }
    }).pipe(Effect.scoped, Effect.provide(platform)), 180_000)
})
