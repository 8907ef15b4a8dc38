import { assert, describe, it } from "@effect/vitest"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { type Budget, fit, fitPage } from "../../src/answer/Minimize.ts"
import { Mark } from "../../src/answer/Truncated.ts"
import { member } from "../../src/base/JsonPath.ts"
import * as Omission from "../../src/base/Omission.ts"
import { cost, fits } from "../../src/base/TokenBound.ts"
import * as Demo from "../../src/demo/Demo.ts"
import { Json } from "../support/arbitrary.ts"
import { random } from "../support/random.ts"
import * as fixtures from "../support/scenarios/recorded.ts"
import { rounds } from "../support/seed.ts"

const unitsPerToken = 1.6

const size = (value: unknown) => JSON.stringify(value).length
const tokens = (value: unknown) => countTokens(JSON.stringify(value))

// ---- texts of every kind

type Text = (length: number) => string

const of = (draw: (next: (below: number) => number) => string): Text => (length) => {
  const next = random(length)
  let text = ""
  while (text.length < length) text += draw(next)
  return text
}
const pick = (alphabet: string): Text => {
  const signs = [...alphabet]
  return of((next) => signs[next(signs.length)] ?? "")
}
const between = (from: number, to: number): Text => of((next) => String.fromCodePoint(from + next(to - from + 1)))
const again = (piece: string): Text => (length) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length)

const lower = "abcdefghijklmnopqrstuvwxyz"
const base64 = `${lower}${lower.toUpperCase()}0123456789+/`
const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
const hex = (digits: number, next: (below: number) => number) =>
  Array.from({ length: digits }, () => next(16).toString(16)).join("")

