import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as vm from "node:vm"
import * as Interpreter from "../../src/base/Interpreter.ts"
import type { Obj } from "../../src/base/Json.ts"
import { Json } from "../support/arbitrary.ts"
import * as packages from "../support/packages.ts"

const { compile, where } = await Effect.runPromise(Interpreter.load)

const same = (actual: unknown, expected: unknown, message?: string) => assert.deepStrictEqual(actual, expected, message)

const run = (source: string, scope: Obj = {}, steps = 1_000_000) =>
  Result.flatMap(compile(source), (program) => Interpreter.evaluate(program, scope, { steps }))

const value = (source: string, scope?: Obj) => Result.getOrThrow(run(source, scope))

const problem = (source: string, scope?: Obj) => {
  const { kind, message } = Result.getOrThrow(Result.flip(run(source, scope)))
  return `${kind}: ${message}`
}

const realm = vm.createContext(Object.create(null))
const scripts = new Map<string, vm.Script>()

/** As JavaScript has it; only for what this file itself writes or makes, and for n8n's own. */
const real = (source: string, scope: Obj = {}): unknown => {
  const names = Object.keys(scope).join(", ")
  const script = scripts.get(source) ??
    new vm.Script(
      `"use strict"; (() => { const { ${names} } = JSON.parse(scope); return JSON.stringify((${source})) })()`
    )
  scripts.set(source, script)
  realm["scope"] = JSON.stringify(scope)
  const json: unknown = script.runInContext(realm)
  return typeof json === "string" ? JSON.parse(json) : undefined
}

const attempt = (evaluate: () => unknown): unknown => {
  try {
    return { value: evaluate() }
  } catch {
    return "a problem"
  }
}

const agrees = (source: string, scope?: Obj) =>
  same(
    Result.match(run(source, scope), { onSuccess: (value) => ({ value }), onFailure: () => "a problem" }),
    attempt(() => real(source, scope)),
    source
  )

