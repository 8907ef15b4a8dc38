import { assert, describe, it } from "@effect/vitest"
import { Ajv } from "ajv"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { XMLParser, XMLValidator } from "fast-xml-parser"
import { readFileSync } from "node:fs"
import type * as Finding from "../../../src/fleet/inspection/Finding.ts"
import { folderWith, platform } from "../../support/folders.ts"
import { commandWith } from "../../support/inProcess.ts"

const isSarif = new Ajv({ strict: false, validateFormats: false, unicodeRegExp: false })
  .compile(JSON.parse(readFileSync("test/fixtures/sarif-2.1.0.json", "utf8")))

const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: "" })

const replace = JSON.stringify({ op: "replace", find: "shop", with: "store" })

describe("commands that judge", () => {
  it.live.each<readonly [exit: number, least: number, args: ReadonlyArray<string>]>([
    [0, 5, ["check", "--n8n"]],
    [2, 5, ["check", "--n8n", "--strict"]],
    [2, 5, ["audit"]],
    [0, 0, ["audit", "--only", "literal-secret"]],
    [2, 3, ["health"]],
    [2, 1, ["upgrade", "--n8n", "--dry-run"]],
    [0, 0, ["edit", replace, "--name", "Sync", "--dry-run"]],
    // One of its texts is a choice of a parameter.
    [2, 1, ["edit", replace.replace("shop", "a"), "--name", "Sync", "--dry-run"]],
    [1, 1, ["test", "CASES"]]
  ])(
    "have one exit status, %i, and at least %i findings in every format: %j",
    ([exit, least, args]) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* folderWith({
          "a.test.json": "{\"workflow\": \"cR5mSyNc9bVh4KqE\", \"pins\": {\"Nope\": []}}"
        })
        const own = args.map((each) => each === "CASES" ? folder : each)
        const run = Effect.fnUntraced(function*(...more: ReadonlyArray<string>) {
          const { error, exitCode, stdout } = yield* commandWith({}, ...own, "--demo", ...more)
          assert.deepStrictEqual([error, exitCode ?? 0], ["", exit], more.join(" "))
          return stdout
        })
        const file = `${folder}/reports/junit.xml`
        const { findings, ...data } = JSON.parse(yield* run("--format", "json", "--junit", file)) as {
          readonly findings: ReadonlyArray<Finding.Finding>
        }
        assert.isAtLeast(findings.length, least)
        assert.deepInclude(data, { ok: exit === 0 })
        assert.deepStrictEqual(Object.keys(JSON.parse(yield* run("--json"))), [...Object.keys(data), "findings"])
        const text = yield* run("--format", "text")
        for (const { rule } of findings) if (args[0] !== "health" && args[0] !== "test") assert.include(text, rule)

        const sarif = JSON.parse(yield* run("--format", "sarif"))
        assert.isTrue(isSarif(sarif), JSON.stringify(isSarif.errors))
        assert.deepStrictEqual(
          sarif.runs[0].results.map(({ level, ruleId }: { level: string; ruleId: string }) => [ruleId, level]),
          findings.map(({ rule, severity }) => [rule, severity])
        )

        const log = (yield* run("--format", "github")).trimEnd().split("\n")
        assert.lengthOf(log, findings.length + 1)
        for (const line of log.slice(0, -1)) {
          assert.match(line, /^::(?:error|warning|notice) (?:file=.*,)?title=[^:]+::\S/)
        }
        assert.notMatch(log.at(-1) ?? "", /^::|^$/)

        for (const xml of [yield* fs.readFileString(file), yield* run("--format", "junit")]) {
          assert.isTrue(XMLValidator.validate(xml))
          const { errors, failures, tests } = parser.parse(xml).testsuites
          assert.strictEqual(Number(failures) + Number(errors) > 0, exit !== 0)
          assert.isAtLeast(Number(tests), Number(failures) + Number(errors))
        }
      }).pipe(Effect.scoped, Effect.provide(platform))
  )
})
