import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { declarations } from "../src/app/config/Declarations.ts"
import * as Services from "../src/app/Services.ts"
import * as Demo from "../src/demo/Demo.ts"
import * as Protocol from "../src/mcp/Protocol.ts"
import * as FakeN8n from "../src/testing/FakeN8n.ts"
import * as tools from "../src/tools/index.ts"
import { rules } from "../src/workflow/check/Rules.ts"
import * as Releases from "./suites/n8n/releases.ts"
import { docs, pages, read } from "./support/documents.ts"
import { folderWith } from "./support/folders.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

const isWriting = ({ annotations }: { readonly annotations: { readonly readOnlyHint: boolean } }) =>
  annotations.readOnlyHint ? "" : " ✎"

const names = [
  "| toolset | tools |",
  "| --- | --- |",
  ...Object.entries(tools.toolsets).map(([set, members]) =>
    `| ${set} | ${members.map((tool) => `\`${tool.name}\`${isWriting(tool)}`).join(", ")} |`
  )
].join("\n")

const table = [
  "| tool | what it does |",
  "| --- | --- |",
  ...Object.entries(tools.toolsets).flatMap(([set, members]) => [
    `| _${set}_ | |`,
    ...members.map((tool) => `| \`${tool.name}\`${isWriting(tool)} | ${tool.description} |`)
  ])
].join("\n")

const code = (text: string) => `\`${text.replaceAll("|", "\\|")}\``

const options = [
  "| option | variable | default | |",
  "| --- | --- | --- | --- |",
  ...Object.values(declarations).map(({ defaultText, description, metavar, name, variable }) =>
    `| ${code(`--${name} ${metavar}`.trim())} | \`${variable}\` | ${defaultText} | ${description} |`
  ),
  "| `--log-level LEVEL` | `LOG_LEVEL` | info | Lowest level of log lines on stderr; stdout carries the protocol alone |"
].join("\n")

const ruleTable = [
  "| rule | | |",
  "| --- | --- | --- |",
  ...Object.entries(rules).map(([id, [name, help]]) => `| \`${id}\` | ${name} | ${help} |`)
].join("\n")

/** Scopes that a key needs; the second list is beside the first. */
const scopes = (() => {
  const of = (isWanted: (tool: (typeof tools.all)[number]) => boolean) => (tool: (typeof tools.all)[number]) =>
    isWanted(tool) ? tool.scopes : []
  const reading = new Set(tools.standard.flatMap(of(({ annotations }) => annotations.readOnlyHint)))
  const list = (all: Iterable<string>) => [...new Set(all)].toSorted().map((scope) => `\`${scope}\``).join(", ")
  return [
    `- with \`--read-only\`: ${list(reading)}`,
    `- to write, also: ${list(tools.standard.flatMap(of(() => true)).filter((scope) => !reading.has(scope)))}`
  ].join("\n")
})()

const optional = `The sets ${
  new Intl.ListFormat("en-GB").format(tools.optional.map((set) => `_${set}_`))
} are off by default: add them with \`--toolsets\`.`

/** What the code says, by page and marker. */
const generated: ReadonlyArray<readonly [page: string, marker: string, content: string]> = [
  ["README.md", "tools", names],
  ["README.md", "optional", optional],
  [`${docs}/tools.md`, "optional", optional],
  ["README.md", "scopes", scopes],
  [`${docs}/tools.md`, "tools", table],
  [`${docs}/options.md`, "options", options],
  [`${docs}/checking.md`, "rules", ruleTable],
  [`${docs}/evidence.md`, "versions", Releases.table]
]

const fill = (text: string, marker: string, content: string) => {
  const between = new RegExp(`(<!-- ${marker} -->\\n)[^]*(<!-- /${marker} -->)`)
  assert.match(text, between)
  return text.replace(between, (_, begin, end) => `${begin}\n${content}\n\n${end}`)
}

/** Matches a line of a transcript, in which `…` stands for omissions. */
const pattern = (line: string) =>
  new RegExp(`^${line.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`, "s")