describe("JavaScript", () => {
  it.each([
    { code: "1 + 2 * 3 ** 2 % 5 - -4 / 2" },
    { code: "['1' + 2, 1 + '2', [1, [2, null]] + 'x', {} + '', null + 1, undefined + 1, true + true, [] + []]" },
    { code: "[1 == '1', null == undefined, [1] == 1, 'a' == ['a'], NaN == NaN, 0 == '', null == 0, [] == false]" },
    { code: "[1 < '2', 'b' > 'a', null >= 0, undefined < 1, [2] > 1, '10' < '9', '10' < 9]" },
    {
      code:
        "[5 & 3, 5 | 3, 5 ^ 3, ~5, 1 << 4, -9 >> 1, -9 >>> 28, +'0x10', -'2', !'', typeof 1, typeof (() => 1), void 0]"
    },
    {
      code:
        "(() => { let n = 0; for (let i = 0; i < 9; i++) { if (i === 3) continue; if (i > 6) break; n += i } return n })()"
    },
    { code: "(() => { const all = []; for (let i = 0; i < 3; i++) all.push(() => i); return all.map((f) => f()) })()" },
    { code: "(() => { let n = 5, t = ''; while (n --> 0) t += n; do { t += 'x' } while (t.length < 8); return t })()" },
    {
      code:
        "(() => { const o = {}; for (const k in { a: 1, b: 2 }) o[k + k] = k; for (const c of 'hé😀') o[c] = 1; return o })()"
    },
    {
      code:
        "(() => { switch (3) { case 1: return 'a'; case 3: { let x = 1; x++; } case 4: return 'b'; default: return 'c' } })()"
    },
    {
      code:
        "(({ a, b: { c = 3, ...d }, ...e }, [f, , g = f, ...h]) => [a, c, d, e, f, g, h])({ a: 1, b: { x: 1 }, y: 2 }, [1, 2, undefined, 4])"
    },
    {
      code:
        "(() => { function even(n) { return n === 0 || odd(n - 1) } function odd(n) { return n !== 0 && even(n - 1) } return even(20) })()"
    },
    { code: "(function fact(n) { return n < 2 ? 1 : n * fact(n - 1) })(10)" },
    {
      code:
        "((a, b = a + 1, ...c) => [a, b, c, [...c, ...'xy'], { ...[a], ...null, z: 1, ['k' + a]: 2 }])(1, undefined, 3, 4)"
    },
    { code: "[null?.a, undefined?.a.b.c(), ({ a: null }).a?.b.c, ({ f: () => 1 }).f?.(), (null)?.[1], ({}).f?.(1)]" },
    {
      code:
        "(() => { let a; a ??= 1; a ||= 2; a &&= 3; a **= 2; const o = { n: 1 }; o.n += a; o.n++; return [a, o, o.n--, --o.n] })()"
    },
    { code: "`a${1}b${[1, 2]}${{}}${null}`" },
    {
      code:
        "[3, 1, 10, undefined, 2].toSorted().concat([3, 1, 10].sort((a, b) => a - b), [[1, [2]]].flat(2), [1, 2].flatMap((x) => [x, x]))"
    },
    {
      code:
        "[[1, 2, 3].at(-1), [1, 2, 3].slice(-2), [1, NaN].includes(NaN), [1].indexOf('1'), [1, 2, 3].reduce((a, b) => a + b), [1, 2].reduceRight((a, b) => a + b, 'x')]"
    },
    {
      code:
        "['a-b-c'.split('-', 2), 'abc'.split(''), ' x '.trim(), 'abc'.at(-1), 'abc'.slice(1), 'x'.padStart(3, 'ab'), 'abc'.lastIndexOf('c'), 'abc'.substring(2, 0)]"
    },
    {
      code:
        "['a.b.c'.replace('.', '$&$&'), 'aXbX'.replaceAll('X', (m, at) => m + at), 'a1b22'.replace(/\\d+/g, '<$&>'), 'John Smith'.replace(/(\\w+) (\\w+)/, '$2, $1')]"
    },
    {
      code:
        "['a1b22'.match(/\\d+/g), 'x'.match(/y/), 'a, b;c'.split(/[,;]\\s*/), 'abc'.split(/(b)/), 'abc'.search(/c/), 'aaa'.replace(/a*?/g, '-'), 'abc'.split(/(?:)/)]"
    },
    {
      code:
        "[(1.005).toFixed(1), (255).toString(16), Number(''), Number('x'), String(null), Boolean('0'), parseInt('12px', 10), parseFloat('1.5e3x'), isNaN('x')]"
    },
    {
      code:
        "[Math.max(1, '3', 2), Math.round(-1.5), Math.min(), Number.isInteger(5), Number.isInteger('5'), Math.hypot(3, 4)]"
    },
    {
      code:
        "[Object.keys({ b: 1, a: 2 }), Object.entries([7]), Object.values('ab'), Object.fromEntries([['x', 1]]), Array.isArray([]), Array.from({ length: 2 }, (_, i) => i), Array.from('ab')]"
    },
    {
      code:
        "[Date.parse('2024-05-01T00:00:00Z'), new Date('2024-05-01') > new Date('2024-04-01'), new Date(0).toISOString(), new Date('x').getTime(), new Date(0)]"
    },
    {
      code:
        "[JSON.stringify({ a: [1, undefined, () => 1], b: undefined }), JSON.parse('{\"a\":1}').a, 'a' in { a: 1 }, ['x', 'y'].map(String), [0, 1].filter(Boolean)]"
    }
  ])("is evaluated as in JavaScript: $code", ({ code }) => agrees(code))

  it("reads the scope but cannot change it", () => {
    const scope = { item: { list: [1, 2], name: "x" } }
    same(value("[...item.list, item.name.length]", scope), [1, 2, 1])
    for (
      const code of [
        "(() => { item.name = 1 })()",
        "item.list.push(3)",
        "item.list.sort()",
        "item.list.pop()",
        "(() => { item.list[0]++ })()",
        "(() => { const { list } = item; list.reverse() })()",
        "(() => { item = 1 })()"
      ]
    ) assert.match(problem(code, scope), /^refused: /, code)
    same(scope, { item: { list: [1, 2], name: "x" } })
  })

  it.each([
    "this",
    "import('fs')",
    "await 1",
    "new Function('return 1')",
    "new Map()",
    "class {}",
    "delete {}.a",
    "async () => 1",
    "function* () {}",
    "[].constructor.constructor('return process')()",
    "(() => {}).constructor('return 1')()",
    "'x'.constructor('y')",
    "({}).__proto__.x",
    "({ __proto__: null })",
    "({ ['__proto__']: 1 })",
    "(() => { var x })()",
    "(() => { try {} catch {} })()",
    "a`x`",
    "10n",
    "[1, , 2]",
    "import.meta",
    "new.target",
    "Date.now()",
    "new Date()",
    "(() => { x: for (;;) break x })()",
    "'x'.includes",
    "[].push",
    "/(?=a)b/.test('b')",
    "/(a)\\1/.test('aa')",
    "/a/y",
    "(() => { const a = 1; a = 2 })()",
    "eval('1')",
    "globalThis",
    "process",
    "require('fs')",
    "Object.getPrototypeOf({})",
    "Reflect.ownKeys({})",
    "({ get a() { return 1 } })",
    "1 instanceof Number",
    "Symbol.iterator",
    "setTimeout(() => 1)"
  ])("outside the subset is refused: %s", (code) => {
    assert.match(problem(code), /^(refused|reference|syntax|type): /)
  })

  it("exposes no host object", () => {
    const names = ["constructor", "__proto__", "prototype", "__defineGetter__", "caller", "call", "apply", "bind"]
    const bases = [
      "({})",
      "[]",
      "'x'",
      "(1)",
      "true",
      "/x/",
      "new Date(0)",
      "(() => 1)",
      "Math.max",
      "Number",
      "item"
    ]
    for (const base of bases) {
      for (const name of names) {
        for (
          const code of [
            `${base}.${name}`,
            `${base}['${name}']`,
            `${base}[['${name}']]`,
            `((k) => ${base}[k])('${name}')`
          ]
        ) {
          same(value(`typeof ${code}`, { item: { f: () => 1 } }), "undefined", code)
        }
      }
    }
  })

  it("reports the offset of a syntax error", () => {
    const at = (code: string) => Result.getOrThrow(Result.flip(run(code))).at
    same(at("1 + )"), 4)
    same(at("1 + this.x"), 4)
    same(at("1 + unknown"), 4)
    same(at("[1, null.x]"), 9)
    same(at("'abc'.repeat('x', 1).nothing()"), 21)
    same(at("1; 2"), 1)
    same(at(""), 0)
  })
})

