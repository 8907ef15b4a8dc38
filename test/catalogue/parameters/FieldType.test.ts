import { assert, describe, it } from "@effect/vitest"
import { createRequire } from "node:module"
import * as issues from "../../../src/catalogue/parameters/issues.ts"
import { odd, random } from "./parameterCases.ts"

describe("field types", () => {
  it.each([
    ["object", "{a: 'it\\'s', /* c */ b: [1, x], 'c': {}, }", true],
    ["object", "{{ $json.a }}", false],
    ["array", "['a']", true],
    ["datetime", "2025-W05-1", true],
    ["datetime", "31.12.2025", false],
    ["number", [], true],
    ["url", "example.com", true],
    ["url", "mailto:a@b", true],
    ["jwt", "", false]
  ])("%s: %j is %s", (type, value, expected) => {
    assert.strictEqual(issues.fits(value, type), expected)
  })

  const n8n = createRequire(import.meta.url)("n8n-workflow") as {
    readonly validateFieldType: (name: string, value: unknown, type: string, options: object) => { valid: boolean }
  }
  const types = "string string-alphanumeric number boolean dateTime time binary object array url jwt form-fields other"
  const parts = `{ } [ ] : , a 'a' "b" 1 -2 true null {{ }} $json 2025 -01 -31 T09:30 Z +02:00 W05 . :15 http:// x.com`
    .split(" ")

  it.each(types.split(" "))("%s accepts what n8n accepts", (type) => {
    const next = random(3)
    const drawn = Array.from(
      { length: 500 },
      () => Array.from({ length: 1 + Math.floor(next() * 5) }, () => parts[Math.floor(next() * parts.length)]).join("")
    )
    for (const value of [...odd, ...drawn]) {
      for (const strict of [false, true]) {
        const theirs = n8n.validateFieldType("x", value, type, { strict, parseStrings: true }).valid
        assert.strictEqual(
          issues.fits(value, type, { isStrict: strict }),
          theirs,
          `${JSON.stringify(value)} ${strict}`
        )
      }
    }
  })
})
