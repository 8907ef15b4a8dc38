import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Bytes from "effect/Bytes"
import * as Schema from "effect/Schema"
import { obj } from "../../src/base/Json.ts"
import { members, needleOf, pick, pickText } from "../../src/executions/jsonPick.ts"
import { type Handling, type List, markEvery, Scanner, skip, value } from "../../src/executions/jsonScan.ts"
import { Json, Key } from "../support/arbitrary.ts"
import { rounds } from "../support/seed.ts"
import { pushed } from "./runData.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array) => new TextDecoder("utf-8", { fatal: true }).decode(bytes)

const scan = (bytes: Uint8Array, root: Handling, sizes?: ReadonlyArray<number>) =>
  pushed(new Scanner(root), bytes, sizes).end()

const parsed = (bytes: Uint8Array, sizes?: ReadonlyArray<number>): unknown => {
  const taken: Array<unknown> = []
  scan(bytes, value((found) => taken.push(found)), sizes)
  assert.strictEqual(taken.length, 1)
  return taken[0]
}

const thrown = (run: () => void): unknown => {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}

const refuses = (run: () => void, what?: string) => {
  const error = thrown(run)
  assert.isTrue(error instanceof SyntaxError || error instanceof TypeError, `${what}: ${String(error)}`)
}

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** Sizes of chunks, small ones more often; none is the whole at once. */
const Sizes = Schema.Array(Schema.Union([between(0, 3), between(0, 40), between(0, 500)]))

/** Choices still to be made; none at all makes the plainest. */
const Dice = Arbitrary.array(Arbitrary.schema(between(0, 9_999)), { maxLength: 97 })

type Roll = (sides: number) => number

const roller = (dice: ReadonlyArray<number>): Roll => {
  let turn = 0
  return (sides) => {
    const round = dice.length === 0 ? 0 : Math.floor(turn / dice.length)
    return ((dice[turn++ % dice.length] ?? 0) * (2 * round + 1) >> 1) % sides
  }
}

const numbers = (
  "-0 0 -0.0 0e0 1e400 -1E+400 1E-7 1e-400 5e-324 123456789012345678901234567890 9007199254740993 -0.1E+2 "
  + "1.7976931348623157e308"
).split(" ")

const pieces = [
  "\"",
  "\\",
  "/",
  "\\\"",
  "\\\\\"",
  "{\"a\":[",
  "]},",
  "\u0000\u001f",
  "\u007f\u2028\ufeff",
  "é",
  "€",
  "😀",
  "\ud800",
  "\udc00",
  "\udc00\ud83d",
  "\b\f\n\r\t",
  "x".repeat(60),
  `${"é".repeat(40)}"${"y".repeat(60)}\\`
]

const keys = ["", "__proto__", "constructor", "0", "length", "é😀\ud800"]
const spaces = ["", " ", "\n", "\t\r\n  ", "", ""]

const mustEscape = (char: string) => char < " " || char === "\"" || char === "\\" || /^[\ud800-\udfff]$/u.test(char)

const unicodeEscapes = (char: string, roll: Roll = () => 0) =>
  Array.from({ length: char.length }, (_, index) => {
    const hex = char.charCodeAt(index).toString(16).padStart(4, "0")
    return `\\u${roll(2) === 0 ? hex : hex.toUpperCase()}`
  }).join("")

const quoted = (text: string, roll: Roll = () => 0) => {
  const charOf = (char: string) => {
    const [way, short] = [roll(4), char === "/" ? "\\/" : JSON.stringify(char).slice(1, -1)]
    return way === 1 ? unicodeEscapes(char, roll) : way === 2 || mustEscape(char) ? short : char
  }
  return `"${Array.from(text, charOf).join("")}"`
}

/**
 * Some JSON text of the value's shape: strings, keys and numbers may be made odder, so the text is what counts and
 * `JSON.parse` says what it means. No key holds a backslash, as in {@link Key}.
 */
