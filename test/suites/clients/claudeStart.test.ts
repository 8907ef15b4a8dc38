/** `pnpm test:suite clients`: our tools, prompts and resources in Claude Code before any call. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as Demo from "../../../src/demo/Demo.ts"
import * as tools from "../../../src/tools/index.ts"
import * as prompts from "../../../src/tools/Prompts.ts"
import { folderWith } from "../../support/folders.ts"
import * as HttpN8n from "../../support/HttpN8n.ts"
import * as processes from "../../support/processes.ts"
import * as ClaudeCode from "./ClaudeCode.ts"
import { claudeCodeMain, installed, options } from "./install.ts"
import * as Model from "./Model.ts"
import * as Served from "./Served.ts"

/** Search words that people use, and the tool that they should find; those that are always loaded need no search. */
const searches: ReadonlyArray<readonly [words: string, tool: string]> = [
  ["why did it fail", "get_execution"],
  ["node input output items payload", "get_execution_by_node"],
  ["read workflow parameters settings", "get_workflow"],
  ["graph diagram", "get_workflow_connections"],
  ["node documentation parameters options", "node_get"],
  ["check workflow mistakes", "validate_workflow"],
  ["run workflow with test data", "test_workflow"],
  ["wire nodes branch", "connection_create"],
  ["turn on workflow", "activate_workflow"],
  ["undo roll back", "workflow_restore"],
  ["rerun failed execution", "retry_execution"],
  ["cancel running execution", "stop_execution"],
  ["accounts api keys", "list_credentials"],
  ["import workflow JSON file", "create_workflow_from_file"],
  ["edit workflow node", "workflow_edit"],
  ["fix workflow", "workflow_edit"],
  ["delete node from workflow", "workflow_edit"],
  ["publish workflow", "activate_workflow"],
  ["create workflow", "create_workflow"],
  ["new workflow draft", "workflow_create"],
  ["add node to workflow", "node_add"],
  ["n8n execution error", "get_execution"],
  ["swap node type", "node_replace"],
  ["remove workflow", "delete_workflow"]
]

const ofAServer = ClaudeCode.tool("")

/** The token budget of the tool list, with the prefix that Claude Code adds to each name. */
const budget = 5_900 + tools.standard.length * countTokens(ofAServer)

layer(installed(claudeCodeMain), options)("at the start of Claude Code", (it) => {
  it.effect("sends n8n one request at start, for the list of workflows", () =>
    Effect.gen(function*() {
      const n8n = yield* HttpN8n.serve(Demo.seed)
      yield* ClaudeCode.talk(yield* folderWith(), { prompt: "Hello", at: { args: [], env: Served.env(n8n) } })
      const requests = (yield* n8n.api.requests).map(({ method, url }) => `${method} ${new URL(url).pathname}`)
      assert.deepStrictEqual(requests, ["GET /api/v1/workflows"])
    }))

  it.effect("sends the whole list of tools without tool search", () =>
    Effect.gen(function*() {
      const { requests: [first = {}] } = yield* ClaudeCode.talk(yield* folderWith(), {
        prompt: "Hello",
        at: { args: ["--demo"] },
        env: { ENABLE_TOOL_SEARCH: "false" }
      })
      const sent = Model.tools(first).filter(({ name }) => String(name).startsWith(ofAServer))
      assert.sameMembers(sent.map(({ name }) => name), tools.standard.map(({ name }) => ClaudeCode.tool(name)))
      const cost = sent.reduce((sum, tool) => sum + countTokens(JSON.stringify(tool)), 0)
      yield* processes.say(`the tools, as Claude Code sends them: ${cost} tokens`)
      assert.isAtMost(cost, budget)
    }))

  it.effect("has the tools to begin with from the start, and searches for the others", () =>
    Effect.gen(function*() {
      const { requests: [first = {}] } = yield* ClaudeCode.talk(yield* folderWith(), {
        prompt: "Hello",
        at: { args: ["--demo"] }
      })
      const sent = Model.tools(first).filter(({ name }) => String(name).startsWith(ofAServer))
      assert.sameMembers(
        sent.map(({ name }) => name),
        tools.standard.filter(({ isEntry }) => isEntry).map(({ name }) => ClaudeCode.tool(name))
      )
      const cost = sent.reduce((sum, tool) => sum + countTokens(JSON.stringify(tool)), 0)
      yield* processes.say(`the tools to begin with: ${cost} tokens in every conversation`)
      assert.isAtMost(cost, 900)
    }))

  it.effect("finds our tools by words that people use", () =>
    Effect.gen(function*() {
      const { shown } = yield* ClaudeCode.talk(yield* folderWith(), {
        prompt: "Look",
        turns: [() => searches.map(([query]) => ({ name: "ToolSearch", input: { query, max_results: 5 } }))],
        at: { args: ["--demo"] }
      })
      searches.forEach(([words, tool], index) => {
        assert.include(shown[index]?.text.split("\n") ?? [], ClaudeCode.tool(tool), words)
      })
    }))

  it.effect("offers prompts as commands", () =>
    Effect.gen(function*() {
      const folder = yield* folderWith()
      const asked = (prompt: string) =>
        Effect.map(
          ClaudeCode.talk(folder, { prompt, at: { args: ["--demo"] } }),
          ({ requests: [first = {}] }) => Model.context(first)
        )
      const debug = ClaudeCode.tool("debug_execution")
      assert.include(yield* asked(`/${debug} 239`), prompts.debugExecution.text({ executionId: "239" }))
      assert.include(yield* asked(`/${debug}`), prompts.debugExecution.text({}))
      const review = ClaudeCode.tool("review_workflow")
      assert.include(yield* asked(`/${review} Daily`), prompts.reviewWorkflow.text({ workflowId: "Daily" }))
    }))

  it.effect("passes one word per argument of a prompt; the rest of the text is in the command", () =>
    Effect.gen(function*() {
      const { requests: [first = {}] } = yield* ClaudeCode.talk(yield* folderWith(), {
        prompt: `/${ClaudeCode.tool("build_workflow")} mail me each new order`,
        at: { args: ["--demo"] }
      })
      assert.include(Model.context(first), prompts.buildWorkflow.text({ description: "mail" }))
      assert.include(Model.context(first), "<command-args>mail me each new order</command-args>")
    }))

  it.effect("lists and reads resources", () =>
    Effect.gen(function*() {
      const { shown } = yield* ClaudeCode.talk(yield* folderWith(), {
        prompt: "Look",
        turns: [
          () => [{
            name: "ToolSearch",
            input: { query: "select:ListMcpResourcesTool,ReadMcpResourceTool", max_results: 2 }
          }],
          () => [{ name: "ListMcpResourcesTool", input: { server: ClaudeCode.server } }],
          () => [{ name: "ReadMcpResourceTool", input: { server: ClaudeCode.server, uri: "n8n://execution/239" } }]
        ],
        at: { args: ["--demo"] }
      })
      const [, listed, read] = shown
      assert.include(listed?.text, "Sync orders to CRM")
      assert.include(read?.text, "Upsert CRM contact")
      assert.isFalse(read?.isError)
    }))
})
