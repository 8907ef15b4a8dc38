/** `pnpm test:suite clients`: the MCP Inspector's command line, over stdio and over HTTP. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { arr, obj, str } from "../../../src/base/Json.ts"
import * as tools from "../../../src/tools/index.ts"
import * as prompts from "../../../src/tools/Prompts.ts"
import * as resources from "../../../src/tools/Resources.ts"
import { folderWith } from "../../support/folders.ts"
import { assertNoWarnings } from "./calls.ts"
import * as Inspector from "./Inspector.ts"
import { inspectorMain, installed, options } from "./install.ts"
import * as Served from "./Served.ts"
import * as Wire from "./Wire.ts"

const failed = "239"
const crm = "cR5mSyNc9bVh4KqE"

/** Read-only calls against the demo, and words in their answers. */
const reads: ReadonlyArray<readonly [tool: string, args: object, words: string]> = [
  ["list_workflows", {}, "Sync orders to CRM"],
  ["get_workflow", { id: crm, raw: true, nodes: ["*"] }, "https://api.crm.example"],
  ["get_execution_by_node", { id: failed, nodeName: "Upsert CRM contact" }, "Jonas Weber"],
  ["node_get", { type: "n8n-nodes-base.httpRequest" }, "\"example\""],
  ["workflow_history", { id: crm }, "\"versions\""]
]

const names = (list: unknown) => arr(list).map((each) => str(obj(each)?.["name"]) ?? "")

/** The checks for every transport. */
const examine = Effect.fnUntraced(function*(target: ReadonlyArray<string>, offered: ReadonlyArray<string>) {
  const folder = yield* folderWith()
  const ask = (method: string, ...args: ReadonlyArray<string>) => Inspector.ask(folder, target, method, args)

  const listed = yield* ask("tools/list", "--strict")
  assert.strictEqual(listed.code, 0, listed.stderr)
  assert.deepStrictEqual(names(listed.result["tools"]), offered)

  yield* Effect.forEach(reads, ([tool, args, words]) =>
    Effect.gen(function*() {
      const { code, result, stderr } = yield* ask(
        "tools/call",
        "--tool-name",
        tool,
        "--tool-args-json",
        JSON.stringify(args)
      )
      assert.strictEqual(code, 0, `${tool}: ${stderr}${JSON.stringify(result)}`)
      const text = str(obj(arr(result["content"])[0])?.["text"]) ?? ""
      assert.include(text, words, tool)
      assert.deepStrictEqual(JSON.parse(text), result["structuredContent"], tool)
    }), { concurrency: 2 })

  const error = yield* ask("tools/call", "--tool-name", "get_execution", "--tool-args-json", `{"id":"999"}`)
  assert.strictEqual(error.code, 5, error.stderr)
  assert.isTrue(error.result["isError"])
  assert.include(JSON.stringify(error.result), "Execution '999' not found")

  const { code: initialized, result: { instructions, serverInfo } } = yield* ask("initialize")
  assert.strictEqual(initialized, 0)
  assert.strictEqual(obj(serverInfo)?.["name"], "effect-n8n-mcp")
  assert.include(str(instructions) ?? "", "list_executions")

  const workflows = yield* ask("resources/list")
  assert.strictEqual(workflows.code, 0, workflows.stderr)
  assert.include(names(workflows.result["resources"]), "Sync orders to CRM")
  const templates = yield* ask("resources/templates/list")
  assert.deepStrictEqual(names(templates.result["resourceTemplates"]), resources.all.map(({ name }) => name))
  const read = yield* ask("resources/read", "--uri", `n8n://execution/${failed}`)
  assert.strictEqual(read.code, 0, read.stderr)
  assert.include(JSON.stringify(read.result["contents"]), "Upsert CRM contact")

  const listedPrompts = yield* ask("prompts/list")
  assert.deepStrictEqual(names(listedPrompts.result["prompts"]), prompts.all.map(({ name }) => name))
  const prompt = yield* ask("prompts/get", "--prompt-name", "debug_execution", "--prompt-args", `executionId=${failed}`)
  assert.strictEqual(prompt.code, 0, prompt.stderr)
  assert.include(JSON.stringify(prompt.result["messages"]), "change nothing before I agree")
})

/** The tools over HTTP: without those for files, since the client's files may be on another machine. */
const overHttp = tools.standard.filter((tool) => !tools.toolsets.files.some(({ name }) => name === tool.name))

const legacyStart = ["initialize", "notifications/initialized", "tools/list"]

/** The newest protocol and those before it; over HTTP the Inspector lists a modern server's tools twice. */
const eras = {
  modern: {
    flags: ["--protocol-era", "modern"],
    overStdio: ["server/discover", "tools/list"],
    overHttp: ["server/discover", "tools/list", "tools/list"]
  },
  legacy: { flags: [], overStdio: legacyStart, overHttp: legacyStart }
}

const header = (token: string) => ["--header", `Authorization: Bearer ${token}`]

layer(installed(inspectorMain), options)("the Inspector", (it) => {
  for (const [era, starts] of Object.entries(eras)) {
    it.effect(`over stdio, ${era}`, () =>
      examine([process.execPath, Served.main, "--demo", ...starts.flags], tools.standard.map(({ name }) => name)))

    it.effect(`over HTTP, ${era}`, () =>
      Effect.gen(function*() {
        const { url } = yield* Served.start
        yield* examine(
          [url, "--transport", "http", ...starts.flags, ...header(Served.token)],
          overHttp.map(({ name }) => name)
        )
      }))

    it.effect(`sends the known methods at start, ${era}`, () =>
      Effect.gen(function*() {
        const folder = yield* folderWith()
        const log = `${folder}/wire.log`
        yield* Inspector.ask(folder, [...Wire.command(log, ["--demo"]), ...starts.flags], "tools/list")
        const { methods, stderr } = yield* Wire.read(log)
        assert.deepStrictEqual(methods, starts.overStdio)
        assertNoWarnings(stderr)

        const served = yield* Served.start
        yield* Inspector.ask(
          folder,
          [served.url, "--transport", "http", ...starts.flags, ...header(Served.token)],
          "tools/list"
        )
        assert.deepStrictEqual(Served.methods(served), starts.overHttp)
      }))
  }

  it.effect("exits with 3 if the token is missing or wrong", () =>
    Effect.gen(function*() {
      const { url } = yield* Served.start
      const folder = yield* folderWith()
      for (const given of [[], header("wrong")]) {
        const { code, stderr } = yield* Inspector.ask(folder, [url, "--transport", "http", ...given], "tools/list")
        assert.strictEqual(code, 3, stderr)
      }
    }))
})
