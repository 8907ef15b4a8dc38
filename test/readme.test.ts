import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Demo from "../src/Demo.ts"
import * as McpServer from "../src/McpServer.ts"
import * as Options from "../src/Options.ts"
import * as Services from "../src/Services.ts"
import * as FakeN8n from "../src/testing/FakeN8n.ts"
import * as tools from "../src/tools/index.ts"
import { folderWith } from "./folders.ts"

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")

const table = [
  "| tool | what it does |",
  "| --- | --- |",
  ...Object.entries(tools.toolsets).flatMap(([set, members]) => [
    `| _${set}_ | |`,
    ...members.map(({ annotations, description, name }) =>
      `| \`${name}\`${annotations.readOnlyHint ? "" : " ✎"} | ${description} |`
    )
  ])
].join("\n")

/** A line of the README with `…` for what it leaves out. */
const pattern = (line: string) =>
  new RegExp(`^${line.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`, "s")

const calls = [...readme.matchAll(/^> (\w+) (\{.*\})\n(\{.*)$/gm)].map(([, name = "", args = "", answer = ""]) => ({
  name,
  args,
  answer
}))

describe("README", () => {
  it("has the tools as they are told to a model (vitest -u writes them)", async () => {
    const { expect } = await import("vitest")
    const written = readme.replace(
      /(<!-- tools -->\n)[^]*(<!-- \/tools -->)/,
      (_, begin, end) => `${begin}\n${table}\n\n${end}`
    )
    await expect(written).toMatchFileSnapshot("../README.md")
  })

  it("names every option and its variable", () => {
    for (const name of Object.keys(Options.flags)) {
      const option = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
      assert.include(readme, `--${option}`)
      if (!["n8nUrl", "apiKey"].includes(name)) {
        assert.include(readme, `N8N_MCP_${option.replaceAll("-", "_").toUpperCase()}`)
      }
    }
  })

  it.live("shows what the tools really answer", () =>
    Effect.gen(function*() {
      const folder = yield* folderWith()
      const services = Services.layer({ filesRoots: [folder], stateFolder: join(folder, ".state") })
      const world = yield* Layer.build(Layer.merge(FakeN8n.layer(Demo.seed), services))
      assert.isAtLeast(calls.length, 10)
      for (const { answer, args, name } of calls) {
        // The demo runs nothing.
        if (name === "test_workflow") continue
        const tool = McpServer.find(tools.all, name)
        if (tool === undefined) return assert.fail(`there is no ${name}`)
        const found = JSON.stringify(yield* tool.run(args).pipe(Effect.provideContext(world)))
        assert.match(found, pattern(answer), `${name} ${args}\n${found}`)
      }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
})
