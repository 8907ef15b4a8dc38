import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { realpathSync } from "node:fs"
import { createRequire } from "node:module"
import { parser } from "../../../src/base/JavaScript.ts"
import { parts } from "../../../src/n8n/model/Template.ts"
import * as Expressions from "../../../src/workflow/check/Expressions.ts"
import { Json } from "../../support/arbitrary.ts"

const parse = await Effect.runPromise(parser)
const same = (actual: unknown, expected: unknown) => assert.deepStrictEqual(actual, expected)
const found = (text: string) => Expressions.inExpression(text, parse)
const named = (text: string) => found(text).references.map(({ name }) => name)
const inScript = (text: string) => Expressions.inScript(text, parse).references.map(({ name }) => name)

describe("the nodes an expression names", () => {
  it.each([
    { text: "={{ $('A').item.json.x }}", names: ["A"] },
    { text: "={{ $(\"A\").first() + $(`B`).all() }}", names: ["A", "B"] },
    { text: "={{ $node[\"A b\"].json }} and {{ $node.C.json }}", names: ["A b", "C"] },
    { text: "={{ $items('A', 0, 1)[0].json }}", names: ["A"] },
    { text: "={{ $('顧客を取得').item }}", names: ["顧客を取得"] },
    { text: "={{ $node.顧客.json }}", names: ["顧客"] },
    { text: "={{ $('It\\'s').item + $(\"a\\\"b\\\\c\").item + $('\\u0041').item }}", names: ["It's", "a\"b\\c", "A"] },
    { text: "={{ $(\n  'A'\n).item }}", names: ["A"] },
    { text: "={{ $('A')?.item?.json?.['$(\"B\")'] }}", names: ["A"] },
    { text: "={{ [1].map(x => $('A').all()[x]) }}", names: ["A"] },
    { text: "={{ `${$('A').item.json.x}` }}", names: ["A"] },
    { text: "={{ {a: $('A').item} }}", names: ["A"] },
    { text: "={{ { \"a\": $('A').item }.a }}", names: ["A"] },
    { text: "={{ $(name).item + $(`x${1}`).item + $node[name] + $('a' + 'b') }}", names: [] },
    { text: "={{ \"$('A')\" /* $('B') */ }}", names: [] },
    { text: "={{ $item(0).$node['A'].json + $item(1).$items('B')[0].json }}", names: ["A", "B"] },
    { text: "={{ obj.$node.A + other('A') + item(0).$node.A + $jmespath($json, 'A') }}", names: [] },
    { text: "=\\\\{{ $('A').item }}", names: ["A"] }
  ])("$text", ({ names, text }) => {
    same(named(text), names)
  })

  it("are where they are said to be", () => {
    const text = "=日本 {{ $('A').x }} {{ { a: $node[ \"B\" ] } }} {{ '\\}}' + $(`C`) + $node.D.json }}"
    same(
      found(text).references.map(({ as, end, name, start }) => [name, as, text.slice(start, end)]),
      [["A", "literal", "'A'"], ["B", "literal", "\"B\""], ["C", "literal", "`C`"], ["D", "property", ".D"]]
    )
  })

  it.each([
    { text: "=$('A').item", names: ["A"] },
    { text: "=\\{{ $('A').item }}", names: ["A"] },
    { text: "={{ $(\"A\").item + }} {{ $node.B.json }", names: ["B", "A"] },
    { text: "={{ $('It's').item }} {$items('a\\'b')}", names: ["It's", "a'b"] }
  ])("are guesses where it does not parse: $text", ({ names, text }) => {
    const { references } = found(text)
    same(references.map(({ name }) => name).toSorted(), names.toSorted())
    same(references.every(({ isGuess }) => isGuess), true)
  })

  it("of a script: in code, not in strings and comments, also with await and return at its top", () => {
    same(inScript("const a = await f($('A').all());\n// $('B')\nreturn `${$node[\"C\"].json} $('D')`"), ["A", "C"])
    same(inScript("return $('A') ["), ["A"])
  })

  it("of a script with a $ of its own are not those it calls that $ with", () => {
    same(inScript("const $ = cheerio.load(html)\nreturn $('title').text() + $node['A'].json.x"), ["A"])
    same(inScript("return (($) => $('title'))(load())"), [])
  })
})