const texts: Readonly<Record<string, Text>> = {
  ascii: between(0x20, 0x7e),
  base64: pick(base64),
  base64url: pick(base64.replace("+/", "-_")),
  base32: pick("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
  hex: of((next) => hex(1, next)),
  upperHex: of((next) => hex(1, next).toUpperCase()),
  uuids: of((next) => `${hex(8, next)}-${hex(4, next)}-4${hex(3, next)}-a${hex(3, next)}-${hex(12, next)},`),
  letters: pick(lower),
  capitals: pick(lower.toUpperCase()),
  bothCases: pick(`${lower}${lower.toUpperCase()}`),
  rareLetters: pick("qxzjkvwQXZJ"),
  digits: pick("0123456789"),
  punctuation: pick(punctuation),
  quotes: pick("\"\\"),
  escapedJson: again(JSON.stringify({ a: "b\n\"c\"", d: [1, null], e: { f: "\\" } })),
  a1: again("a1"),
  camel: again("aB"),
  spacedLetters: of((next) => ` ${lower[next(26)]}`),
  spacedDigits: of((next) => ` ${next(10)}`),
  spacedSigns: of((next) => `  ${punctuation[next(32)]}`),
  spaces: again(" "),
  newlines: again("\n"),
  controls: between(0, 0x1f),
  deletes: again("\x7f"),
  c1Controls: between(0x80, 0x9f),
  accents: pick("éèàüñöçáíóúâêîôûãõßøÛ"),
  polish: pick("ąćęłńóśźżĄĆĘŁŃÓŚŹŻ"),
  phonetic: between(0x250, 0x2af),
  combining: between(0x300, 0x36f),
  greek: between(0x370, 0x3ff),
  cyrillic: between(0x400, 0x4ff),
  hebrew: between(0x590, 0x5ff),
  arabic: between(0x600, 0x6ff),
  syriac: between(0x700, 0x74f),
  hindi: between(0x900, 0x97f),
  tamil: between(0xb80, 0xbff),
  thai: between(0xe00, 0xe7f),
  cherokee: between(0x13a0, 0x13ff),
  quotesAndDashes: between(0x2010, 0x2044),
  arrows: between(0x2190, 0x21ff),
  boxes: between(0x2500, 0x257f),
  japanese: again("株式会社の請求書をリマインダーで送信しました。「確認」お願いします"),
  hiragana: between(0x3041, 0x3096),
  katakana: between(0x30a1, 0x30ff),
  hangul: between(0xac00, 0xd7a3),
  chinese: between(0x4e00, 0x9fff),
  rareChinese: between(0x9fc0, 0x9fff),
  extensionA: between(0x3400, 0x4dbf),
  extensionB: between(0x20000, 0x2a6df),
  privateUse: between(0xe000, 0xf8ff),
  fullWidth: between(0xff00, 0xffef),
  emoji: between(0x1f300, 0x1faff),
  families: again("👨‍👩‍👧‍👦"),
  flags: between(0x1f1e6, 0x1f1ff),
  tags: between(0xe0000, 0xe007f),
  highSurrogates: between(0xd800, 0xdbff),
  lowSurrogates: between(0xdc00, 0xdfff),
  surrogates: between(0xd800, 0xdfff),
  anything: between(0, 0x10ffff),
  mixed: again("aé漢1 あ-한🙂Z\u0000")
}
const kinds = Object.keys(texts)
const textOf = (kind: string, length: number) => texts[kind]?.(length) ?? assert.fail(kind)

// ---- recorded JSON

const executions = fixtures.names.map((name) => [name, fixtures.execution(name)] as const)
const workflows = [
  ...fixtures.names.map((name) => [name, fixtures.workflow(name)] as const),
  ...Demo.seed.workflows.map((workflow) => [workflow.name, workflow] as const)
]

describe("cost", () => {
  it.each(kinds)("covers the length and 1.6 for each token of %s", (kind) => {
    for (const length of [1, 2, 7, 100, 2_000]) {
      const text = textOf(kind, length)
      for (const value of [text, [text], { [text]: text }, Array.from({ length: 9 }, () => text.slice(0, 40))]) {
        assert.isAtLeast(cost(value), size(value))
        assert.isAtLeast(cost(value), tokens(value) * unitsPerToken)
      }
    }
  })

  it("covers every character above ASCII", () => {
    const over: Array<string> = []
    for (let code = 0x80; code < 0x10000; code++) {
      const value = [String.fromCharCode(code).repeat(3)]
      if (cost(value) < tokens(value) * unitsPerToken) over.push(code.toString(16))
    }
    assert.deepStrictEqual(over, [])
  })

  it("covers every pair of ASCII characters, in a row and apart", () => {
    const over: Array<string> = []
    for (let first = 0x20; first < 0x80; first++) {
      for (let second = 0x20; second < 0x80; second++) {
        const pair = String.fromCharCode(first, second)
        for (const value of [[pair.repeat(12)], [`${pair}0`.repeat(12)], [`${pair}'s `.repeat(12)]]) {
          if (cost(value) < tokens(value) * unitsPerToken) over.push(pair)
        }
      }
    }
    assert.deepStrictEqual(over, [])
  })

  it.prop("covers every input of a few characters", {
    alphabet: Schema.NonEmptyArray(Schema.Literals(kinds)),
    characters: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 12 })),
    seed: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))
  }, ({ alphabet, characters, seed }) => {
    const next = random(seed)
    const drawn = Array.from({ length: characters }, () => {
      const all = [...textOf(alphabet[next(alphabet.length)] ?? "ascii", 300)]
      return all[next(all.length)] ?? "a"
    })
    const text = Array.from({ length: 200 }, () => drawn[next(characters)]).join("")
    assert.isAtLeast(cost([text]), tokens([text]) * unitsPerToken)
  }, { arbitrary: { runs: rounds(120) } })

  it.prop("covers any JSON", { json: Json }, ({ json }) => {
    assert.isAtLeast(cost(json), size(json))
    assert.isAtLeast(cost(json), tokens(json) * unitsPerToken)
  }, { arbitrary: { runs: rounds(120), size: 20 } })

  it.prop("is what a room has to hold, whether or not it is counted", { json: Json }, ({ json }) => {
    const all = cost(json)
    for (const room of [0, all - 1, all, 2 * all, 12 * all, 100 * all]) {
      assert.strictEqual(fits(json, room), all <= room)
    }
  }, { arbitrary: { runs: rounds(120), size: 20 } })

  it.each(
    [0, -1.234567890123456e-300, 1e21, true, null, "", "\u0007", "\ud800", "😀", "界", [], [[]], {}, { "": "" }, [""]]
      .map((unit) => [JSON.stringify(unit), unit] as const)
  )("is at most what is certain without counting: %s", (_, unit) => {
    for (const count of [0, 1, 2, 1_000]) {
      const value = [unit, Array.from({ length: count }, () => unit), String(unit).repeat(count)]
      const least = Array.from({ length: 60 }, (_, step) => Math.ceil(1.5 ** step)).find((room) => fits(value, room))
      assert.isAtMost(cost(value), least ?? 0)
    }
  })

  it.each(workflows)("is little above the length of English JSON: %s", (name, workflow) => {
    assert.isAtLeast(40_000 * size(workflow) / cost(workflow), name.startsWith("請求書") ? 33_000 : 35_000)
  })

  it.each(executions)("allows 33,000 characters of recorded n8n data in 40,000 units: %s", (name, value) => {
    // Its items hold runs of the letter x, which makes tokens with few others.
    assert.isAtLeast(40_000 * size(value) / cost(value), name === "fail" ? 31_000 : 33_000)
  })

  it("stops counting at its cap", () => {
    const trap = {
      get later(): never {
        return assert.fail("counted on")
      }
    }
    assert.isAbove(cost(["x".repeat(50), "y".repeat(50), trap], 100), 100)
    assert.isAbove(cost({ a: "x".repeat(200), b: trap }, 100), 100)
    assert.isAbove(cost([["x".repeat(200)], trap], 100), 100)
    assert.throws(() => cost(["x".repeat(50), trap], 100), "counted on")
    const long = "x".repeat(5_000_000)
    for (let round = 0; round < 1000; round++) assert.isAbove(cost([long, { [long]: long }], 4_000), 4_000)
  })
})

