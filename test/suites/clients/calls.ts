/** What scripts are made of, and what holds of every conversation. */
import { assert } from "@effect/vitest"
import * as ClaudeCode from "./ClaudeCode.ts"
import type * as Model from "./Model.ts"

/** A call of a tool of ours. */
export const use = (name: string, input: object): Model.ToolUse => ({
  name: ClaudeCode.tool(name),
  input: { ...input }
})

/** Loads tools by their names, as a model does that has seen the list of them. */
export const load = (...names: ReadonlyArray<string>): Model.ToolUse => ({
  name: "ToolSearch",
  input: { query: `select:${names.map(ClaudeCode.tool).join(",")}`, max_results: names.length }
})

/** The results of our tools. */
export const ours = (shown: ReadonlyArray<Model.Shown>) =>
  shown.filter(({ tool }) => tool.startsWith(ClaudeCode.tool("")))

/** Nothing was cut, moved to a file, or reworded on the way to the model. */
export const assertInline = ({ shown, wire }: ClaudeCode.Talked) =>
  assert.deepStrictEqual(
    ours(shown).map(({ text, tool }) => ({ tool, text })),
    wire.calls.map(({ text, tool }) => ({ tool: ClaudeCode.tool(tool), text }))
  )

/** Our server had nothing to complain about. */
export const assertCalm = (stderr: ReadonlyArray<string>) =>
  assert.notMatch(stderr.join("\n"), /level=(WARN|ERROR|FATAL)/)

/** What Claude Code sends at the start of every conversation. */
export const atStart = [
  "server/discover",
  "initialize",
  "notifications/initialized",
  "tools/list",
  "prompts/list",
  "resources/list"
]