describe("reads of a node", () => {
  const reads = (code: string) =>
    Expressions.inExpression(code, parse).references.map(({ read }) =>
      read === undefined ? "?" : [read.via, read.isJson, read.key, code.slice(read.start, read.end)]
    )
  it("is a path where that is the whole code, else up to the first key", () => {
    same(reads("={{ $('A').item.json.b.c }}"), [["item", true, "c", "$('A').item.json.b.c"]])
    same(reads("=x {{ $('A').first().json?.b.c + 1 }}"), [["first", true, "b", "$('A').first().json?.b"]])
    same(reads("={{ $node['A'].json['b'].length }}"), [["node", true, "length", "$node['A'].json['b'].length"]])
    same(reads("={{ $node.A.json.b.trim() }}"), [["node", true, "b", "$node.A.json.b"]])
    same(reads("={{ $('A').last().json[$json.k] }}"), [["last", true, undefined, "$('A').last().json"]])
    same(reads("={{ $('A').item.json.map(x => x) }}"), [["item", true, undefined, "$('A').item.json"]])
  })
  it("is not named if the call has arguments, or the node is another item's", () => {
    same(reads("={{ $('A').first(0, 1).json.b }}")[0]?.[0], undefined)
    same(reads("={{ $items('A')[0].json.b }}")[0]?.[0], undefined)
    same(reads("={{ $item(0).$node['A'].json.b }}")[0]?.[0], undefined)
    same(reads("={{ $('A').item.binary.b }}")[0]?.[1], false)
    same(reads("={{ $('A' }}"), ["?"])
  })
  it("may be of a node that only runs show", () => {
    const isOpen = (code: string) => Expressions.inExpression(code, parse).isOpen
    same(["={{ $($json.n).item }}", "={{ $node[$json.n] }}", "={{ $('A' }}"].map(isOpen), [true, true, true])
    same(["={{ $('A').item }}", "={{ $json['n'] }}", "={{ $node['A'] }}"].map(isOpen), [false, false, false])
  })
})

describe("code that does not parse", () => {
  const mistakes = (text: string) => found(text).mistakes.map(({ at, message }) => [message, text.slice(at, at + 3)])

  it("is said with its place", () => {
    same(mistakes("={{ $json.a +* 2 }}"), [["Unexpected token", "* 2"]])
    same(mistakes("=a {{ 'x }} b {{ 1 }} c {{ ) }}"), [["Unterminated string constant", "'x "], [
      "Unexpected token",
      ") }"
    ]])
    same(mistakes("={{ {a: 1, b: ) } }}"), [["Unexpected token", ") }"]])
    same(mistakes("={{ }}"), [["It is empty", " }}"]])
    same(mistakes("={{ if (true) 1 }}"), [["It is a statement, not a value", " if"]])
  })

  it("is said of scripts, too", () => {
    same(Expressions.inScript("return $('A')\nreturn [", parse).mistakes.map(({ at, message }) => [message, at]), [
      ["Unexpected token", 22]
    ])
    same(Expressions.inScript("return (", () => undefined), { references: [], isOpen: false, mistakes: [] })
  })

  it("is nothing where the parser gives up", () => {
    same(found(`={{ ${"(".repeat(100_000)} }}`).mistakes.length <= 1, true)
    same(Expressions.inExpression("={{ x }}", () => undefined), { references: [], isOpen: false, mistakes: [] })
  })
})