const write = (json: Schema.Json, roll: Roll, duplicates = false): string => {
  const space = () => spaces[roll(spaces.length)] ?? ""
  const odder = (text: string) => roll(3) === 1 ? text + (pieces[roll(pieces.length)] ?? "") : text
  const list = (parts: ReadonlyArray<string>) => space() + parts.map((part) => part + space()).join(`,${space()}`)
  if (typeof json === "string") return quoted(odder(json), roll)
  if (typeof json === "number") return roll(3) === 1 ? numbers[roll(numbers.length)] ?? "0" : JSON.stringify(json)
  if (json === null || typeof json !== "object") return JSON.stringify(json)
  if (isArray(json)) return `[${list(json.map((element) => write(element, roll, duplicates)))}]`
  const used = new Set<string>()
  const members = Object.entries(json).map(([key, member]) => {
    let name = (roll(4) === 1 ? keys[roll(keys.length)] ?? "" : odder(key)).replaceAll("\\", "|")
    const isTaken = () => used.has(name) && !(duplicates && roll(2) === 1)
    while (isTaken()) name += "+"
    used.add(name)
    return `${quoted(name, roll)}${space()}:${space()}${write(member, roll, duplicates)}`
  })
  return `{${list(members)}}`
}

const isArray = (json: unknown): json is ReadonlyArray<Schema.Json> => Array.isArray(json)

/** Anything JSON, mostly not a mere number or word. */
const Deep = Arbitrary.schema(
  Schema.Union([
    Schema.Array(Json),
    Schema.Record(Key, Json),
    Schema.Array(Schema.Struct({ a: Json, b: Schema.Array(Json) })),
    Schema.Struct({ rows: Schema.Array(Schema.Array(Json)), text: Schema.String, more: Json })
  ])
)

/** As if the members were own properties, which is what they are, `__proto__` included. */
const own = (json: unknown, key: string): unknown => Object.getOwnPropertyDescriptor(obj(json) ?? {}, key)?.value

const kinds = ["skip", "value", "object", "array", "list"] as const

/** What to do with the value at a path: any of all, more often one that fits. */
const chosen = (json: unknown, path: string, salt: number): typeof kinds[number] => {
  let hash = salt | 0
  for (let index = 0; index < path.length; index++) hash = Math.imul(hash ^ path.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ hash >>> 15, 0x2c1b3c6d) >>> 4
  if (hash % 4 === 0) return kinds[(hash >>> 2) % kinds.length] ?? "skip"
  if (Array.isArray(json)) return hash % 5 < 4 ? "array" : "list"
  return obj(json) === undefined ? "value" : "object"
}

/** What was told of each path. */
type Told = Array<readonly [path: string, what: string, value: unknown]>

const append = (path: string, key: string | number) => JSON.stringify([...JSON.parse(path), key])

/** The handling that the choices make; the parsed document only serves to choose. */
const handling = (json: unknown, path: string, salt: number, told: Told, bytes = new Uint8Array()): Handling => {
  const on = chosen(json, path, salt)
  const below = (key: string | number, member: unknown) => handling(member, append(path, key), salt, told, bytes)
  switch (on) {
    case "skip":
      return skip
    case "value":
      return value((found) => told.push([path, on, found]))
    case "object":
      return { on, member: (key) => below(key, own(json, key)), end: () => told.push([path, on, undefined]) }
    case "array":
      return { on, element: (index) => below(index, isArray(json) ? json[index] : undefined) }
    case "list":
      return {
        on,
        take: ({ count, end, start }) =>
          told.push([path, on, [count, bytes.length > 0 && JSON.parse(textOf(bytes.subarray(start - 1, end + 1)))]])
      }
  }
}

/** The same choices made over what `JSON.parse` gives. */
const walk = (json: unknown, path: string, salt: number, told: Told): void => {
  const on = chosen(json, path, salt)
  if (on === "value") told.push([path, on, json])
  if (on === "list" && isArray(json)) told.push([path, on, [json.length, json]])
  if (on === "array" && isArray(json)) {
    for (const [index, element] of json.entries()) walk(element, append(path, index), salt, told)
  }
  if (on === "object" && obj(json) !== undefined) {
    for (const key of Object.keys(obj(json) ?? {})) walk(own(json, key), append(path, key), salt, told)
    told.push([path, on, undefined])
  }
}