describe("n8n's own expressions", () => {
  const { expressions } = packages

  it("evaluate as in JavaScript, with parameters of every kind", () => {
    assert.isAbove(expressions.length, 60)
    const rest = expressions.filter(({ source }) => Result.isFailure(compile(source)))
    same(rest, [])
    let checked = 0
    for (const { names, source } of expressions) {
      for (const $parameter of packages.parameters(source, names)) {
        for (const $nodeVersion of source.includes("$nodeVersion") ? [1, 1.3, 2.2, 3.4] : [1]) {
          agrees(source, { $parameter, $nodeVersion })
          checked++
        }
      }
    }
    assert.isAbove(checked, 5_000)
  }, 60_000)
})

describe("a budget", () => {
  it.each([
    "'x'.repeat(1e9)",
    "'x'.padEnd(1e12)",
    "Array.from({ length: 1e9 })",
    "(() => { for (;;); })()",
    "(() => { let s = 'x'; for (;;) s += s })()",
    "(() => { const a = []; for (;;) a.push(a) })()",
    "(() => { let a = [1]; for (;;) a = [...a, ...a] })()",
    "(() => { let a = [1]; for (;;) a = a.concat(a) })()",
    "(() => { const f = () => f(); return f() })()",
    "(() => { let a = [1]; for (let i = 0; i < 99; i++) a = [a, a]; return a })()",
    "(() => { let a = []; a.push(a); return a })()",
    "(() => { let a = []; a.push(a); return '' + a })()",
    "(() => { let a = [1]; for (let i = 0; i < 99; i++) a = [a, a]; return `${a}` })()",
    "'a'.repeat(1e5).split('').map(() => 'a'.repeat(1e5))",
    "'a'.repeat(1e5).replaceAll(/a/g, '$`')",
    "'a'.repeat(1e5).replaceAll('a', 'b'.repeat(1e5))",
    "(() => { let a = [1]; for (;;) a = a.flatMap((x) => [x, x]) })()",
    "(() => { let s = 'x'; for (;;) s = `${s}${s}` })()",
    "(() => { let o = {}; for (;;) o = { o, p: o } })()"
  ])("stops %s", (code) => assert.match(problem(code), /^budget: /))

  it("bounds nesting", () => {
    for (
      const code of [
        "(".repeat(20_000),
        "[".repeat(9_000) + "]".repeat(9_000),
        "1" + "+1".repeat(20_000),
        `${"!".repeat(9_000)}1`
      ]
    ) {
      assert.match(problem(code), /^(budget|syntax): /)
    }
    assert.match(problem(" ".repeat(60_000)), /^budget: /)
  })

  it("is shared by evaluations", () => {
    const program = Result.getOrThrow(compile("[1, 2].map((x) => x * 2)"))
    const budget = { steps: 1_000 }
    let count = 0
    while (Result.isSuccess(Interpreter.evaluate(program, {}, budget))) count++
    assert.isAbove(count, 5)
    assert.isBelow(count, 50)
    same(budget.steps, 0)
  })
})

