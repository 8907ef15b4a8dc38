/** The rules of `.oxlint`, which `pnpm lint` runs over `src`. */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync } from "node:fs"
import { writesPath } from "../../.oxlint/paths.ts"
import { objection, rooms } from "../../.oxlint/rooms.ts"
import { objections, titleObjections } from "../../.oxlint/words.ts"

const source = new URL("../../src/", import.meta.url)

describe("an import is refused", () => {
  it.each([
    ["base/Json.ts", "../n8n/N8nClient.ts"],
    ["base/redact/Names.ts", "../../app/config/State.ts"],
    ["n8n/model/Limits.ts", "../../workflows/Audit.ts"],
    ["executions/Executions.ts", "../workflows/Workflows.ts"],
    ["mcp/http/gate.ts", "../../tools/index.ts"],
    ["app/commands/folders.ts", "../../main.ts"],
    ["unknown/Room.ts", "../base/Json.ts"],
    ["tools/index.ts", "../workflow/edit/nodes.ts"],
    ["workflows/Audit.ts", "./edit/nodes.ts"],
    ["workflows/Audit.ts", "@modelcontextprotocol/sdk/types.js"],
    ["answer/Tool.ts", "effect/http/HttpClient"]
  ])("%s: %s", (file, specifier) => assert.isDefined(objection(file, specifier)))
})

describe("an import is allowed", () => {
  it.each([
    ["n8n/model/Limits.ts", "../../base/Json.ts"],
    ["workflows/Audit.ts", "../n8n/N8nClient.ts"],
    ["workflow/edit/nodes.ts", "./names.ts"],
    ["tools/index.ts", "./workflows/index.ts"],
    ["mcp/McpServer.ts", "@modelcontextprotocol/sdk/types.js"],
    ["main.ts", "./app/Program.ts"]
  ])("%s: %s", (file, specifier) => assert.isUndefined(objection(file, specifier)))
})

describe("paths", () => {
  it.each([
    "path: `nodes[${index}].parameters.url`,",
    "const at = `connections.${from}.${type}`",
    "visit(inner, `${path}[${index}]`)",
    "error(`${node.at}.type`)",
    "return path + \".\" + key"
  ])("are not written by hand: %s", (line) => assert.isTrue(writesPath(line)))

  it.each(["`${name}.json`", "JsonPath.member(path, key)", "// `nodes[${index}]`", "`${path} ends at [${last}]`"])(
    "do not occur in: %s",
    (line) => assert.isFalse(writesPath(line))
  )
})

it("the table has each room of src", () => {
  const folders = readdirSync(source, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  assert.includeMembers(Object.keys(rooms), folders.map(({ name }) => name))
})

describe("words", () => {
  it.each([
    "// It runs all the same.",
    "const keptRows = 3",
    "/** What a caller sees. */",
    "const found = 3",
    "  message: `'${path}' is none`,",
    "/** Mends it. */",
    "/** How far it reads. */",
    "// The last one is taken for the error output.",
    "const verdict = 'two runs ended otherwise'"
  ])("to avoid: %s", (line) => assert.lengthOf(objections(line), 1))

  it("to avoid at the start of a docstring of several lines", () => {
    assert.lengthOf(objections(" * What is known without an n8n.", "/**"), 1)
    assert.deepStrictEqual(objections(" * What is known without an n8n.", " * Functions."), [])
  })

  it.each(["what is missing", "an empty list is no error", "starts anew"])(
    "to avoid in a title: %s",
    (title) => assert.lengthOf(titleObjections(title), 1)
  )

  it.each([
    "return { kept: rows.length }",
    "if (error.kept > 1) throw error",
    "// A recommended amendment was found; there is none.",
    "/** Names of what a caller sees. */"
  ])("without objection: %s", (line) => assert.deepStrictEqual(objections(line), []))
})