// ---- what was cut, and what is said about it

const isMark = Schema.is(Mark)
const isTail = (value: unknown): value is { readonly _truncated: Mark } =>
  Predicate.isObject(value) && Object.keys(value).length === 1 && isMark(value["_truncated"])

const marksOf = (value: object): ReadonlyArray<Mark> =>
  [Object.hasOwn(value, "_truncated") ? (value as { _truncated?: unknown })._truncated : []].flat().filter(isMark)

/** The end of a long path stands for it. */
const names = (mark: Mark, path: string) =>
  mark.path === path || (mark.path.startsWith("…") && mark.path.length > 70 && path.endsWith(mark.path.slice(1)))

/** Fails at the first cut that is not marked, or whose mark is wrong; returns how many there are. */
const cuts = (before: unknown, after: unknown, path = "", depth = 0, around: ReadonlyArray<Mark> = []): number => {
  if (before === after) return 0
  const here = `${path.slice(-200)} at ${depth}`
  if (Predicate.isString(before)) {
    const note = /… \[\+([1-9]\d*) chars\](?: …)?/
    const [head = "", count, tail = ""] = note.test(before) ? [] : String(after).split(note)
    if (!note.test(before)) {
      assert.isTrue(Omission.isFormOf(String(after), before), here)
      const seams = [head.length, head.length + Number(count)].map((at) => before.slice(at - 1, at + 1))
      for (const seam of seams) assert.notMatch(seam, /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/, `${here}: a split pair`)
      assert.isAtMost(tail.length, head.length, here)
    }
    return 1
  }
  if (!Predicate.isObjectOrArray(before)) return assert.fail(`${here}: ${String(before)} became ${String(after)}`)
  if (Predicate.isString(after)) {
    assert.strictEqual(after, "[nested deeper than 64 levels]", here)
    assert.strictEqual(depth, 64, here)
    return 1
  }
  if (Array.isArray(before)) {
    const list: ReadonlyArray<unknown> = Array.isArray(after) ? after : assert.fail(`${here}: no array`)
    const tail = list.at(-1)
    const inside = isTail(tail) && names(tail._truncated, path) ? tail._truncated : undefined
    const kept = inside === undefined ? list : list.slice(0, -1)
    let sum = 0
    if (kept.length < before.length) {
      const isMarked = (inside === undefined ? around : [inside]).some((mark) =>
        names(mark, path) && mark.kept === kept.length && mark.total === before.length
      )
      assert.isTrue(isMarked, `${here}: ${kept.length} of ${before.length} are left, and nothing says so`)
      sum++
    }
    assert.isAtMost(kept.length, before.length, here)
    return kept.reduce((all: number, inner, at) => all + cuts(before[at], inner, member(path, at), depth + 1), sum)
  }
  const source: Readonly<Record<string, unknown>> = { ...before }
  const result: Readonly<Record<string, unknown>> = Predicate.isObject(after)
    ? after
    : assert.fail(`${here}: no object`)
  const marks = marksOf(result)
  const ours = Object.keys(result).filter((key) => key !== "_truncated")
  assert.isTrue(ours.every((key) => Object.hasOwn(source, key)), here)
  let sum = 0
  if (ours.length < Object.keys(source).length) {
    const total = Object.keys(source).length
    const isMarked = marks.some((mark) => names(mark, path) && mark.kept === ours.length && mark.total === total)
    assert.isTrue(isMarked, `${here}: ${ours.length} of ${total} keys are left, and nothing says so`)
    sum++
  }
  for (const key of ours) sum += cuts(source[key], result[key], member(path, key), depth + 1, marks)
  assert.isAtMost(marks.length, sum, `${here}: marks of what was not cut`)
  return sum
}