const calls = pages.flatMap((page) =>
  [...read(page).matchAll(/^> (\w+) (\{.*\})\n(\{.*)$/gm)].map(([, name = "", args = "", answer = ""]) => ({
    name,
    args,
    answer
  }))
)

/** Commands, and JSON, that fetch a package of our name from a registry. */
const fetches = [
  "\\b(?:npx|bunx|pnpx|(?:npm|pnpm|yarn|bun) (?:dlx|exec|x|i|install|add|create))\\b[^\\n`]*[ \"']" +
  "effect-n8n-mcp(?:@[\\w.]+)?(?=[\"'\\s`]|$)",
  "\"npx\"[^{}]*\"effect-n8n-mcp",
  "\"(?:source|registryType)\": ?\"npm\""
].map((form) => new RegExp(form))

/** Names of a page's headings as links to them. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title.toLowerCase().replace(/[^\p{L}\p{N} -]/gu, "").replaceAll(" ", "-")
  )

describe("the documentation", () => {
  it.each(generated)("%s has the %s as the code has them (vitest -u writes them)", async (page, marker, content) => {
    const { expect } = await import("vitest")
    await expect(fill(read(page), marker, content)).toMatchFileSnapshot(join(root, page))
  })

  it("has every room, suite and benchmark on the page for contributors", () => {
    const page = read(".github/CONTRIBUTING.md")
    const folders = (place: string) =>
      readdirSync(join(root, place), { withFileTypes: true }).filter((each) => each.isDirectory()).map(({ name }) =>
        name
      )
    for (const room of folders("src")) assert.match(page, new RegExp(`^\\|.*\`${room}/\`.*\\|`, "m"))
    for (const suite of folders("test/suites")) assert.match(page, new RegExp(`^\\| \`${suite}\``, "m"))
    const benches = [...read("test/bench/run.ts").matchAll(/^  (\w+): \(\) =>/gm)].map(([, name = ""]) => name)
    assert.isAtLeast(benches.length, 9)
    const [, list = ""] = /`pnpm bench NAME`([^]*?)\n\n/.exec(page) ?? []
    for (const name of benches) assert.include(list, `\`${name}\``)
  })

  it("has a README of at most 10 kB", () => assert.isAtMost(Buffer.byteLength(read("README.md")), 10_240))

  it.each(pages)("%s uses the words of the concepts", (page) => {
    const concepts = [...read(`${docs}/concepts.md`).matchAll(/^\*\*(\w+)/gm)].map(([, word = ""]) => word)
    const expected = "Run Version Publish Draft Snapshot Copy Replay Proof Drill Case Plan Batch Profile Baseline"
    assert.sameMembers(concepts, expected.split(" "))
    // Other words for publishing, and for what is published.
    assert.notMatch(read(page), /\b(go(es)?|going|went|makes? it|turned?) (live|on n8n live)\b|\binactive\b/i)
  })

  it.each(pages)("%s has only links to pages, headings and pictures that exist", (page) => {
    const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link)
    for (const link of links.filter((link) => !/^https?:|^</.test(link))) {
      const [file = "", anchor] = link.split("#")
      const target = file === "" ? join(root, page) : join(root, dirname(page), file)
      assert.isTrue(existsSync(target), `${page}: ${link}`)
      if (anchor !== undefined) assert.include(anchorsOf(readFileSync(target, "utf8")), anchor, `${page}: ${link}`)
    }
  })

  it.each([...pages, ...globSync([".claude-plugin/**/*.*", ".docker/*", ".github/ISSUE_TEMPLATE/*"], { cwd: root })])(
    "%s runs no package that a registry has by our name, which is not ours yet",
    (page) => {
      const configured = [...read(page).matchAll(/[?&]config=([^)&\s]+)/g)].map(([, value = ""]) => {
        const text = decodeURIComponent(value)
        return text.startsWith("{") ? text : atob(text)
      })
      for (const text of [read(page).replaceAll("\\\n", " "), ...configured]) {
        for (const form of fetches) assert.notMatch(text, form)
      }
    }
  )

  it("has links that add the server to Cursor and VS Code, with the configuration of the other clients", () => {
    const readme = read("README.md")
    const queryOf = (start: string) => {
      const link = [...readme.matchAll(/\]\((https:[^)\s]+)\)/g)].map(([, url = ""]) => url).find((url) =>
        url.startsWith(start)
      )
      return new URL(link ?? "none:").searchParams
    }
    const cursor = queryOf("https://cursor.com/en/install-mcp?")
    const code = queryOf("https://insiders.vscode.dev/redirect/mcp/install?")
    assert.deepStrictEqual([cursor.get("name"), code.get("name")], ["n8n", "n8n"])
    const expected = {
      command: "effect-n8n-mcp",
      env: { N8N_URL: "https://n8n.example.com", N8N_API_KEY: "" }
    }
    assert.deepStrictEqual(JSON.parse(atob(cursor.get("config") ?? "")), expected)
    assert.deepStrictEqual(JSON.parse(code.get("config") ?? ""), expected)
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
        const tool = Protocol.find(tools.all, name)
        if (tool === undefined) return assert.fail(`there is no ${name}`)
        const found = JSON.stringify(yield* tool.run(args).pipe(Effect.provideContext(world)))
        assert.match(found, pattern(answer), `${name} ${args}\n${found}`)
      }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
})
