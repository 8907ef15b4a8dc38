import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type Obj, obj } from "../../src/base/Json.ts"
import * as JsonText from "../../src/base/JsonText.ts"
import { Json } from "../support/arbitrary.ts"
import { rounds } from "../support/seed.ts"

const indented = (indent: string | number) => (value: unknown) => `${JSON.stringify(value, null, indent)}\n`

const isScalar = (value: unknown) => typeof value !== "object" || value === null

/** As formatters print it: a short list of scalars stays on its line. */
const formatted = (value: unknown, base = ""): string => {
  const lines = (items: ReadonlyArray<string>) => `${items.map((item) => `\n${base}  ${item}`).join(",")}\n${base}`
  if (Array.isArray(value)) {
    if (value.every(isScalar)) return `[${value.map((each) => JSON.stringify(each)).join(", ")}]`
    return `[${lines(value.map((each) => formatted(each, `${base}  `)))}]`
  }
  const members = Object.entries(obj(value) ?? {}).map(([key, each]) =>
    `${JSON.stringify(key)}: ${formatted(each, `${base}  `)}`
  )
  return obj(value) === undefined ? JSON.stringify(value) : members.length === 0 ? "{}" : `{${lines(members)}}`
}

/** With comments wherever they may be, and trailing commas. */
const commented = (value: unknown, base = ""): string => {
  const next = `${base}\t`
  if (Array.isArray(value)) {
    return value.length === 0
      ? "[ /* , */ ]"
      : `[ // [\r\n${
        value.map((each) => `${next}/* { */ ${commented(each, next)} /* ] */ , // ,"\r\n`).join("")
      }\r\n${base}// }\r\n${base}]`
  }
  const members = Object.entries(obj(value) ?? {}).map(([key, each]) =>
    `${next}// ${base.length}\r\n${next}${JSON.stringify(key)} /* : */ :  ${commented(each, next)}`
  )
  return obj(value) === undefined
    ? JSON.stringify(value)
    : members.length === 0
    ? "{// }\r\n}"
    : `{${members.join(" // ,\r\n,")} // last\r\n${base}}`
}

const styles: Readonly<Record<string, (value: unknown) => string>> = {
  "two spaces": indented(2),
  "four spaces": indented(4),
  "tabs": indented("\t"),
  "CRLF, a mark, no last line end": (value) => `\uFEFF${JSON.stringify(value, null, 2).replaceAll("\n", "\r\n")}`,
  "one line": (value) => JSON.stringify(value),
  "one line with spaces": (value) => ` ${flat(value)}\n`,
  "a formatter's": (value) => `${formatted(value)}\n`,
  "a formatter's, tall members": (value) => formatted(value).replaceAll("\": ", "\":\n "),
  "comments": (value) => `// first\r\n${commented(value)}\r\n/* last */`
}