/** Within the budget, all cuts marked, and nothing left for a second pass. */
const assertFits = (before: unknown, budget: number) => {
  const after = fit(before, budget)
  const json = JSON.stringify(after)
  assert.isAtMost(json.length, budget)
  assert.isAtMost(countTokens(json), budget / unitsPerToken)
  const count = cuts(before, after)
  assert.strictEqual(count === 0, after === before)
  assert.strictEqual(fit(after, budget), after)
  return after
}

// ---- values of every shape

const nest = (leaf: unknown, depth: number): unknown => {
  let value = leaf
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? { inner: value } : [value]
  return value
}

const shapes = {
  text: (text: string) => text,
  giant: (text: string, width: number) => ({ before: 1, giant: [text, text.repeat(width)], after: { is: true } }),
  texts: (text: string, width: number) => Array.from({ length: width }, () => text),
  wide: (text: string, width: number) =>
    Object.fromEntries(Array.from({ length: width }, (_, at) => [`key${at}`, text])),
  longKeys: (text: string, width: number) =>
    Object.fromEntries(Array.from({ length: width }, (_, at) => [`${at}${text}`, { [text]: [text, at] }])),
  lists: (text: string, width: number) =>
    Array.from({ length: width }, (_, at) => Array.from({ length: at % 50 }, (_, to) => [to, [text]])),
  tiny: (_: string, width: number) => ({
    all: Array.from({ length: width * 20 }, (_, at) => at % 3 === 0 ? {} : [at])
  }),
  deep: (text: string, width: number) => [nest(text, width), { beside: [text, nest([text], 200)], small: 7 }],
  deepTexts: (text: string) => {
    let value: unknown = text
    for (let level = 0; level < 70; level++) value = level % 2 === 0 ? { text, value, more: text } : [text, value, text]
    return value
  },
  reserved: (text: string, width: number) =>
    JSON.parse(
      JSON.stringify({
        list: Array.from({ length: width }, (_, at) => ({ constructor: at, _truncated: text, toString: [text] })),
        _truncated: [text, { path: "list", kept: "1", total: 2 }],
        PROTO: { hidden: text, PROTO: [text] }
      }).replaceAll("PROTO", "__proto__")
    ),
  marked: (text: string, width: number) => ({
    list: Array.from({ length: width }, () => text),
    big: text,
    inner: { also: Array.from({ length: width }, () => text) }
  }),
  rows: (text: string, width: number) =>
    Array.from(
      { length: width },
      (_, at) => ({ json: { id: at, name: text, tags: [text, at] }, pairedItem: { item: at } })
    )
}