/** `JSON.parse` puts keys that look like numbers first. */
const byPath = (told: Told) => told.toSorted(([a], [b]) => a < b ? -1 : a > b ? 1 : 0)

describe("value", () => {
  it.prop(
    "yields what JSON.parse yields, for any text in any chunks",
    { json: Json, dice: Dice, sizes: Sizes },
    ({ dice, json, sizes }) => {
      const bytes = bytesOf(`\t${write(json, roller(dice), true)}\r\n `)
      const expected: unknown = JSON.parse(textOf(bytes))
      for (const cut of [sizes, [1], [0, 2], []]) assert.deepStrictEqual(parsed(bytes, cut), expected)
    },
    { arbitrary: { runs: rounds(200) } }
  )

  it("reads every odd number, string and key, byte by byte", () => {
    const texts = [
      ...numbers,
      ...pieces.flatMap((piece) => [quoted(piece), `"${unicodeEscapes(piece)}"`]),
      ...keys.map((key) => `{${quoted(key)}:1,"b":2,${quoted(key)}:{${quoted(key)}:true}}`)
    ]
    const all = bytesOf(`[${texts.join(",")}]`)
    const expected = texts.map((text): unknown => JSON.parse(text))
    for (const sizes of [[], [1], [2], [3]]) {
      assert.deepStrictEqual(parsed(all, sizes), expected)
      const seen: Array<unknown> = []
      scan(all, { on: "array", element: () => value((found) => seen.push(found)) }, sizes)
      assert.deepStrictEqual(seen, expected)
      texts.forEach((text, index) => assert.deepStrictEqual(parsed(bytesOf(text), sizes), expected[index], text))
    }
    assert.isTrue(Object.is(parsed(bytesOf("-0")), -0))
    assert.isTrue(Object.hasOwn(obj(parsed(bytesOf("{\"__proto__\":null}"))) ?? {}, "__proto__"))
  })

  it("is not overflowed by 10,000 levels, parsed, looked at or stepped over", () => {
    const levels = 10_000
    const text = bytesOf(`${"[{\"a\":".repeat(levels)}7${"}]".repeat(levels)}`)
    for (const sizes of [[], [1], [7]]) {
      let depth = 0
      for (let json = parsed(text, sizes); isArray(json); json = own(json[0], "a")) depth++
      assert.strictEqual(depth, levels)

      let looked = 0
      let innermost: unknown
      const element = (): Handling => ({ on: "object", member })
      const member = (): Handling => {
        looked++
        return looked === levels ? value((found) => (innermost = found)) : { on: "array", element }
      }
      scan(text, { on: "array", element }, sizes)
      assert.strictEqual(looked, levels)
      assert.strictEqual(innermost, 7)

      const lists: Array<List> = []
      scan(text, { on: "list", take: (list) => lists.push(list) }, sizes)
      assert.deepStrictEqual(lists, [{ count: 1, start: 1, end: text.length - 1, marks: [{ element: 0, at: 1 }] }])
      scan(text, skip, sizes)
    }
  })

  it("tells members in the order of the text, the repeated ones too, and then the end", () => {
    const told: Array<string> = []
    const take = (name: string) => value((found) => told.push(`${name}=${JSON.stringify(found)}`))
    scan(bytesOf(`{"2":1,"1":[2],"2":{"x":3},"":"4"}`), { on: "object", member: take, end: () => told.push("end") }, [
      1
    ])
    assert.deepStrictEqual(told, ["2=1", "1=[2]", "2={\"x\":3}", "=\"4\"", "end"])
  })
})

describe("handlings", () => {
  it.prop(
    "agree at each place with a walk through JSON.parse's result",
    { json: Deep, dice: Dice, sizes: Sizes, salt: between(0, 1_000_000) },
    ({ dice, json, salt, sizes }) => {
      const bytes = bytesOf(` ${write(json, roller(dice))}\n`)
      const document: unknown = JSON.parse(textOf(bytes))
      const expected: Told = []
      walk(document, "[]", salt, expected)
      for (const cut of [sizes, [1], []]) {
        const told: Told = []
        scan(bytes, handling(document, "[]", salt, told, bytes), cut)
        assert.deepStrictEqual(byPath(told), byPath(expected))
      }
    },
    { arbitrary: { runs: rounds(250) } }
  )
})