describe("regular expressions", () => {
  it.each([
    { pattern: "(a+)+$", text: `${"a".repeat(100_000)}!` },
    { pattern: "(a|aa)+$", text: `${"a".repeat(100_000)}!` },
    { pattern: "(.*a){12}$", text: `${"a".repeat(100_000)}!` },
    { pattern: "^(([a-z])+.)+[A-Z]([a-z])+$", text: "a".repeat(100_000) },
    { pattern: "(x+x+)+y", text: "x".repeat(100_000) },
    { pattern: "^(\\w+\\s?)*$", text: `${"word ".repeat(20_000)}!` },
    { pattern: "a*a*a*a*a*b", text: "a".repeat(100_000) }
  ])("take linear time: $pattern", ({ pattern, text }) => {
    const scope = { text }
    same(value(`/${pattern}/.test(text)`, scope), false)
    // Ten times the text takes about ten times the steps.
    const steps = (length: number) => {
      const budget = { steps: 100_000_000 }
      Interpreter.evaluate(Result.getOrThrow(compile(`/${pattern}/.test(text)`)), { text: text.slice(-length) }, budget)
      return 100_000_000 - budget.steps
    }
    assert.isBelow(steps(100_000), 11 * steps(10_000))
  })

  it("are bounded in size", () => {
    for (const code of ["/((a{90}){90}){90}/", `/${"a".repeat(2_000)}/`, "/(((\\w{1,50}){1,50}){1,50})/"]) {
      assert.match(problem(`${code}.test('a')`), /^refused: /)
    }
  })

  it("match as in JavaScript", () => {
    const patterns = [
      "/\\s/",
      "/^\\S+$/",
      "/[\\s]/",
      "/[^\\s]/",
      "/[\\S]/",
      "/./",
      "/^.$/",
      "/a.b/s",
      "/\\bno\\b/i",
      "/\\u00e9/",
      "/[\\b]/",
      "/^\\d{3}-\\d+$/",
      "/a|^$/",
      "/[.^-]/",
      "/\\./",
      "/[\\]]/",
      "/\\//",
      "/x{/",
      "/(?<year>\\d{4})/",
      "/É/i",
      "/[^]/",
      "/\\x41/",
      "/\\cJ/",
      "/a$/",
      "/\\W/",
      "/\\D/"
    ]
    const texts = [
      "",
      " ",
      "\u00a0",
      "\u3000",
      "\ufeff",
      "\v",
      "a",
      "a\nb",
      "a\rb",
      "a\u2028b",
      "No way",
      "é",
      "É",
      "\b",
      "555-1234",
      "^",
      ".",
      "]",
      "/",
      "x{",
      "in 2024",
      "A",
      "\n",
      "\u0085",
      "\u180e",
      "_"
    ]
    for (const pattern of patterns) for (const text of texts) agrees(`${pattern}.test(text)`, { text })
  })
})