/** The same random JSON with its strings lengthened and its lists and objects repeated. */
const grow = (json: unknown, text: string, width: number): unknown => {
  if (Predicate.isString(json)) return json + text
  if (Array.isArray(json)) {
    const grown = json.map((inner) => grow(inner, text, width))
    return Array.from({ length: Math.min(width, 40) }, () => grown).flat()
  }
  if (!Predicate.isObject(json)) return json
  return Object.fromEntries(
    Object.entries(json).flatMap(([key, inner]) => [
      [key, grow(inner, text, width)],
      [`${key}${text.slice(0, 100)}`, inner]
    ])
  )
}

const Budget = Schema.Int.check(Schema.isBetween({ minimum: 4_000, maximum: 40_000 }))

/** What to build, rather than what was built: a failure prints it. */
const Recipe = Schema.Struct({
  shape: Schema.Literals(["grown", ...Object.keys(shapes) as Array<keyof typeof shapes>]),
  kind: Schema.Literals(kinds),
  length: Schema.Literals([0, 1, 5, 30, 79, 200, 3_000, 50_000]),
  width: Schema.Literals([1, 2, 3, 10, 100, 2_000]),
  json: Json
})

const build = ({ json, kind, length, shape, width }: typeof Recipe.Type): unknown => {
  // No more than some 400,000 characters each: size is not what this is about.
  const text = textOf(kind, Math.min(length, 400_000 / width))
  return shape === "grown" ? grow([json, { json }, json], text, width) : shapes[shape](text, width)
}