/** Every mark begins an element, marks lie as far apart as they should, and from mark to mark there is JSON. */
const checkList = (list: List, bytes: Uint8Array, begins: ReadonlyArray<number>, elements: ReadonlyArray<unknown>) => {
  assert.strictEqual(list.count, elements.length)
  assert.strictEqual(bytes[list.start - 1], 0x5b)
  assert.strictEqual(bytes[list.end], 0x5d)
  assert.deepStrictEqual(list.marks[0], elements.length === 0 ? undefined : { element: 0, at: begins[0] })
  for (const [index, mark] of list.marks.entries()) {
    assert.strictEqual(mark.at, begins[mark.element])
    const next = list.marks[index + 1]
    const upTo = next?.element ?? list.count
    assert.isAbove(upTo, mark.element)
    if (next !== undefined) assert.isAtLeast(next.at - mark.at, markEvery)
    // Nothing far from a mark goes unmarked.
    if (upTo - 1 > mark.element) assert.isBelow((begins[upTo - 1] ?? 0) - mark.at, markEvery)
    const text = textOf(bytes.subarray(mark.at, next?.at ?? list.end)).trimEnd()
    assert.strictEqual(text.endsWith(","), next !== undefined)
    assert.deepStrictEqual<unknown>(
      JSON.parse(`[${next === undefined ? text : text.slice(0, -1)}]`),
      elements.slice(mark.element, upTo)
    )
  }
}

/** A list of these texts, and where each begins. */
const listOf = (texts: ReadonlyArray<string>) => {
  let at = 2
  const begins = texts.map((text) => (at += Buffer.byteLength(text) + 3) - Buffer.byteLength(text) - 3)
  return { begins, bytes: bytesOf(`[\n${texts.join(" ,\t")}]`) }
}

const listIn = (bytes: Uint8Array, sizes: ReadonlyArray<number>) => {
  const lists: Array<List> = []
  scan(bytes, { on: "list", take: (list) => lists.push(list) }, sizes)
  assert.lengthOf(lists, 1)
  return lists[0] as List
}

describe("list", () => {
  const paddings = [0, 1, 30, 1_000, 8_000, markEvery - 20, markEvery, 3 * markEvery]

  it.prop(
    "marks elements of any size where they begin",
    {
      list: Arbitrary.array(Arbitrary.schema(Schema.Tuple([between(0, paddings.length - 1), Json])), { maxLength: 40 }),
      dice: Dice,
      sizes: Arbitrary.schema(Schema.Array(Schema.Union([between(0, 40), between(0, 100_000)])))
    },
    ({ dice, list, sizes }) => {
      const texts = list.map(([padding, json]) =>
        write(
          padding === 0 ? json : { json, text: "\\\"é,]}".repeat(Math.ceil((paddings[padding] ?? 0) / 12)) },
          roller([0, ...dice])
        )
      )
      const { begins, bytes } = listOf(texts)
      checkList(listIn(bytes, sizes), bytes, begins, JSON.parse(textOf(bytes)))
    },
    { arbitrary: { runs: rounds(25), size: 40 } }
  )

  it("marks many small elements in few places, whatever the chunks", () => {
    const elements = Array.from({ length: 4_000 }, (_, id) => ({ id, name: "é".repeat(9) }))
    const { begins, bytes } = listOf(elements.map((each) => JSON.stringify(each)))
    for (const sizes of [[], [1], [1_000], [65_536, 0, 1]]) {
      const list = listIn(bytes, sizes)
      checkList(list, bytes, begins, elements)
      assert.strictEqual(list.marks.length, Math.ceil(bytes.length / markEvery))
    }
  })
})

/** Looks at everything: at lists of objects of lists … as deep as they go. */
const everything = (depth = 0): Handling =>
  depth % 2 === 0
    ? { on: "array", element: () => everything(depth + 1) }
    : { on: "object", member: (key) => key === "v" ? value(() => {}) : everything(depth + 1) }