describe("where", () => {
  const item = {
    amount: 1500,
    country: "JP",
    discount: null,
    "order no": 7,
    message: "Connection Timeout",
    tags: ["a", "b"],
    customer: { id: 3 },
    Date: "2024-05-01",
    lines: [{ qty: 1 }, { qty: 3 }],
    constructor: "ACME"
  }
  const matches = (source: string, it: Obj = item) => Result.flatMap(where(source), (matches) => matches(it))

  it.each([
    "discount == null",
    "amount > 1000 && country === 'JP'",
    "$json[\"order no\"] === 7",
    "/timeout/i.test(message)",
    "missing === undefined",
    "missing.more.still === undefined",
    "!missing.includes('x')",
    "customer?.id === 3",
    "tags.includes('b')",
    "lines.some((line) => line.qty > 2)",
    "Date === '2024-05-01'",
    "Date.parse(Date) > Date.parse('2024-01-01')",
    "constructor === 'ACME'",
    "message.toLowerCase().startsWith('conn')",
    "`${country}-${amount}` === 'JP-1500'",
    "Object.keys($json).length === 10",
    "typeof missing === 'undefined'",
    "new Date(Date).getTime() > 0",
    "$json.tags.length === 2",
    "JSON.stringify($json).includes('Timeout')",
    "toString === undefined"
  ])("matches %s", (source) => same(matches(source), Result.succeed(true)))

  it.each([
    "discount",
    "amount < 3",
    "missing",
    "missing.length > 2",
    "/x/.test(missing)",
    "customer.id.deeper.still",
    "0",
    "''",
    "null"
  ])(
    "does not match %s",
    (source) => same(matches(source), Result.succeed(false))
  )

  it("refuses unsupported syntax when compiling", () => {
    for (
      const source of [
        "message.sub(1)",
        "this.amount",
        "amount = 3",

        "customer.constructor('x')",
        "a b",
        "amount >"
      ]
    ) {
      assert.isTrue(Result.isFailure(where(source)), source)
    }
  })

  it("refuses unknown functions and names with their offset", () => {
    const refusal = (source: string) => {
      const compiled = where(source)
      return Result.isFailure(compiled) ? [compiled.failure.kind, compiled.failure.at, compiled.failure.message] : []
    }
    same(refusal("amount > 1 && fetch('x')"), ["refused", 14, "There is no function 'fetch' here"])
    same(refusal("$('Webhook').item"), ["refused", 0, "There is no function '$' here"])
    same(
      refusal("1 < $input.item.json.amount"),
      ["refused", 4, "'$input' is not known here: only one item's fields and $json are"]
    )
    same(matches("[1, 2].some((Number) => Number === 2) && ((f) => f(3) === 3)((x) => x)"), Result.succeed(true))
  })

  it("reports the paths of an item that it reads", () => {
    const reads = (source: string) => Result.getOrThrow(where(source)).reads.map((steps) => steps.join("/"))
    same(reads("$json['order no'] === customer?.name.length && tags[0] !== Number(NaN)"), [
      "order no",
      "customer/name",
      "customer",
      "tags/0",
      "tags"
    ])
    same(reads("tags.some((tag) => tag.id === wanted[tag])"), ["wanted", "tags"])
    same(reads("JSON.stringify($json).includes('x') && Math.PI > 3"), [])
  })

  it("distinguishes an unsuitable item from a false condition", () => {
    const result = matches("amount.includes('1')")
    same(Result.isFailure(result) && [result.failure.kind, result.failure.at], ["type", 7])
  })

  it("cannot change an item", () => {
    const result = matches("(() => { $json.amount = 3; return true })()")
    same(Result.isFailure(result) && result.failure.kind, "refused")
    same(item.amount, 1500)
  })

  it("refuses a function, which is always truthy", () => {
    const slip = Result.getOrThrow(where("amount => 5"))({ amount: 1 })
    assert.strictEqual(Result.isFailure(slip) ? slip.failure.kind : "", "refused")
  })

  it("has a budget per item and one for all items", () => {
    const search = Result.getOrThrow(where("tags.some((tag) => tag === wanted)", { perItem: 500, total: 1_000 }))
    const kinds = Array.from({ length: 100 }, () => search(item)).map((each) =>
      Result.isSuccess(each) ? "ok" : each.failure.kind
    )
    same(new Set(kinds), new Set(["ok", "budget"]))
    same(kinds.lastIndexOf("ok"), kinds.indexOf("budget") - 1)
    const large = Result.getOrThrow(where("tags.length + text.toLowerCase().length > 0", { perItem: 500 }))
    same(Result.isFailure(large({ text: "x".repeat(100_000) })), true)
    same(large({ text: "x" }), Result.succeed(false))
  })
})

