import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as JavaScript from "../../../src/base/JavaScript.ts"
import * as Code from "../../../src/catalogue/code/Code.ts"

const js = "const n = $json.a // the amount\nreturn [{ json: { n, s: 'x', re: /a+/g } }]"
const sql = "SELECT id, 'a -- b' FROM t WHERE x = 1"
const py = "def f(x):\n    return '# no comment' + x\n\nreturn f(_input)"

const cases: ReadonlyArray<readonly [name: string, extension: string, one: string, other: string, isSame: boolean]> = [
  ["comments and layout", "js", js, "/* new */ const n=$json.a;\n\nreturn [{json:{n, s: \"x\", re: /a+/g}}]", true],
  ["another name", "js", js, js.replaceAll("n,", "m,"), false],
  ["another expression", "js", js, js.replace("/a+/g", "/a+/"), false],
  ["another text", "js", js, js.replace("'x'", "'y'"), false],
  ["a line break after return", "js", "return 1", "return\n1", false],
  ["code that does not parse", "js", "return (", "return  (", false],
  ["an expression", "js", "={{ $json.code }}", "={{ $json.code  }}", false],
  ["comments and layout", "sql", sql, "-- all\nSELECT id,\n  'a -- b'\nFROM t /* here */ WHERE x = 1 ", true],
  ["another text", "sql", sql, sql.replace("a -- b", "a -- c"), false],
  ["a hint", "sql", sql, sql.replace("SELECT", "SELECT /*+ INDEX(t) */"), false],
  [
    "comments and blank lines",
    "py",
    py,
    "# new\ndef f(x):  # one\n    return '# no comment' + x\nreturn f(_input)\n",
    true
  ],
  ["another indentation", "py", py, py.replace("    return", "  return"), false],
  ["another text", "py", py, py.replace("# no", "# yes"), false],
  ["layout of a text", "html", "<b>a</b>", "<b>a</b> ", false]
]

describe("Code", () => {
  it.effect.each(cases.map((each) => [`${each[1]}: ${each[0]}`, each] as const))(
    "compares %s",
    ([, each]) =>
      Effect.gen(function*() {
        const parse = yield* JavaScript.parser
        const [, extension, one, other, isSame] = each
        assert.strictEqual(Code.isSame(extension, one, other, parse), isSame)
        assert.strictEqual(Code.isSame(extension, other, one, parse), isSame)
      })
  )
})