describe("n8n", () => {
  const require = createRequire(realpathSync("node_modules/n8n-workflow/package.json"))
  const { splitExpression } = require("@n8n/tournament/dist/ExpressionSplitter.js") as {
    splitExpression: (text: string) => ReadonlyArray<{ type: string; text: string }>
  }
  const { getExpressionCode } = require("@n8n/tournament/dist/ExpressionBuilder.js") as {
    getExpressionCode: (text: string, name: string, hooks: object) => unknown
  }
  const Piece = Schema.Literals(
    ["{{", "}}", "\\", "\\\\", "{", "}", " ", "\"", "'", "a", "日本", "$('A')", "$json.x", "1", "+", "[", "]", ";", "`"]
  )
  const Template = Arbitrary.schema(Schema.Array(Piece).check(Schema.isMaxLength(12))).pipe(
    Arbitrary.map((pieces) => pieces.join(""))
  )

  it.prop("splits templates the same way", { text: Template }, ({ text }) => {
    const theirs = splitExpression(text).flatMap((chunk) => chunk.type === "code" ? [chunk.text] : [])
    const wrapped = theirs.map((code) => code.trimStart().startsWith("{") ? `(${code})` : code)
    same(parts(`=${text}`).map(({ code }) => code), wrapped)
  })

  const accepts = (text: string) => {
    try {
      getExpressionCode(text, "data", { before: [], after: [] })
      return true
    } catch {
      return false
    }
  }

  const pieces = "{{ $json.a }}§{{ { a: 1 } }}§{{ {} }}§{{ }}§{{ a; b }}§{{ a b }}§{{ // x\n a }}§{{ /* x */ }}§" +
    "{{ function f() {} }}§{{ (() => { return 1 })() }}§{{ a?.b ?? c }}§{{ a ||= 1 }}§{{ 1_000n }}§{{ 'a' }§" +
    "{{ 'a'§{{ [1, ...x] }}§{{ x => x }}§{{ $json['a\nb'] }}§{{ let x = 1 }}§{{ return 1 }}§{{ 'it's' }}§" +
    "{{ “x” }}§{{ /[/ }}§{{ new Date() }}§{{ a ? b }}§{{ `${a}` }}"
  it.each(pieces.split("§"))("takes or refuses the same: %s", (text) => {
    same(found(`=${text}`).mistakes.length === 0, accepts(text))
  })
})

describe("a node's parameters", () => {
  it("hold expressions and scripts at paths", () => {
    const parameters = {
      url: "={{ 1 }}",
      plain: "{{ 1 }}",
      list: [{ value: "=x" }, 1],
      jsCode: "return 1",
      options: { jsCode: "not one" }
    }
    same(Expressions.texts(parameters), [
      { path: "parameters.url", text: "={{ 1 }}", kind: "expression" },
      { path: "parameters.list[0].value", text: "=x", kind: "expression" },
      { path: "parameters.jsCode", text: "return 1", kind: "script" }
    ])
    same(Expressions.texts({ jsCode: "={{ $('A') }}" })[0]?.kind, "expression")
  })

  it("that only look like expressions, except where the node itself evaluates them", () => {
    const text = "Hi {{ $json.name }}"
    same(Expressions.texts({ text, rows: [{ value: "{{$('A').item}}" }] }).map(({ kind, path }) => [path, kind]), [
      ["parameters.text", "unmarked"],
      ["parameters.rows[0].value", "unmarked"]
    ])
    same(Expressions.texts({ jsonOutput: text, pythonCode: text, prompt: "{{name}}", html: "<p>", query: "1" }), [])
    const templates = Expressions.texts({ html: text, query: text, formFields: { values: [{ html: text }] } })
    same(templates.map(({ kind, path }) => [path, kind]), [
      ["parameters.html", "template"],
      ["parameters.query", "template"],
      ["parameters.formFields.values[0].html", "template"]
    ])
    const html = "<p>{{ $('A').x }}{{#if}}"
    const { mistakes, references } = Expressions.inText({ path: "", text: html, kind: "template" }, parse)
    same([mistakes, references.map(({ end, name, start }) => [name, html.slice(start, end)])], [[], [["A", "'A'"]]])
    same(Expressions.inText({ path: "", text: "{{ $('A') }}", kind: "unmarked" }, parse), {
      references: [],
      isOpen: false,
      mistakes: []
    })
  })

  it.prop("whatever they are", { parameters: Json }, ({ parameters }) => {
    for (const text of Expressions.texts(parameters)) Expressions.inText(text, parse)
  })

  it("and however deep", () => {
    let deep: unknown = "={{ 1 }}"
    for (let depth = 0; depth < 20_000; depth++) deep = [deep]
    same(Expressions.texts(deep).length, 1)
  })
})