describe("properties", () => {
  const Name = Schema.Literals(["a", "b", "c", "d"])
  const Constant = Schema.Literals([
    "0",
    "1",
    "-2.5",
    "'x'",
    "'12'",
    "''",
    "null",
    "undefined",
    "true",
    "NaN",
    "[]",
    "[1, 'b']",
    "({ a: 1 })"
  ])
  type Tree = string | readonly [string, Tree, Tree] | readonly [string, Tree]
  const Binary = Schema.Literals([
    "+",
    "-",
    "*",
    "/",
    "%",
    "**",
    "<",
    "<=",
    ">",
    ">=",
    "==",
    "!=",
    "===",
    "!==",
    "&&",
    "||",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    ">>>"
  ])
  const Unary = Schema.Literals(["!", "-", "+", "~", "typeof ", "void "])
  const Wrap = Schema.Literals([
    "String",
    "Number",
    "Boolean",
    "Array.isArray",
    "JSON.stringify",
    "Math.floor",
    "((x) => [x, x])",
    "(({ a } = {}) => a)",
    "((x) => `<${x}>`)",
    "((x) => x?.a)",
    "((x) => [x].map((y) => y ?? 'none').join())"
  ])
  const Tree: Schema.Codec<Tree> = Schema.Union([
    Name,
    Constant,
    Schema.Tuple([Binary, Schema.suspend(() => Tree), Schema.suspend(() => Tree)]),
    Schema.Tuple([Unary, Schema.suspend(() => Tree)]),
    Schema.Tuple([Wrap, Schema.suspend(() => Tree)])
  ])
  const print = (tree: Tree): string =>
    typeof tree === "string"
      ? tree
      : tree.length === 3
      ? `((${print(tree[1])}) ${tree[0]} (${print(tree[2])}))`
      : `${tree[0]}(${print(tree[1])})`
  const Scope = Schema.Struct({ a: Json, b: Json, c: Schema.String, d: Schema.Finite })

  it.prop("expressions agree with JavaScript", [Tree, Scope], ([tree, scope]) => agrees(print(tree), scope), {
    arbitrary: { runs: 1_500 }
  })

  const Piece = Schema.Union([
    Schema.String,
    Schema.Literals([
      "(",
      ")",
      "[",
      "]",
      "{",
      "}",
      "=>",
      "x",
      ".",
      "?.",
      "`",
      "${",
      "1",
      "'",
      "/",
      "=",
      ",",
      ";",
      " ",
      "return",
      "for",
      "const",
      "constructor",
      "__proto__",
      "this",
      "new ",
      "...",
      "async ",
      "function ",
      "\\",
      "$json",
      "map",
      "?",
      ":"
    ])
  ])

  it.prop(
    "random source gives a problem or a value, never an exception",
    [Schema.Array(Piece), Scope],
    ([pieces, scope]) => {
      const source = pieces.join("")
      run(source, scope, 10_000)
      Result.map(where(source, { total: 10_000 }), (matches) => matches(scope))
    },
    { arbitrary: { runs: 2_000 } }
  )
})
