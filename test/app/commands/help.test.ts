import { assert, describe, it } from "@effect/vitest"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import type * as HelpDoc from "effect/cli/HelpDoc"
import * as Effect from "effect/Effect"
import * as Hints from "../../../src/answer/Hints.ts"
import { commandLine } from "../../../src/app/commands/CommandLine.ts"
import * as Help from "../../../src/app/commands/help.ts"
import { declarations } from "../../../src/app/config/Declarations.ts"
import { presented } from "../../support/inProcess.ts"

/** Every command, by the words that select it. */
const paths = (
  command: Command.Command.Any,
  path: ReadonlyArray<string> = []
): ReadonlyArray<ReadonlyArray<string>> => [
  path,
  ...command.subcommands.flatMap(({ commands }) => commands.flatMap((each) => paths(each, [...path, each.name])))
]

const all = paths(commandLine)

/** Document of a command's help, or of a refusal with its text. */
const present = (args: ReadonlyArray<string>) => presented(Command.runWith(commandLine, { version: "0" })(args))

const docOf = (path: ReadonlyArray<string>) =>
  Effect.map(present([...path, "--help"]), (event) => {
    assert.strictEqual(event?._tag, "Help")
    return (event as CliOutput.Presenter.Help).helpDoc
  })

const flagsOf = ({ flags, globalFlags = [], inheritedFlags = [] }: HelpDoc.HelpDoc) =>
  [...flags, ...globalFlags, ...inheritedFlags].map(({ name }) => `--${name}`)

describe("help", () => {
  it.effect.each(all.map((path) => [path.join(" ")] as const))(
    "of '%s' is 40 lines of 100 characters, with usage, two examples of its options, and exit statuses",
    ([key]) =>
      Effect.gen(function*() {
        const doc = yield* docOf(key === "" ? [] : key.split(" "))
        const text = Help.page(doc)
        const lines = text.split("\n")
        assert.isAtMost(
          lines.length,
          40,
          `Say it in fewer words, or make it an option of a command that is there:\n${text}`
        )
        for (const line of lines) assert.isAtMost(line.length, 100, line)
        assert.include(text, "Usage: effect-n8n-mcp")
        assert.include(text, "effect-n8n-mcp help options")
        if (key !== "") assert.match(text, /^Exit status: 0 \w/m)
        for (const { name } of key === "" ? [] : doc.flags) assert.include(text, `--${name}`)
        const examples = Help.about[key]?.examples ?? []
        assert.isAtLeast(examples.length, 2, `help.json has two examples of '${key}'`)
        for (const [args = ""] of examples) {
          assert.include(text, args)
          if (key !== "") assert.match(args, new RegExp(`(^| )${key}( |$)`))
          for (const flag of args.match(/(?<= )--[\w-]+|^--[\w-]+/g) ?? []) {
            assert.include([...flagsOf(doc), "--help"], flag, args)
          }
        }
      })
  )

  it("has data about commands that exist", () => {
    assert.includeMembers(all.map((path) => path.join(" ")), Object.keys(Help.about))
  })

  it.effect("of the root begins with the commands, and options have a page of their own", () =>
    Effect.gen(function*() {
      const doc = yield* docOf([])
      const [, , first = "", second = ""] = Help.page(doc).split("\n")
      assert.deepStrictEqual([first, second.trim().split(" ")[0]], ["Start", "init"])
      const page = Help.options(doc)
      for (const { name, variable } of Object.values(declarations)) {
        assert.include(page, `--${name}`)
        assert.include(page, variable)
      }
      for (const line of page.split("\n")) assert.isAtMost(line.length, 100, line)
    }))

  it.effect.each<readonly [string, string]>([
    ["pul", "no command 'pul'. Did you mean 'pull'?"],
    ["get_execution", "It is a tool: effect-n8n-mcp call get_execution"],
    ["pull --dryrun", "no option --dryrun. Did you mean '--dry-run'"],
    ["pull --profle x", "no option --profle. Did you mean '--profile'"],
    ["credential creat", "no command 'creat'. Did you mean 'create'?"]
  ])("of '%s' suggests the nearest, and names the command's own help", ([line, part]) =>
    Effect.gen(function*() {
      const event = yield* present(line.split(" "))
      assert.strictEqual(event?._tag, "InvalidInvocation")
      const { errors, helpDoc } = event as CliOutput.Presenter.InvalidInvocation
      const text = Help.refusal(errors, helpDoc)
      assert.include(text, part)
      const command = all.some(([first]) => first === line.split(" ")[0]) ? ` ${line.split(" ")[0]}` : ""
      assert.include(text, `See effect-n8n-mcp${command} --help`)
    }))

  it("is named rightly by advice to persons", () => {
    const advice = ["ListWorkflows", "ListExecutions", "ListExistingWorkflows"] as const
    const texts = [
      ...advice.map((_tag) => Hints.text({ _tag }, { as: "person" })),
      Hints.text({ _tag: "Configure", missing: ["N8N_URL"] }, { as: "person" })
    ]
    for (const text of texts) {
      const [, command = ""] = /`effect-n8n-mcp (\w+)`/.exec(text) ?? []
      assert.deepInclude(all, [command], text)
    }
  })

  it("replaces tools in advice to persons", () => {
    const deprecated = {
      _tag: "UpgradeNodes" as const,
      nodes: [{ node: "Sum", type: "n8n-nodes-base.function" }],
      more: 0
    }
    assert.include(Hints.text(deprecated), "workflow_edit(")
    const text = Hints.text(deprecated, { as: "person" })
    assert.match(text, /'Sum' \(n8n-nodes-base.function\).*the command `upgrade` replaces those of a folder\.$/)
    assert.strictEqual(
      Hints.text(["n8n has pruned them.", { _tag: "PassTestData" }], { as: "person" }),
      "n8n has pruned them."
    )
  })
})
