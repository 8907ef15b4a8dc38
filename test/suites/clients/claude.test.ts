/** `pnpm test:suite clients`: what a scripted model in the real Claude Code sees of our answers. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as Demo from "../../../src/demo/Demo.ts"
import { instructions } from "../../../src/tools/Instructions.ts"
import { folderWith } from "../../support/folders.ts"
import * as HttpN8n from "../../support/HttpN8n.ts"
import { assertInline, assertNoWarnings, load, ours, startupMethods, use } from "./calls.ts"
import * as ClaudeCode from "./ClaudeCode.ts"
import { claudeCodeMain, installed, options } from "./install.ts"
import * as large from "./large.ts"
import * as Model from "./Model.ts"
import * as Served from "./Served.ts"

/** The first group of a pattern in the newest text that matches. */
const lastMatch = (shown: ReadonlyArray<string>, pattern: RegExp) =>
  shown.findLast((text) => pattern.test(text))?.match(pattern)?.[1]

const draftId = /"workflowId":"(draft-[^"]+)"/

/** The first tool is there from the start, so the others are loaded in the same turn: three turns instead of four. */
const debugging: ReadonlyArray<Model.Turn> = [
  () => [use("list_executions", { status: "error" }), load("get_execution", "get_execution_by_node")],
  (shown) => [use("get_execution", { id: lastMatch(shown, /"id":"(\d+)"/) })],
  (shown) => {
    const [, id, nodeName] = /get_execution_by_node\(id: '(.+?)', nodeName: '(.+?)'\)/.exec(shown.at(-1) ?? "") ?? []
    return [use("get_execution_by_node", { id, nodeName })]
  }
]

const building: ReadonlyArray<Model.Turn> = [
  () => [
    use("node_search", { keyword: "http request" }),
    load("workflow_create", "workflow_edit", "validate_workflow", "test_workflow")
  ],
  () => [use("workflow_create", { name: "From a conversation" })],
  (shown) => [
    use("workflow_edit", {
      workflowId: lastMatch(shown, draftId),
      operations: [
        { op: "add", type: "n8n-nodes-base.manualTrigger", name: "Start" },
        { op: "add", type: "n8n-nodes-base.httpRequest", name: "Get", parameters: { url: "=" }, after: "Start" }
      ]
    })
  ],
  (shown) => [use("validate_workflow", { workflowId: lastMatch(shown, draftId) })],
  () => [use("test_workflow", { workflowId: "no-such-workflow" })]
]

const assertDebugged = ({ answer, requests, shown, status }: ClaudeCode.Transcript) => {
  assert.strictEqual(status, "connected")
  assert.strictEqual(answer, Model.answer)
  const [first = {}] = requests
  assert.include(Model.context(first), instructions)
  // The first tool is there, the others are named.
  assert.include(Model.tools(first).map(({ name }) => name), ClaudeCode.tool("list_executions"))
  assert.include(Model.context(first), ClaudeCode.tool("get_execution"))
  assert.deepStrictEqual(ours(shown).map(({ isError }) => isError), [false, false, false])
  assert.include(shown.at(-1)?.text, "Jonas Weber")
}

