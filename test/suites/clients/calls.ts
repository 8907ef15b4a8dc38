/** Building blocks of scripts, and assertions for all conversations. */
import { assert } from "@effect/vitest"
import * as ClaudeCode from "./ClaudeCode.ts"
import type * as Model from "./Model.ts"

/** A call of one of our tools. */
export const use = (name: string, input: object): Model.ToolUse => ({
  name: ClaudeCode.tool(name),
  input: { ...input }
})

/** Loads tools by name, as a model does after reading their list. */
export const load = (...names: ReadonlyArray<string>): Model.ToolUse => ({
  name: "ToolSearch",
  input: { query: `select:${names.map(ClaudeCode.tool).join(",")}`, max_results: names.length }
})

/** The results of our tools. */
export const ours = (shown: ReadonlyArray<Model.Shown>) =>
  shown.filter(({ tool }) => tool.startsWith(ClaudeCode.tool("")))

/** Asserts that no answer was cut, moved to a file, or changed on the way to the model. */
export const assertInline = ({ shown, wire }: ClaudeCode.Transcript) =>
  assert.deepStrictEqual(
    ours(shown).map(({ text, tool }) => ({ tool, text })),
    wire.calls.map(({ text, tool }) => ({ tool: ClaudeCode.tool(tool), text }))
  )

/** Asserts that our server logged no warnings or errors. */
export const assertNoWarnings = (stderr: ReadonlyArray<string>) =>
  assert.notMatch(stderr.join("\n"), /level=(WARN|ERROR|FATAL)/)

/** The methods that Claude Code sends at the start of every conversation, sorted: its lists are asked for at once. */
export const startupMethods = [
  "prompts/list",
  "resources/list",
  "server/discover",
  "tools/list"
]
