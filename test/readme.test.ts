import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Options from "../src/app/Options.ts"
import * as Services from "../src/app/Services.ts"
import * as Demo from "../src/demo/Demo.ts"
import * as McpServer from "../src/mcp/McpServer.ts"
import * as FakeN8n from "../src/testing/FakeN8n.ts"
import * as tools from "../src/tools/index.ts"
import * as Releases from "./suites/n8n/releases.ts"
import { folderWith } from "./support/folders.ts"

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

const code = (text: string) => `\`${text.replaceAll("|", "\\|")}\``

const options = [
  "| option | variable | default | |",
  "| --- | --- | --- | --- |",
  ...Object.values(Options.declarations).map(({ defaultText, description, metavar, name, variable }) =>
    `| ${code(`--${name} ${metavar}`.trim())} | \`${variable}\` | ${defaultText} | ${description} |`
  ),
  "| `--log-level LEVEL` | `LOG_LEVEL` | info | Lowest level of log lines on stderr; stdout carries the protocol alone |"
].join("\n")

const between = (text: string, marker: string, content: string) =>
  text.replace(
    new RegExp(`(<!-- ${marker} -->\\n)[^]*(<!-- /${marker} -->)`),
    (_, begin, end) => `${begin}\n${content}\n\n${end}`
  )

/** A line of the README with `…` for what it leaves out. */
const pattern = (line: string) =>
  new RegExp(`^${line.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`, "s")

const calls = [...readme.matchAll(/^> (\w+) (\{.*\})\n(\{.*)$/gm)].map(([, name = "", args = "", answer = ""]) => ({
  name,
  args,
  answer
}))

describe("README", () => {
  it("has the tools and the options as the code has them (vitest -u writes them)", async () => {
    const { expect } = await import("vitest")
    const written = [["tools", table], ["options", options], ["versions", Releases.table]].reduce(
      (text, [marker = "", content = ""]) => between(text, marker, content),
      readme
    )
    assert.include(written, options)
    await expect(written).toMatchFileSnapshot("../README.md")
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