describe("fit", () => {
  it.prop("keeps any JSON within the budget and marks every cut", { recipe: Recipe, budget: Budget }, (_) => {
    assertFits(build(_.recipe), _.budget)
  }, { arbitrary: { runs: rounds(90), size: 20 } })

  it.each(
    (Object.keys(shapes) as Array<keyof typeof shapes>).flatMap((shape) => [0, 1].map((half) => ({ shape, half })))
  )("cuts $shape of every kind (half $half)", ({ half, shape }) => {
    for (const kind of kinds.filter((_, index) => index % 2 === half)) {
      const value = shapes[shape](textOf(kind, 1_000), 40)
      const after = assertFits(value, 4_000)
      if (cost(value) > 4_000) assert.notStrictEqual(after, value)
    }
  })

  it.prop("returns what fits untouched", { json: Json }, ({ json }) => {
    const value = { json }
    const budget = Math.ceil(cost(value))
    assert.strictEqual(fit(value, budget), value)
    assert.strictEqual(fit(value, 10 * budget), value)
  }, { arbitrary: { runs: rounds(200), size: 20 } })

  it.prop("never mutates", { recipe: Recipe, budget: Budget }, ({ budget, recipe }) => {
    const value = build(recipe)
    const before = JSON.stringify(value)
    fit(value, budget)
    assert.strictEqual(JSON.stringify(value), before)
  }, { arbitrary: { runs: rounds(60) } })

  it.each([...executions, ...workflows])("cuts recorded n8n data: %s", (_, value) => {
    for (const budget of [4_000, 10_000, 39_400]) assertFits([value, value, value], budget)
  })

  it("uses its budget: 33,000 characters of English JSON and more in 40,000", () => {
    const many = Array.from({ length: 40 }, () => workflows.map(([, workflow]) => workflow)).flat()
    const nodes = many.flatMap((workflow) => workflow["nodes"])
    for (const value of [{ nodes }, nodes, { text: JSON.stringify(nodes) }, { a: nodes, b: { c: nodes } }]) {
      assert.isAtLeast(size(assertFits(value, 40_000)), 33_000)
    }
  })

  it("clips strings between characters", () => {
    for (const shift of ["", "x"]) {
      const text = `${shift}${"🙂".repeat(9_000)}`
      const after = fit({ text }, 4_000)
      const [, smiles = ""] = /^x?((?:🙂)*)… \[\+\d+ chars\] …(?:🙂)+$/u.exec(after.text) ??
        assert.fail(after.text.slice(-40))
      assert.isAbove(smiles.length, 700)
    }
    const lone = assertFits({ text: "\ud83d".repeat(9_000) }, 4_000)
    assert.isAbove(size(lone), 2_000)
  })

  it("keeps small values next to huge ones unchanged, in any order", () => {
    const small = { id: 7, name: "Webhook", tags: ["a", "b"], nested: { deep: [1, 2, { ok: true }] }, none: null }
    for (const giant of ["x".repeat(1e6), Array.from({ length: 1e5 }, (_, at) => at), { inner: "y ".repeat(1e6) }]) {
      for (const value of [{ giant, ...small }, { ...small, giant }, { giant, ...small, other: giant }]) {
        const { giant: _giant, other: _other, _truncated: _marks, ...rest } = fit<Record<string, unknown>>(value, 4_000)
        assert.deepStrictEqual<unknown>(rest, small)
      }
    }
  })

  it("shares the room among large values", () => {
    const text = "lorem ipsum dolor sit amet ".repeat(1_000)
    const after = fit({ a: text, b: { c: text, d: text }, e: [text, text] }, 20_000)
    for (const part of [after.a, after.b, after.e]) assert.isAbove(size(part), 5_000)
    assert.isAbove(after.b.d.length, 2_000)
  })

  it("keeps whole elements from the front, and shrinks the first if needed", () => {
    const rows = Array.from({ length: 500 }, (_, at) => ({ at, text: "abc ".repeat(20) }))
    const after = fit({ rows }, 4_000)
    assert.isAbove(after.rows.length, 20)
    assert.deepStrictEqual(after.rows, rows.slice(0, after.rows.length))
    const first = fit({ rows: [{ at: 0, text: "abc ".repeat(20_000) }, ...rows] }, 4_000)
    assert.deepStrictEqual(first.rows.map(({ at }) => at), [0])
    assert.include(first.rows[0]?.text, "… [+")
  })

  it("shrinks the last element only if no call can fetch it whole", () => {
    const value = { list: [{ id: 1, text: "short" }, { id: 2, text: "long ".repeat(9_000) }, { id: 3, text: "short" }] }
    const shrunk = fit(value, 4_000)
    assert.deepStrictEqual(shrunk.list.map(({ id }) => id), [1, 2])
    assert.isAbove(shrunk.list[1]?.text.length ?? 0, 3_000)
    const paged = fit(value, 4_000, { list: (path, kept) => path === "list" ? `more(${kept})` : undefined })
    const mark = { path: "list", kept: 1, total: 3, next: "more(1)" }
    assert.deepStrictEqual<unknown>(paged, { list: value.list.slice(0, 1), _truncated: mark })
  })

  it("shortens a long path at its beginning", () => {
    const key = "鿿".repeat(300)
    const after = fit({ [key]: { [key]: { end: Array.from({ length: 9_000 }, (_, at) => at) } } }, 4_000)
    const [mark] = marksOf(after[key]?.[key] ?? {})
    assert.match(mark?.path ?? "", /^…鿿{76}\.end$/)
    assert.strictEqual(mark?.total, 9_000)
  })

  it("keeps `__proto__` an own key", () => {
    const after = assertFits(JSON.parse(`{"__proto__":{"text":"${"x".repeat(9_000)}"},"b":1}`), 4_000)
    assert.deepStrictEqual(Object.keys(after as object), ["__proto__", "b"])
    assert.strictEqual(Object.getPrototypeOf(after), Object.prototype)
  })

  it("stays within the stack and the budget on deep nesting", () => {
    for (const value of [nest("x", 10_000), nest("x".repeat(9_000), 100_000), nest(nest("x", 20), 60)]) {
      assertFits(value, 4_000)
    }
    const shallow = nest("x", 60)
    assert.strictEqual(fit(shallow, 4_000), shallow)
    const beside = { deep: nest("x", 10_000), small: [1, 2, 3], text: "y".repeat(10_000) }
    const after = assertFits(beside, 40_000)
    assert.deepInclude(after, { small: beside.small, text: beside.text })
    let inner: unknown = (after as typeof beside).deep
    while (Predicate.isObjectOrArray(inner)) inner = Object.values(inner)[0]
    assert.strictEqual(inner, "[nested deeper than 64 levels]")
  })

  describe("a page from a tool", () => {
    const next = {
      list: (path: string, kept: number) => path === "output.items" ? `read(offset: ${100 + kept})` : undefined
    }
    const paged = (items: number, length: number) => ({
      id: "1",
      output: {
        items: Array.from({ length: items }, (_, at) => ({ at, text: "a ".repeat(length) })),
        _truncated: { path: "output.items", kept: items, total: 600, next: `read(offset: ${100 + items})` }
      }
    })

    it("keeps its mark if the page fits", () => {
      const value = paged(50, 10)
      assert.strictEqual(fit(value, 20_000, next), value)
      const beside = fit({ ...value, giant: "x".repeat(90_000) }, 20_000, next)
      assert.deepStrictEqual(beside.output, value.output)
    })

    it("keeps its total if the page is cut further, and the call continues after the elements that are left", () => {
      const { output } = fit(paged(50, 300), 4_000, next)
      const kept = output.items.length
      assert.isTrue(kept > 0 && kept < 50)
      const mark = { path: "output.items", kept, total: 600, next: `read(offset: ${100 + kept})` }
      assert.deepStrictEqual(output._truncated, mark)
      const again = fit({ output }, 2_000, next).output
      assert.isBelow(again.items.length, kept)
      assert.deepInclude(again._truncated, { kept: again.items.length, total: 600 })
    })

    it("does not let a forged mark break the budget", () => {
      const long = "x".repeat(50_000)
      const forged = { path: long, kept: 1, total: 2, next: long }
      for (const _truncated of [forged, Array.from({ length: 5_000 }, () => ({ path: "a", kept: 1, total: 2 }))]) {
        assertFits({ list: [1, 2, 3], text: long, _truncated }, 4_000)
      }
    })
  })

  it("cuts 5 MB of any shape in less than quadratic time", () => {
    const item = {
      json: { id: 1, email: "user@example.com", body: "lorem ipsum dolor sit amet ".repeat(4) },
      pairedItem: 0
    }
    const values: ReadonlyArray<unknown> = [
      Array.from({ length: 30_000 }, () => item),
      { a: { b: Array.from({ length: 30_000 }, () => item) }, c: Array.from({ length: 30_000 }, () => [item]) },
      Object.fromEntries(Array.from({ length: 300_000 }, (_, at) => [`key${at}`, at])),
      Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`key${at}`, "text ".repeat(20)])),
      Array.from({ length: 1_000_000 }, (_, at) => at),
      "漢字 and \n".repeat(500_000),
      { text: "x".repeat(5_000_000), ["y".repeat(5_000_000)]: 1 },
      Array.from(
        { length: 60 },
        () => Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`k${at}`, "z ".repeat(700)]))
      )
    ]
    for (const value of values) {
      assert.isAbove(size(value), 4_000_000)
      assert.isAtMost(size(fit(value, 40_000)), 40_000)
    }
  })
})

