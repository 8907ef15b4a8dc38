import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as vm from "node:vm"
import * as Interpreter from "../../src/base/Interpreter.ts"
import type { Obj } from "../../src/base/Json.ts"
import { Json } from "../support/arbitrary.ts"
import * as packages from "../support/packages.ts"
import { rounds } from "../support/seed.ts"

/** A clock whose time goes on by so many milliseconds at each look. */
const clock = (millis: number) =>
  Effect.map(Clock.Clock, (real) => {
    let time = 0
    return Object.assign(Object.create(real) as Clock.Clock, { currentTimeMillisUnsafe: () => time += millis })
  })

const loadWith = (millis: number) => Effect.provideServiceEffect(Interpreter.load, Clock.Clock, clock(millis))

const { compile, where: condition } = await Effect.runPromise(loadWith(0))

const where = (source: string, limits?: Interpreter.Limits) => Result.map(condition(source), (make) => make(limits))

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
    "1 + 2 * 3 ** 2 % 5 - -4 / 2",
    "['1' + 2, 1 + '2', [1, [2, null]] + 'x', {} + '', null + 1, undefined + 1, true + true, [] + []]",
    "[1 == '1', null == undefined, [1] == 1, 'a' == ['a'], NaN == NaN, 0 == '', null == 0, [] == false]",
    "[1 < '2', 'b' > 'a', null >= 0, undefined < 1, [2] > 1, '10' < '9', '10' < 9]",
    "[5 & 3, 5 | 3, 5 ^ 3, ~5, 1 << 4, -9 >> 1, -9 >>> 28, +'0x10', -'2', !'', typeof 1, typeof (() => 1), void 0]",
    "(() => { let a = 1; if (a > 0) { const b = a + 1; a = b } else return 0; const o = {}; o.n = a; return o })()",
    "(({ a, b: { c } }) => [a, c])({ a: 1, b: { c: 3 } }, 2)",
    "Object.entries({ x: 1, y: [2, 3] }).map(([key, value]) => ({ key, value }))",
    "(() => { function even(n) { return n === 0 || odd(n - 1) } function odd(n) { return n !== 0 && even(n - 1) } return even(20) })()",
    "((a, b) => [a, b, [...[a], ...[b, 1]], { ...[a], ...null, z: 1 }])(1, undefined)",
    "[null?.a, undefined?.a.b.c(), ({ a: null }).a?.b.c, ({ f: () => 1 }).f?.(), (null)?.[1], ({}).f?.(1)]",
    "`a${1}b${[1, 2]}${{}}${null}`",
    "[[3, 1].concat([2], 4), [1, 2].flatMap((x) => [x, [x]]), [1, 2].findIndex((x) => x > 1), [1, 2].find((x) => x > 9)]",
    "(() => { const a = [1]; a.push(2, 3); a[3] = 4; return a })()",
    "[[1, 2, 3].at(-1), [1, 2, 3].slice(-2), [1, NaN].includes(NaN), [1].indexOf('1'), [1, 2, 3].reduce((a, b) => a + b), [1, 2].reduce((a, b) => a + b, 'x')]",
    "['a-b-c'.split('-', 2), 'abc'.split(''), 'abc'.split(), ' x '.trim(), 'abc'.at(-1), 'abc'.slice(1), 'abc'.charAt(1), 'abc'.substring(2, 0)]",
    "['abcabc'.indexOf('c', 3), 'abc'.indexOf('', 9), 'abc'.includes('a', 1), 'abc'.includes(''), 'aaa'.split('aa')]",
    "['a.b.c'.replace('.', '-'), 'aXbX'.replaceAll('X', 'yy'), 'abc'.replaceAll('', '-'), 'abc'.replace('', '-'), 'a1b22'.replace(/\\d+/g, '#'), 'a1b22'.replace(/\\d/, '')]",
    "['a1b22'.match(/\\d+/g), 'x'.match(/y/), [...'2024-05'.match(/(\\d+)-(\\d+)/)], 'aaa'.replace(/a*?/g, '-')]",
    "[(1.005).toFixed(1), (255).toString(16), Number(''), Number('x'), String(null), Boolean('0'), parseInt('12px', 10), parseFloat('1.5e3x'), isNaN('x')]",
    "[Math.max(1, '3', 2), Math.round(-1.5), Math.min(), Number.isInteger(5), Number.isInteger('5')]",
    "[Object.keys({ b: 1, a: 2 }), Object.entries([7]), Object.values({ x: 1 }), Array.isArray([]), Array.from({ length: 2 }, (_, i) => i), Array.from([1])]",
    "[Date.parse('2024-05-01T00:00:00Z'), new Date('2024-05-01') > new Date('2024-04-01'), new Date(0).toISOString(), new Date('x').getTime(), new Date(0), new Date(2024, 1).getUTCFullYear()]",
    "[JSON.stringify({ a: [1, undefined, () => 1], b: undefined }), JSON.parse('{\"a\":1}').a, 'a' in { a: 1 }, ['x', 'y'].map(String), [0, 1].filter(Boolean)]",
    "[JSON.stringify({ a: [1, { b: null }], c: '客' }, null, 2), JSON.stringify([1], undefined, '--'), encodeURIComponent('a b&c=客/?'), encodeURI('https://x.example/a b?c=d'), decodeURIComponent('a%20b%26'), decodeURI('a%20b%26'), encodeURIComponent(null)]"
  ])("is evaluated as in JavaScript: %s", (code) => agrees(code))

  it("long texts are compared, read and searched as in JavaScript", () => {
    const scope = {
      a: "ab".repeat(400),
      b: `${"ab".repeat(399)}ac`,
      c: `${"ab".repeat(1_000)}c${"ab".repeat(400)}`,
      d: `12 apples${" and more".repeat(20)}`
    }
    for (
      const code of [
        "[a === b, a == b, a < b, b >= a, [b].includes(a), [a, b].indexOf(b), a != 5, a < 5, a == [a]]",
        "[c.includes(a), c.includes(b), c.indexOf(a), c.indexOf(a, 1201), c.indexOf(b), a.indexOf(c), c.startsWith(a), c.endsWith(b)]",
        "[c.split(a).length, c.split(b).length, c.replace(a, '-').length, c.replaceAll(a, '-'), c.replaceAll(b, '-') === c]",
        "[Number(d), +c, parseInt(d), parseFloat(d), d > 5, d == 12, isNaN(d)]"
      ]
    ) agrees(code, scope)
  })

  it("reads the scope but cannot change it", () => {
    const scope = { item: { list: [1, 2], name: "x" } }
    same(value("[...item.list, item.name.length]", scope), [1, 2, 1])
    for (
      const code of [
        "(() => { item.name = 1 })()",
        "item.list.push(3)",
        "(() => { item.list[0] = 3 })()",
        "(() => { const { list } = item; list.push(1) })()",
        "(() => { item = 1 })()"
      ]
    ) assert.match(problem(code, scope), /^refused: /, code)
    same(scope, { item: { list: [1, 2], name: "x" } })
  })

  it.each<readonly [code: string, message: string]>([
    ["1 + this", "'this' is not allowed here"],
    ["1 + import('fs')", "'import' is not allowed here"],
    ["1 + new Map()", "'new' is not allowed here, except new Date(…)"],
    ["1 + class {}", "A class is not allowed here"],
    ["1 + (delete {}.a)", "'delete' is not allowed here"],
    ["[async () => 1]", "An async function is not allowed here"],
    ["[function* () {}]", "A generator is not allowed here"],
    ["[10n]", "A bigint is not allowed here"],
    ["[a`x`]", "A tagged template is not allowed here"],
    ["(1, 2)", "A comma between expressions is not allowed here"],
    ["() => { var x }", "'var' is not allowed here: use const or let"],
    ["() => { try {} catch {} }", "'try' is not allowed here"],
    ["() => { throw 1 }", "'throw' is not allowed here"],
    ["() => { switch (1) {} }", "'switch' is not allowed here"],
    ...["for (;;) {}", "for (const k in {}) {}", "for (const k of []) {}", "while (1) {}", "do {} while (1)"].map(
      (loop) => [`() => { ${loop} }`, "A loop is not allowed here"] as const
    ),
    ["() => { x: {} }", "A label is not allowed here"],
    ["() => { let n = 1; n++ }", "'++' is not allowed here"],
    ["() => { let n = 1; n += 1 }", "'+=' is not allowed here"],
    ["() => { const a = 1; a = 2 }", "A new value of 'a' is not allowed here"],
    ["(a = 1) => a", "A default value is not allowed here"],
    ["(...a) => a", "A rest parameter is not allowed here"],
    ["({ a = 1 }) => a", "A default value is not allowed here"],
    ["({ ...a }) => a", "A rest parameter is not allowed here"],
    ["({ [a]: b }) => b", "A computed key is not allowed here"],
    ["({ ['a']: 1 })", "A computed key is not allowed here"],
    ["({ get a() { return 1 } })", "A getter or setter is not allowed here"],
    ["({ __proto__: null })", "A key '__proto__' is not allowed here"],
    ["[1, , 2]", "A hole in an array is not allowed here"],
    ["1 instanceof Number", "'instanceof' is not allowed here"]
  ])("%s: %s", (code, message) => {
    const refusal = Result.getOrThrow(Result.flip(compile(code)))
    same([refusal.kind, refusal.message], ["refused", message])
  })

  it("a dropped method is refused by its name and place", () => {
    const ofTexts = "repeat padEnd padStart lastIndexOf search trimStart charCodeAt codePointAt normalize localeCompare"
    const others = "sort toSorted reverse forEach reduceRight flat pop shift unshift splice fill exec toPrecision"
    for (const method of `${ofTexts} ${others}`.split(" ")) {
      const { at, kind, message } = Result.getOrThrow(Result.flip(where(`tags.${method}(1)`)))
      same([kind, message, at], ["refused", `A method '${method}' is not allowed here`, 5])
    }
  })

  it.each([
    ..."globalThis process import.meta new.target Date.now() Symbol.iterator 'x'.includes [].push /a/y".split(" "),
    ..."({}).__proto__.x Object.getPrototypeOf({}) Reflect.ownKeys({}) eval('1') require('fs')".split(" "),
    "[...'abc']",
    "'x'.constructor('y')",
    "await 1",
    "new Date()",
    "new Function('return 1')",
    "[].constructor.constructor('return process')()",
    "(() => {}).constructor('return 1')()",
    "'abc'.replace('b', '$&')",
    "'abc'.split(/b/)",
    "(function f() { return f() })()",
    "/(?=a)b/.test('b')",
    "/(a)\\1/.test('aa')",
    "setTimeout(() => 1)"
  ])("outside the subset is refused: %s", (code) => {
    assert.match(problem(code), /^(refused|reference|syntax|type|nullish): /)
  })

  it("exposes no host object", () => {
    const names = ["constructor", "__proto__", "prototype", "__defineGetter__", "caller", "call", "apply", "bind"]
    const bases = ["({})", "[]", "'x'", "(1)", "true", "/x/", "new Date(0)", "(() => 1)", "Math.max", "Number", "item"]
    for (const base of bases) {
      for (const name of names) {
        for (const member of [`.${name}`, `['${name}']`, `[['${name}']]`]) {
          same(value(`typeof ${base}${member}`, { item: { f: () => 1 } }), "undefined", `${base}${member}`)
        }
        same(value(`typeof ((k) => ${base}[k])('${name}')`, { item: {} }), "undefined", `${base}[${name}]`)
      }
    }
  })

  it.each([
    ["1 + )", 4],
    ["1 + this.x", 4],
    ["1 + unknown", 4],
    ["[1, null.x]", 9],
    ["'abc'.slice('x', 1).nothing()", 20],
    ["1; 2", 1],
    ["", 0]
  ])("%j is a problem at %i", (code, at) => same(Result.getOrThrow(Result.flip(run(code))).at, at))
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
    "Array.from({ length: 1e9 })",
    "(() => { const f = () => f(); return f() })()",
    "Array.from({ length: 1000 }).map(() => Array.from({ length: 1000 }))",
    "Array.from({ length: 99 }).reduce((a) => [...a, ...a], [1])",
    "Array.from({ length: 99 }).reduce((a) => a.concat(a), [1])",
    "Array.from({ length: 99 }).reduce((a) => a.flatMap((x) => [x, x]), [1])",
    "Array.from({ length: 99 }).reduce((a) => [a, a], [1])",
    "Array.from({ length: 1e6 }).reduce((o) => ({ ...o, p: o }), {})",
    "(() => { let a = []; a.push(a); return a })()",
    "(() => { let a = []; a.push(a); return '' + a })()"
  ])("stops %s", (code) => assert.match(problem(code), /^budget: /))

  const twice = (expression: string) => `Array.from({ length: 40 }).reduce((s) => ${expression}, 'xx')`

  it.each([
    twice("s + s"),
    twice("`${s}${s}`"),
    twice("[s, s].join('')"),
    twice("s.replaceAll('x', s)"),
    twice("s.replace(/x/g, s)"),
    twice("[s, s]").replace("'xx'", "['x']") + ".join()"
  ])("makes no text of more than 1 MB: %s", (code) => assert.match(problem(code), /^(type|budget): /))

  it("reads no number and no date of more than 100 characters", () => {
    const scope = { digits: "1".repeat(200), spaces: " ".repeat(200), words: "late ".repeat(99) }
    for (const text of ["digits", "spaces"]) {
      for (const code of ["Number(@)", "+@", "@ > 3", "@ == 3", "@ * 2", "parseInt(@)", "isNaN(@)", "[1].at(@)"]) {
        same(problem(code.replace("@", text), scope), "type: A number has at most 100 characters", code)
      }
    }
    for (const code of ["new Date(@)", "Date.parse(@)"]) {
      same(problem(code.replace("@", "words"), scope), "type: A date has at most 100 characters")
    }
    same(value("[Number(words), words > 3, words == 3]", scope), [null, false, false])
  })

  // Each is a search or comparison of many steps that is written in a few characters.
  it.each([
    ..."a.includes(needle)|a.indexOf(needle) + a.split(needle).length|a === b|a <= b|a == b|[a].includes(b)".split("|"),
    ..."a in list|a.toLowerCase()|a.startsWith(b)|list[a]|list.hasOwnProperty(a)|/[ab]+c/.test(a)".split("|")
  ])("charges by length: %s", (code) => {
    const steps = (scope: Obj) => {
      const budget = { steps: 100_000_000 }
      Result.getOrThrow(Interpreter.evaluate(Result.getOrThrow(compile(code)), scope, budget))
      return 100_000_000 - budget.steps
    }
    const ofSize = (size: number) => ({
      a: "a".repeat(size),
      b: `${"a".repeat(size - 1)}b`,
      needle: `aaaab${"a".repeat(size / 10)}`,
      list: {}
    })
    const [large, small] = [steps(ofSize(1_000_000)), steps(ofSize(500_000))]
    assert.isAbove(large, 60_000)
    assert.isAbove(large / small, 1.8)
    assert.isBelow(large / small, 2.2)
  })

  it.effect("limits the time of an item, whatever its steps", () =>
    Effect.gen(function*() {
      const interpreter = yield* loadWith(20)
      const matches = Result.getOrThrow(interpreter.where("tags.some((tag) => tag === 'x')"))()
      const short = { tags: Array.from({ length: 2_000 }, () => "a") }
      const long = { tags: Array.from({ length: 100_000 }, () => "a") }
      same(matches(short), Result.succeed(false))
      const stopped = matches(long)
      same(Result.isFailure(stopped) && [stopped.failure.kind, stopped.failure.message], [
        "budget",
        "It takes more than 100 ms for one item"
      ])
      // The next item has its own time.
      same(matches(short), Result.succeed(false))
    }))

  it("bounds nesting", () => {
    const [brackets, sum] = ["[".repeat(9_000) + "]".repeat(9_000), "1" + "+1".repeat(20_000)]
    for (const code of ["(".repeat(20_000), brackets, sum, `${"!".repeat(9_000)}1`]) {
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
  it.each(
    [
      ["(a+)+$", `${"a".repeat(100_000)}!`],
      ["(a|aa)+$", `${"a".repeat(100_000)}!`],
      ["(.*a){12}$", `${"a".repeat(100_000)}!`],
      ["^(([a-z])+.)+[A-Z]([a-z])+$", "a".repeat(100_000)],
      ["(x+x+)+y", "x".repeat(100_000)],
      ["^(\\w+\\s?)*$", `${"word ".repeat(20_000)}!`],
      ["a*a*a*a*a*b", "a".repeat(100_000)]
    ] as const
  )("take linear time: %s", (pattern, text) => {
    same(value(`/${pattern}/.test(text)`, { text }), false)
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

  it("are at most 20 in an expression", () => {
    const all = (count: number) => `[${"/a/,".repeat(count)}].length`
    same(value(all(20)), 20)
    same(problem(all(21)), "budget: More than 20 regular expressions")
  })

  it("match as in JavaScript", () => {
    const patterns = String.raw`
      /\s/ /^\S+$/ /[\s]/ /[^\s]/ /[\S]/ /./ /^.$/ /a.b/s /\bno\b/i /\u00e9/ /[\b]/ /^\d{3}-\d+$/ /a|^$/ /[.^-]/ /\./
      /[\]]/ /\// /x{/ /(?<year>\d{4})/ /É/i /[^]/ /\x41/ /\cJ/ /a$/ /\W/ /\D/`.trim().split(/\s+/)
    const texts = [
      ..."a|No way|é|É|555-1234|^|.|]|/|x{|in 2024|A|_||a\nb|a\rb|a\u2028b".split("|"),
      ..." \u00a0\u3000\ufeff\v\b\n\u0085\u180e"
    ]
    assert.lengthOf(patterns, 26)
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

  it.each(
    String.raw`
    discount == null
    amount > 1000 && country === 'JP'
    $json["order no"] === 7
    /timeout/i.test(message)
    missing === undefined
    missing.more.still === undefined
    !missing.includes('x')
    customer?.id === 3
    tags.includes('b')
    lines.some((line) => line.qty > 2)
    Date === '2024-05-01'
    Date.parse(Date) > Date.parse('2024-01-01')
    constructor === 'ACME'
    message.toLowerCase().startsWith('conn')
    (country + '-' + amount) === 'JP-1500'
    Object.keys($json).length === 10
    typeof missing === 'undefined'
    new Date(Date).getTime() > 0
    $json.tags.length === 2
    JSON.stringify($json).includes('Timeout')
    toString === undefined`.trim().split(/\n +/)
  )("matches %s", (source) => same(matches(source), Result.succeed(true)))

  it.each(
    "discount|amount < 3|missing|missing.length > 2|/x/.test(missing)|customer.id.deeper.still|0|''|null".split("|")
  )("does not match %s", (source) => same(matches(source), Result.succeed(false)))

  it("refuses unsupported syntax when compiling", () => {
    for (const source of "message.sub(1)|this.amount|amount = 3|customer.constructor('x')|a b|amount >".split("|")) {
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

  it("reports of which paths it uses the value", () => {
    const uses = (source: string) => Result.getOrThrow(where(source)).uses.map((steps) => steps.join("/"))
    same(uses("customer?.name.first === 'A' && lines.length > 2 && tags[0] && page.includes('x')"), [
      "customer/name/first",
      "tags/0",
      "page"
    ])
    same(uses("customer && customer.name && Object.keys(customer.address) && customer.address.street"), [
      "customer",
      "customer/name",
      "customer/address",
      "customer/address/street"
    ])
  })

  it("reports whether it uses an item beside the paths that it reads", () => {
    const usesWhole = (source: string) => Result.getOrThrow(where(source)).usesWhole
    for (const source of ["amount > 5", "$json.amount > 5 && $json?.['order no'].size < 2", "tags.some((x) => x)"]) {
      same(usesWhole(source), false, source)
    }
    const whole = "Object.keys($json).length|$json[name]|$json['am' + 'ount']|((item) => item.amount)($json)".split("|")
    const more = "{ ...$json }.amount|[$json].some((item) => item)|$json.toString()|`${$json}`|5 && $json".split("|")
    for (const source of [...whole, ...more]) same(usesWhole(`${source} > 5`), true, source)
  })

  it("distinguishes an unsuitable item from a false condition", () => {
    const result = matches("amount.includes('1')")
    same(Result.isFailure(result) && [result.failure.kind, result.failure.at], ["type", 7])
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
  const Constant = Schema.Literals("0 1 -2.5 'x' '12' '' null undefined true NaN [] [1,'b'] ({a:1})".split(" "))
  type Tree = string | readonly [string, Tree, Tree] | readonly [string, Tree]
  const Binary = Schema.Literals("+ - * / % ** < <= > >= == != === !== && || & | ^ << >> >>>".split(" "))
  const Unary = Schema.Literals(["!", "-", "+", "~", "typeof ", "void "])
  const Wrap = Schema.Literals([
    ..."String Number Boolean Array.isArray JSON.stringify Math.floor ((x)=>[x,x]) (({a})=>a) ((x)=>x?.a)".split(" "),
    "((x) => `<${x}>`)",
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
    arbitrary: { runs: rounds(1_500) }
  })

  const Piece = Schema.Union([
    Schema.String,
    Schema.Literals([
      ..."( ) [ ] { } => x . ?. ` ${ 1 ' / = , ; return for const constructor __proto__ this ... \\ $json map ? :"
        .split(" "),
      " ",
      "new ",
      "async ",
      "function "
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
    { arbitrary: { runs: rounds(2_000) } }
  )
})