describe("text that is not JSON", () => {
  it.prop(
    "cut short at any byte, throws",
    { json: Deep, dice: Dice, salt: between(0, 1_000_000), chunk: between(1, 50) },
    ({ chunk, dice, json, salt }) => {
      const bytes = bytesOf(write(json, roller(dice)))
      const end = bytes.length
      const document: unknown = JSON.parse(textOf(bytes))
      // Each byte of short texts, some 60 of longer ones.
      for (let at = 0; at < end; at += Math.max(1, Math.floor(end / 60))) {
        const cut = bytes.subarray(0, at)
        for (const root of [skip, value(() => {}), handling(document, "[]", salt, [])]) {
          refuses(() => scan(cut, root, [chunk]), textOf(bytes))
        }
      }
      for (const root of [skip, handling(document, "[]", salt, [])]) scan(bytes, root, [chunk])
    }
  )

  const roots = [skip, value(() => {}), everything(), everything(1)]

  it("throws where it is cut short, has more after its end, or is built wrongly where it is looked at", () => {
    const cut = [
      "",
      " \n",
      ...String.raw`" | "a | "a\ | "a\" | [ | [1 | [1, | { | {"a | {"a" | {"a": | {"a":1,`.split(" | ")
    ]
    const longer = ["{}", "[]", "[1]", "\"a\"", "{\"a\":[{}]}"].flatMap((text) =>
      ["x", "]", "}", ",", "{}", "\"\"", "0", "\u0000", "\ufeff"].flatMap((more) => [text + more, `${text} \n${more}`])
    )
    for (const text of [...cut, ...longer]) {
      for (const root of roots) for (const sizes of [[], [1]]) refuses(() => scan(bytesOf(text), root, sizes), text)
    }
    const wrong = (
      String.raw`[,] | [1,] | [,1] | [1,,2] | [1 2] | [1} | ["a":1] | [} | [{]} | [[],] | [{},] | [{,}] | [{"v"}] | `
      + String.raw`[{"v" 1}] | [{"v":}] | [{"v":]}] | [{"v":,"v":1}] | [{"v":1,}] | [{"v":1]] | [{"v":1 "v":2}] | `
      + String.raw`[{"v"::1}] | [{"v":1:2}] | [{v:1}] | [{'v':1}] | [{1:1}] | [{null:1}] | [{[]:1}] | [{"v\x":1}] | `
      + `[{"v\n":1}] | [{"v":01}] | [{"v":+1}] | [{"v":.5}] | [{"v":NaN}] | [{"v":undefined}] | [{"v":'a'}] | [{"v":"\t"}] | `
      + String
        .raw`[{"v":"\u12g4"}] | [{"v":[1,]}] | [{"v":{"a":1]}] | [{"o":[1,]}] | [{"o":[{"v":1}{}]}] | [{"o":[{"v":1}],}]`
    ).split(" | ")
    for (const text of wrong) {
      assert.throws(() => JSON.parse(text), SyntaxError)
      for (const root of [value(() => {}), everything()]) {
        for (const sizes of [[], [1]]) refuses(() => scan(bytesOf(text), root, sizes), text)
      }
    }
    for (const text of ["[,]", "[1,]", "[,1]", "[1,,2]", "[1 2]", "[1}", "[", "[1", "[{}", "[[1]"]) {
      refuses(() => scan(bytesOf(text), { on: "list", take: () => {} }), text)
    }
    const words = ["tru", "-", "1.", "1e", "nul", "1 2", "1,", "1x", "true]", "truefalse"]
    for (const text of words) for (const sizes of [[], [1]]) refuses(() => parsed(bytesOf(text), sizes), text)
  })

  it("throws at bytes that are not UTF-8 in the parts that it parses, and only there", () => {
    const broken = [[0xff], [0xc3], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98], [0xc0, 0x80], [0x80]]
    for (const odd of broken) {
      const json = (before: string, after: string) => Uint8Array.from([...bytesOf(before), ...odd, ...bytesOf(after)])
      for (const sizes of [[], [1]]) {
        refuses(() => parsed(json("\"", "\""), sizes))
        refuses(() => parsed(json("[{\"a\":\"b", "\"}]"), sizes))
        refuses(() => scan(json("{\"", "\":1}"), { on: "object", member: () => skip }, sizes))
        refuses(() => scan(json("[{\"v\":\"", "\"}]"), everything(), sizes))
        scan(json("[{\"v\":1,\"o\":\"", "\"}]"), everything(), sizes)
        scan(json("[\"", "\"]"), { on: "list", take: () => {} }, sizes)
      }
    }
  })

  const fragments = ["", ",", ":", "{", "}", "[", "]", "\"", "\\", " ", "0", "e", "x", "\u0000", "é", "\\u", "null"]

  it.prop(
    "damaged anywhere, is taken exactly when JSON.parse takes it",
    {
      json: Arbitrary.schema(Schema.Union([Json, Schema.Array(Json)])),
      dice: Dice,
      sizes: Sizes,
      salt: between(0, 1_000_000),
      damages: Schema.Array(Schema.Tuple([between(0, 10_000), between(0, 4), between(0, fragments.length - 1)])).check(
        Schema.isMinLength(1)
      )
    },
    ({ damages, dice, json, salt, sizes }) => {
      const whole = bytesOf(write(json, roller(dice)))
      let bytes = whole
      for (const [place, removed, inserted] of damages.slice(0, 3)) {
        const at = place % (bytes.length + 1)
        bytes = Bytes.concat([bytes.subarray(0, at), bytesOf(fragments[inserted] ?? ""), bytes.subarray(at + removed)])
      }
      // A key with a backslash would spoil JSON.parse: see `write`.
      if (/\\\\(?:[^"\\]|\\.)*"\s*:/.test(new TextDecoder().decode(bytes))) return
      let expected: unknown
      const isWrong = thrown(() => (expected = JSON.parse(textOf(bytes)))) !== undefined
      if (isWrong) {
        refuses(() => parsed(bytes, sizes))
        const odd = thrown(() => scan(bytes, handling(json, "[]", salt, []), sizes))
        assert.isTrue(odd === undefined || odd instanceof SyntaxError || odd instanceof TypeError, String(odd))
      } else {
        assert.deepStrictEqual(parsed(bytes, sizes), expected)
        scan(bytes, handling(json, "[]", salt, []), sizes)
      }
    },
    { arbitrary: { runs: rounds(250) } }
  )
})

describe("pick", () => {
  const picked = (text: string, wanted: Parameters<typeof members>[0]): ReadonlyArray<unknown> =>
    JSON.parse(pick(Buffer.from(text), members(wanted)))

  it.prop(
    "retains the wanted members of any objects in a list, and other elements as a whole",
    {
      rows: Schema.Array(
        Schema.Union([Schema.Record(Key, Json), Schema.Struct({ a: Schema.Record(Key, Json) }), Json])
      ),
      dice: Dice
    },
    ({ dice, rows }) => {
      const text = write(rows, roller(dice), true)
      const all: ReadonlyArray<unknown> = JSON.parse(text)
      const names = all.flatMap((row) => Object.keys(obj(row) ?? {})).filter((_, index) => index % 2 === 0)
      const wanted = Object.fromEntries([...names.map((name) => [name, true] as const), ["a", { b: true }]])
      const some = picked(text.trim().slice(1, -1), wanted)
      assert.strictEqual(some.length, all.length)
      for (const [index, row] of all.entries()) {
        const part = some[index]
        if (obj(row) === undefined) assert.deepStrictEqual(part, row)
        for (const name of names) if (name !== "a") assert.deepStrictEqual(own(part, name), own(row, name))
        assert.deepStrictEqual(own(own(part, "a"), "b"), own(own(row, "a"), "b"))
        for (const name of Object.keys(obj(part) ?? {})) {
          if (name !== "a") assert.deepStrictEqual(own(part, name), own(row, name))
        }
      }
    },
    { arbitrary: { runs: rounds(250) } }
  )

  it.prop(
    "retains the members in which a text occurs, in any case, unless that is uncertain",
    { rows: Schema.Array(Schema.Struct({ json: Schema.Record(Key, Json) })), dice: Dice, at: between(0, 8) },
    ({ at, dice, rows }) => {
      const text = write(rows, roller(dice))
      const needle = ["a", "k", "1", "i", "y", "e", "x", " ", "tr"][at] ?? "a"
      const bytes = pickText(Buffer.from(text.trim().slice(1, -1)), "json", needleOf(needle) ?? assert.fail())
      if (bytes === undefined) return assert.match(text, /\\u|\u0130|\u212a/)
      const all: ReadonlyArray<unknown> = JSON.parse(text)
      const some: ReadonlyArray<unknown> = JSON.parse(bytes.toString())
      for (const [index, row] of all.entries()) {
        const [json, part] = [own(row, "json"), own(some[index], "json")]
        for (const name of Object.keys(obj(json) ?? {})) {
          const member = own(json, name)
          if (Object.hasOwn(obj(part) ?? {}, name)) assert.deepStrictEqual(own(part, name), member)
          else assert.notInclude(JSON.stringify([name, member]).toLowerCase(), needle)
        }
      }
    },
    { arbitrary: { runs: rounds(250) } }
  )

  it("takes only texts that JSON writes in one way", () => {
    for (const text of ["", "/", "\"", "\\", "é", "\n", "x".repeat(201)]) assert.isUndefined(needleOf(text))
    const json = Buffer.from("{\"json\":{\"a\":\"x.y\",\"b\":\"X+Y\",\"c\":\"xy\"}}")
    const found = (text: string) => String(pickText(json, "json", needleOf(text) ?? assert.fail()))
    assert.deepStrictEqual(["x.y", "x+y", "y", "b", "z"].map(found), [
      "[{\"json\":{\"a\":\"x.y\"}}]",
      "[{\"json\":{\"b\":\"X+Y\"}}]",
      "[{\"json\":{\"a\":\"x.y\",\"b\":\"X+Y\",\"c\":\"xy\"}}]",
      "[{\"json\":{\"b\":\"X+Y\"}}]",
      "[]"
    ])
  })

  it("leaves out the other members", () => {
    const text =
      " { \"a\" : [1, {\"b\":2}], \"b\" : \"\\\"}\" , \"c\" : { \"a\" : 1 , \"d\" : \"\\\\\" } } , 7, {}, {\"\\u0062\":1, \"x\":\"b\"}"
    assert.deepStrictEqual(picked(text, { a: true, c: { d: true } }), [{ a: [1, { b: 2 }], c: { d: "\\" } }, 7, {}, {
      b: 1
    }])
    assert.deepStrictEqual(picked("", { a: true }), [])
  })
})

describe("speed", () => {
  /** A list of so many bytes, of one element over and over. */
  const repeated = (element: unknown, size: number) => {
    const one = JSON.stringify(element)
    return `[${`${one},`.repeat(size / (one.length + 1))}${one}]`
  }

  const located: Handling = { on: "list", take: () => {} }
  const item = { json: { id: 123, name: "Ada Lovelace", tags: ["a", "bb"], note: null }, pairedItem: { item: 0 } }

  it.each<[string, (size: number) => string, Handling, number?]>([
    ["a list of small items", (size) => repeated(item, size), located],
    ["one string of many lines", (size) => JSON.stringify([`${"word ".repeat(12)}\n`.repeat(size / 61)]), located],
    ["one string of quotes", (size) => JSON.stringify(["\\\"x".repeat(size / 5)]), located],
    ["one string in many chunks, parsed", (size) => JSON.stringify("x".repeat(size)), value(() => {}), 1_000]
  ])(
    "%s: what took time by the square of it would not end within the test's time",
    (_, make, root, chunk = Infinity) => {
      const bytes = bytesOf(make(40_000_000))
      const scanner = new Scanner(root)
      for (let at = 0; at < bytes.length; at += chunk) scanner.push(bytes.subarray(at, at + chunk))
      scanner.end()
    }
  )
})