layer(installed(claudeCodeMain), options)("in a conversation with Claude Code", (it) => {
  it.effect("debugs an execution over stdio", () =>
    Effect.gen(function*() {
      const talked = yield* ClaudeCode.talk(yield* folderWith(), {
        prompt: "Why did it fail?",
        turns: debugging,
        at: { args: ["--demo"] }
      })
      assertDebugged(talked)
      assertInline(talked)
      assert.deepStrictEqual(talked.wire.methods.slice(0, startupMethods.length).toSorted(), startupMethods)
      assertNoWarnings(talked.wire.stderr)
    }))

  it.effect("debugs an execution over HTTP", () =>
    Effect.gen(function*() {
      const served = yield* Served.start
      const talked = yield* ClaudeCode.talk(yield* folderWith(), {
        prompt: "Why did it fail?",
        turns: debugging,
        at: { url: served.url, token: Served.token }
      })
      assertDebugged(talked)
      const methods = Served.methods(served)
      assert.deepStrictEqual(methods.slice(0, startupMethods.length).toSorted(), startupMethods)
      assert.deepStrictEqual(methods.slice(startupMethods.length), [
        "list_executions",
        "get_execution",
        "get_execution_by_node"
      ])
      assertNoWarnings(served.stderr())
    }))

  it.effect("deletes nothing, over stdio or HTTP, before a person has said yes", () =>
    Effect.gen(function*() {
      const served = yield* Served.start
      const list: Model.Turn = () => [{ name: ClaudeCode.tool("list_workflows"), input: {} }]
      const remove: Model.Turn = ([first = ""]) => [
        { name: ClaudeCode.tool("delete_workflow"), input: { id: /"id":"([^"]+)"/.exec(first)?.[1] ?? "" } }
      ]
      for (const at of [{ args: ["--demo"] }, { url: served.url, token: Served.token }]) {
        // In print mode Claude Code answers a question with a cancel.
        const { shown } = yield* ClaudeCode.talk(yield* folderWith(), {
          prompt: "Delete the first workflow",
          turns: [list, remove, list],
          at
        })
        const [before, deletion, after] = ours(shown)
        assert.include(deletion?.text, "The user did not agree")
        assert.strictEqual(after?.text, before?.text)
      }
    }))

  it.effect("builds a workflow as a file of the project", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* folderWith()
      const talked = yield* ClaudeCode.talk(folder, {
        prompt: "Build it",
        turns: building,
        // Without --files-root the client provides the project's folder.
        at: { args: [], env: Served.env(yield* HttpN8n.serve(Demo.seed)) }
      })
      assert.deepStrictEqual(
        ours(talked.shown).map(({ isError, tool }) => [tool, isError]),
        [
          [ClaudeCode.tool("node_search"), false],
          [ClaudeCode.tool("workflow_create"), false],
          [ClaudeCode.tool("workflow_edit"), false],
          [ClaudeCode.tool("validate_workflow"), false],
          [ClaudeCode.tool("test_workflow"), true]
        ]
      )
      assertInline(talked)
      const [search, , edited, validated, tested] = ours(talked.shown).map(({ text }) => text)
      assert.include(search, "n8n-nodes-base.httpRequest")
      assert.include(edited, "\"applied\":true")
      assert.include(validated, "\"valid\"")
      assert.include(tested, "Workflow 'no-such-workflow' not found")
      const files = (yield* fs.readDirectory(folder, { recursive: true })).filter((file) => file.endsWith(".json"))
      assert.lengthOf(files, 1)
      assert.include(yield* fs.readFileString(`${folder}/${files[0]}`), "n8n-nodes-base.manualTrigger")
      assertNoWarnings(talked.wire.stderr)
    }))

  it.effect("shows the model what went wrong and what to do", () =>
    Effect.gen(function*() {
      const { shown, wire } = yield* ClaudeCode.talk(yield* folderWith(), {
        prompt: "Look",
        turns: [
          () => [load("get_execution_by_node")],
          () => [use("get_execution_by_node", { id: "239", nodeName: "Upsert" })],
          () => [use("get_execution_by_node", { id: "239", node: "Upsert CRM contact" })],
          // The tool is not loaded, so Claude Code appends its schema to our text.
          () => [use("get_execution", { id: "999" })]
        ],
        at: { args: ["--demo"] }
      })
      const errors = ours(shown)
      assert.deepStrictEqual(errors.map(({ isError }) => isError), [true, true, true])
      assert.deepStrictEqual(errors.slice(0, 2).map(({ text }) => text), wire.calls.slice(0, 2).map(({ text }) => text))
      assert.isTrue(errors[2]?.text.startsWith(wire.calls[2]?.text ?? "?"))
      assert.include(errors[0]?.text, "Did you mean 'Upsert CRM contact'?")
      assert.include(errors[1]?.text, "nodeName")
      assert.include(errors[2]?.text, "list_executions lists the executions")
    }))

  it.effect("leaves the largest answers inline", () =>
    Effect.gen(function*() {
      const env = Served.env(yield* HttpN8n.serve(large.seed))
      const talked = yield* ClaudeCode.talk(yield* folderWith(), {
        prompt: "Look",
        turns: [
          () => [load("get_workflow", "list_workflows")],
          ...large.ids.map((id): Model.Turn => () => [use("get_workflow", { id, raw: true, nodes: ["*"] })])
        ],
        at: { args: [], env }
      })
      assertInline(talked)
      const answers = ours(talked.shown)
      assert.deepStrictEqual(answers.map(({ isError }) => isError), answers.map(() => false))
      const [whole = "", ...cut] = answers.map(({ text }) => text)
      assert.isAbove(whole.length, 30_000)
      assert.notInclude(whole, "_truncated")
      const [inCharacters = "", ...inTokens] = cut
      assert.isAbove(inCharacters.length, 30_000)
      for (const text of inTokens) assert.isAbove(countTokens(text), 20_000)
      for (const text of cut) assert.include(text, "\"_truncated\"")
    }))
})
