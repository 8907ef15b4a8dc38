/** What README and docs show to copy: command lines as the program parses them, JSON as it reads it, YAML. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Yaml from "effect/encoding/Yaml"
import * as Schema from "effect/Schema"
import { commandLine } from "../src/app/commands/CommandLine.ts"
import * as Profiles from "../src/app/config/Profiles.ts"
import * as Sync from "../src/sync/Sync.ts"
import * as TestCase from "../src/trials/cases/TestCase.ts"
import * as Thresholds from "../src/watch/Thresholds.ts"
import * as Policy from "../src/workflows/policy/Policy.ts"
import { blocks, commandsIn, pages, read, type Shown } from "./support/documents.ts"
import { presented } from "./support/inProcess.ts"

const names = new Set(commandLine.subcommands.flatMap(({ commands }) => commands.map(({ name }) => name)))

const accepted = "The command line is right."

/** The program's command line, which ends after it was parsed. */
const parser = Command.validate(
  commandLine,
  () => Effect.fail(new CliError.ValidationError({ message: accepted }))
)

/** Reasons why the program refuses a command line; of options that ask for a page, none. */
const refusals = Effect.fnUntraced(function*(args: ReadonlyArray<string>) {
  const event = yield* presented(Command.runWith(parser, { version: "0" })(args))
  if (event?._tag !== "InvalidInvocation") return event === undefined ? ["nothing was parsed"] : []
  return event.errors.map(({ message }) => message).filter((message) => message !== accepted)
})

/** Schemas of the files that pages show, by a key that only such a file has. */
const schemas: { readonly [key: string]: Schema.Decoder<unknown> } = {
  bannedNodes: Policy.Rules,
  credentials: Sync.Bindings,
  expect: TestCase.TestCase
}

/** Environment in which every variable is set. */
const environment: Profiles.Env = new Proxy({}, { get: () => "/set" })

/** JSON of a block, which may be the member of an object. */
const jsonOf = ({ text }: Shown): unknown => JSON.parse(text.startsWith("\"") ? `{${text}}` : text)

const all = pages.flatMap((page) => blocks(read(page)).map((block) => ({ ...block, page })))

const ofLanguage = (language: string) =>
  all.filter((block) => block.language === language).map((block) =>
    [`${block.page}, line ${block.line}`, block] as const
  )

describe("an example in the documents", () => {
  it.effect.each(pages)("%s has command lines that the program accepts", (page) =>
    Effect.gen(function*() {
      for (const { args, isMention } of commandsIn(read(page), names)) {
        const reasons = (yield* refusals(args)).filter((reason) => !(isMention && reason.startsWith("Missing ")))
        assert.deepStrictEqual(reasons, [], args.join(" "))
      }
    }))

  it.effect("is refused where a flag, a value, an argument or a command is wrong", () =>
    Effect.gen(function*() {
      for (
        const [args, part] of [
          [["pull", "--splitcode"], "splitcode"],
          [["executions", "--status", "failedd"], "failedd"],
          [["prove", "a", "b"], "b"],
          [["prove", "a", "--last", "many"], "many"],
          [["pul"], "pul"]
        ] as const
      ) assert.include((yield* refusals(args)).join(), part)
    }))

  it("has enough of each kind", () => {
    const count = (language: string) => ofLanguage(language).length
    assert.isTrue(
      count("sh") > 10 && count("json") > 8 && count("yaml") > 4,
      JSON.stringify([count("sh"), count("json"), count("yaml")])
    )
  })

  it.effect.each(ofLanguage("json"))("%s: is JSON that the program reads", ([, block]) =>
    Effect.gen(function*() {
      const value = jsonOf(block)
      const keys = Object.keys(Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.Unknown))(value))
      for (const key of keys) {
        const schema = schemas[key]
        if (schema !== undefined) Schema.decodeUnknownSync(schema, { onExcessProperty: "error" })(value)
      }
      if (keys.includes("profiles")) yield* Profiles.load({ file: "/n8n.json", text: block.text }, environment)
      // Names of workflows with what is expected of them.
      if (keys.some((key) => key.includes(" "))) {
        const rules = Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.String))(value)
        for (const rule of Object.values(rules)) assert.isDefined(Thresholds.parse(rule), rule)
      }
    }).pipe(Effect.provide(NodeServices.layer)))

  it.each([
    ...ofLanguage("yaml").map(([name, { text }]) => [name, text] as const),
    ...[".docker/compose.yaml"].map((file) => [file, read(file)] as const)
  ])("%s: is YAML", (_, text) => {
    const value = Yaml.parse(text)
    assert.isTrue(typeof value === "object" && value !== null)
  })
})