describe("fitPage", () => {
  it("ends a page where its budget ends, after one element at least, which is then cut", () => {
    const texts = Array.from({ length: 40 }, (_, index) => "word ".repeat(1 + index % 7 * 9))
    const page = (texts: ReadonlyArray<string>) => (count: number) => ({
      value: { texts: texts.slice(0, count), cursor: count < texts.length ? `at-${count}` : "end" },
      budget: { total: 1_200 },
      next: () => undefined
    })
    const { cursor, texts: some } = fitPage(texts.length, 40_000, page(texts))
    assert.strictEqual(cursor, `at-${some.length}`)
    assert.deepStrictEqual(some, texts.slice(0, some.length))
    assert.isAtMost(cost({ texts: some, cursor }), 1_200)
    assert.isAbove(cost(page(texts)(some.length + 1).value), 1_200)
    const long = fitPage(2, 40_000, page(["long ".repeat(500), "short"]))
    assert.strictEqual(long.cursor, "at-1")
    assert.match(long.texts[0] ?? "", /^(?:long )+.*… \[\+\d+ chars\] ….*long $/)
    assert.deepStrictEqual(fitPage(2, 40_000, page(["a", "b"])), { texts: ["a", "b"], cursor: "end" })
  })

  const within = <A>(value: A, budget: Budget, max = 40_000) =>
    fitPage(0, max, () => ({ value, budget, next: (path, count) => `rest of ${path} from ${count}` }))

  it("bounds the parts of an answer: texts end in a number, one mark counts the elements of lists", () => {
    const value = {
      groups: [{ names: ["a", "b", "c"], rows: [{ id: 1 }, { id: 2 }] }, { names: ["d"], rows: [{ id: 3 }] }],
      by: { x: "y".repeat(200), z: "short" }
    }
    const bounded = within(value, { lists: { "groups[].names": 2, "groups[].rows": 1 }, rooms: { "by.*": 100 } })
    assert.deepStrictEqual<unknown>({ ...bounded, by: undefined }, {
      groups: [{ names: ["a", "b", "… [+1 more]"], rows: [{ id: 1 }] }, { names: ["d"], rows: [{ id: 3 }] }],
      by: undefined,
      _truncated: { path: "groups[].rows", kept: 2, total: 3, next: "rest of groups[].rows from 2" }
    })
    assert.strictEqual(bounded.by.z, "short")
    assert.match(bounded.by.x, /^y+… \[\+\d+ chars\] …y+$/)
    assert.isAtMost(cost(bounded.by.x), 100)
    assert.deepStrictEqual(within(value, { lists: { "groups[].gone": 1, by: 1 }, rooms: { "groups[].by": 1 } }), value)
  })

  it("takes the first bounds with which everything fits, and cuts lists only after the last", () => {
    const rows = (size: number, count: number) =>
      Array.from({ length: count }, (_, id) => ({ id, text: "word ".repeat(size / 5) }))
    const budget = { total: 1_200, rooms: { "rows[].text": [400, 100] } }
    const small = { rows: rows(300, 3) }
    assert.deepStrictEqual(within(small, budget), small)
    const shorter = within({ rows: rows(500, 3) }, budget)
    assert.deepStrictEqual(shorter.rows.map(({ text }) => cost(text) <= 100), [true, true, true])
    assert.notProperty(shorter, "_truncated")
    const many = within({ rows: rows(500, 40) }, budget) as { rows: ReadonlyArray<unknown>; _truncated?: object }
    assert.isAtMost(cost(many), 1_200)
    assert.deepInclude(many._truncated, { path: "rows", kept: many.rows.length, total: 40 })
  })

  it.each([
    ["words", "customer contact details "],
    ["Japanese", "請求書を送信する注文を確認"],
    ["signs", "\"\\{}[]|<>#"],
    ["emoji", "🚚👨‍👩‍👧"],
    ["rare letters", "𒀀ꀀ᠀"],
    ["base64", "aGVsbG8gd29ybGQhIQ"]
  ])("keeps to a number of tokens, whatever the texts: %s", (_, text) => {
    const rows = Array.from(
      { length: 60 },
      (_, index) => ({ node: `${index} ${text.repeat(20)}`, paths: [text, text] })
    )
    const answer = within({ verdict: text, rows }, {
      total: 3_600,
      tokens: 900,
      rooms: { "rows[].node": [200, 80, 40] },
      lists: { rows: [8, 4, 1] }
    })
    assert.isAtMost(tokens(answer), 900)
    assert.isNotEmpty(answer.rows)
    assert.strictEqual(answer.verdict, text)
  })
})