const flat = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(flat).join(", ")}]`
    : obj(value) === undefined
    ? JSON.stringify(value)
    : Object.keys(value as object).length === 0
    ? "{}"
    : `{ ${Object.entries(value as object).map(([key, each]) => `${JSON.stringify(key)}: ${flat(each)}`).join(", ")} }`

const valueOf = (text: string) => Result.getOrThrow(JsonText.parse(text)).value

/** Does something to one of the places where it can be done, if there is one. */
const at = (value: unknown, pick: number, change: (value: unknown) => unknown): unknown => {
  let places = 0
  let target = -1
  const walk = (value: unknown): unknown => {
    const changed = change(value)
    if (changed !== undefined && places++ === target) return changed
    if (Array.isArray(value)) return value.map(walk)
    const members = obj(value)
    return members === undefined
      ? value
      : Object.fromEntries(Object.entries(members).map(([key, each]) => [key, walk(each)]))
  }
  walk(value)
  if (places === 0) return value
  target = pick % places
  places = 0
  return walk(value)
}

const entriesOf = (value: unknown, change: (entries: ReadonlyArray<readonly [string, unknown]>) => Obj | undefined) => {
  const members = obj(value)
  return members === undefined ? undefined : change(Object.entries(members))
}

const isIndex = ([key]: readonly [string, unknown]) => String(Number(key)) === key

/** Each undoes itself; `reverse` is made in the other direction too, but for texts with comments. */
const changes: Readonly<Record<string, (value: unknown, pick: number) => unknown>> = {
  "a key more": (value) => entriesOf(value, (entries) => Object.fromEntries([...entries, ["disabled!", true]])),
  "another scalar": (value) => isScalar(value) ? (value === "other" ? 1 : "other") : undefined,
  "another key": (value, pick) =>
    entriesOf(value, (entries) =>
      entries.length === 0 || entries.some(isIndex)
        ? undefined
        : Object.fromEntries(entries.with(pick % entries.length, ["renamed!", entries[pick % entries.length]?.[1]]))),
  "an element more": (value, pick) =>
    Array.isArray(value) ? value.toSpliced(pick % (value.length + 1), 0, { id: "new!", at: [0, 0] }) : undefined,
  "a scalar element more": (value, pick) =>
    Array.isArray(value) ? value.toSpliced(pick % (value.length + 1), 0, "new!") : undefined
}

/** Around any value, so that every text shows its style. */
const around = (value: unknown) => ({
  name: "w",
  settings: { zone: "UTC", at: [1, 2], sizes: [3, 4] },
  value,
  tags: [{ id: "t", name: "tag" }]
})

const options = { arbitrary: { runs: rounds(40), size: 14 } }

describe.each(Object.entries(styles))("a text in the style: %s", (style, print) => {
  it.effect.prop("holds any other value after", { value: Json, other: Json }, ({ other, value }) =>
    Effect.sync(() => {
      const text = print(value)
      const rewritten = JsonText.rewrite(text, other)
      assert.strictEqual(JSON.stringify(valueOf(rewritten)), JSON.stringify(other))
      assert.strictEqual(JsonText.rewrite(text, value), text)
      assert.strictEqual(JsonText.rewrite(rewritten, other), rewritten)
    }), options)

  for (const [name, change] of Object.entries(changes)) {
    it.effect.prop(
      `has its bytes again after ${name}`,
      { value: Json, pick: Schema.Int },
      ({ pick, value }) =>
        Effect.sync(() => {
          const place = Math.abs(pick) % 1000
          const first = around(value)
          const other = at(first, place, (value) => change(value, place))
          const text = print(first)
          const rewritten = JsonText.rewrite(text, other)
          assert.strictEqual(JSON.stringify(valueOf(rewritten)), JSON.stringify(other))
          // Comments between elements stay with what comes after them, so where some come and go they may move.
          if (style !== "comments" || name === "another key") {
            assert.strictEqual(JsonText.rewrite(rewritten, first), text)
          }
          if (!/comments|tall members/.test(style)) {
            const reverse = print(other)
            assert.strictEqual(JsonText.rewrite(JsonText.rewrite(reverse, first), other), reverse)
          }
        }),
      options
    )
  }
})

describe("a workflow's text", () => {
  const text = `{
  // by hand
  "name": "w", // short
  "nodes": [
    { "id": "a", "name": "A", "position": [0, 0], "parameters": { "rate": 1.50 } },
    {
      "id": "b",
      "name": "B",
      "position": [240, 0] /* right of A */,
      "parameters": { "text": "\\u00e9" },
    },
  ],
  "connections": {
    "A": { "main": [[{ "node": "B", "type": "main", "index": 0 }]] },
  },
}
`
  const workflow = JSON.parse(JSON.stringify(valueOf(text)))
  const [a, b] = workflow.nodes
  const link = (node: string) => ({ node, type: "main", index: 0 })

  it.each<[does: string, to: object, ...replace: ReadonlyArray<readonly [string, string]>]>([
    [
      "disables its nodes",
      { nodes: [{ ...a, disabled: true }, { ...b, disabled: true }] },
      [`{ "rate": 1.50 } }`, `{ "rate": 1.50 }, "disabled": true }`],
      [`{ "text": "\\u00e9" },`, `{ "text": "\\u00e9" },\n      "disabled": true,`]
    ],
    ["moves a node", { nodes: [a, { ...b, position: [240, 80] }] }, ["[240, 0] /*", "[240, 80] /*"]],
    [
      "renames a node",
      { nodes: [{ ...a, name: "Z" }, b], connections: { Z: workflow.connections.A } },
      [`"name": "A"`, `"name": "Z"`],
      [`"A": {`, `"Z": {`]
    ],
    [
      "connects nodes",
      { connections: { A: { main: [[link("B"), link("A")]] }, B: { main: [[], [link("A")]] } } },
      [
        `"index": 0 }]] },`,
        `"index": 0 }, { "node": "A", "type": "main", "index": 0 }]] },
    "B": {
      "main": [\n        [],\n        [\n          {\n            "node": "A",
            "type": "main",\n            "index": 0\n          }\n        ]\n      ]\n    },`
      ]
    ],
    [
      "adds a node",
      { nodes: [a, b, { id: "c", name: "C", position: [480, 0] }] },
      ["    },\n  ],", `    },\n    {\n      "id": "c",\n      "name": "C",\n      "position": [480, 0]\n    },\n  ],`]
    ],
    [
      "removes the first node",
      { nodes: [b], connections: {} },
      [`\n    { "id": "a", "name": "A", "position": [0, 0], "parameters": { "rate": 1.50 } },`, ""],
      [`{\n    "A": { "main": [[{ "node": "B", "type": "main", "index": 0 }]] },\n  }`, "{}"]
    ]
  ])("%s", (_, to, ...replace) => {
    const expected = replace.reduce((text, [from, to]) => {
      assert.include(text, from)
      return text.replace(from, to)
    }, text)
    assert.strictEqual(JsonText.rewrite(text, { ...workflow, ...to }), expected)
  })

  it("that is not one is replaced", () => {
    for (const text of ["", "nothing", "{", "/* only */"]) {
      assert.strictEqual(JsonText.rewrite(text, [1]), "[\n  1\n]\n")
    }
  })

  it("with a repeated key contains the new value once", () => {
    assert.strictEqual(JsonText.rewrite(`{ "a": 1, "a": 2, "b": [3, 4] }`, { a: 5, b: [3] }), `{ "a": 5, "b": [3] }`)
  })

  it("of 2,000 nodes is changed in one of them alone", () => {
    const nodes = Array.from({ length: 2000 }, (_, index) => ({
      ...b,
      id: `id ${index}`,
      name: `Node ${index}`,
      parameters: { options: { values: [{ name: "x".repeat(300) }] } }
    }))
    const large = `${formatted({ nodes, connections: {} })}\n`
    assert.isAbove(large.length, 1_000_000)
    const changed = JsonText.rewrite(large, { nodes: nodes.with(1000, { ...nodes[1000], name: "?" }), connections: {} })
    assert.strictEqual(changed, large.replace("\"Node 1000\"", "\"?\""))
  })
})
