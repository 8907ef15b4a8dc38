import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { rooms } from "../../.oxlint/rooms.ts"
import { declarations } from "../../src/app/config/Declarations.ts"
import * as tools from "../../src/tools/index.ts"

const src = join(import.meta.dirname, "../../src")

const above = new Set(["answer", "tools", "mcp", "testing", "demo", "app", "packaging"])

const files = Object.keys(rooms).filter((room) => !above.has(room)).flatMap((room) =>
  readdirSync(join(src, room), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(src, room, name))
)

const comment = /^\s*(?:\/?\*|\/\/)/

const name = new RegExp(
  `\\b(?:${tools.all.map((tool) => tool.name).filter((each) => each.includes("_")).join("|")})\\b`
)

/** Names that are data: of the tool that wrote a snapshot, of one that shows more, and of a node of a copy. */
const label = /operation\b.*[:=] [`"]|tool: "|\b(?:save|keep|snapshotWith|freeName)\(|idNodeName|name: `test_workflow/

/** Lines of code of a file that match. */
const lines = (file: string, match: RegExp) =>
  readFileSync(file, "utf8").split("\n").filter((line) => !comment.test(line) && match.test(line))

/** Words for a model that calls tools and reads the fields of an answer with an error. */
const talk = /\bcall again\b|\berrorDetails [a-z]|\b(?:in|what) errorDetails\b/i

/** Lines with options: what a configuration reads, a link to the n8n of a profile, and a package that cannot be read. */
const options: Readonly<Record<string, number>> = {
  "catalogue/data/Packages.ts": 1,
  "n8n/Links.ts": 1,
  "n8n/N8nClient.ts": 1
}

describe("rooms below the tools", () => {
  it("say nothing to a model alone", () => {
    for (const file of files) {
      const all = lines(file, talk)
      assert.isEmpty(all, `Make it advice of base/Advice.ts:\n${relative(src, file)}\n${all.join("\n")}`)
    }
  })

  it("name a tool only in data", () => {
    for (const file of files) {
      const all = lines(file, name).filter((line) => !label.test(line))
      assert.isEmpty(all, `Make it advice of base/Advice.ts:\n${relative(src, file)}\n${all.join("\n")}`)
    }
  })

  it("name no option and no variable of the command line", () => {
    const names = Object.values(declarations).flatMap(({ name, variable }) => [`--${name}`, variable])
    const option = new RegExp(`(?:${names.join("|")})(?![\\w-])`)
    assert.isAbove(names.length, 40)
    for (const file of files) {
      const path = relative(src, file)
      const all = lines(file, option)
      assert.isAtMost(all.length, options[path] ?? 0, `Make it advice of base/Advice.ts:\n${path}\n${all.join("\n")}`)
    }
  })
})
