import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { XMLParser, XMLValidator } from "fast-xml-parser"
import * as Picture from "../../src/pictures/Picture.ts"
import * as Svg from "../../src/pictures/Svg.ts"
import { folder, images } from "./images.ts"

const hostile = [
  "<script>alert(1)</script>",
  "\"><img src=x onerror=alert(1)>",
  "</title></svg><script>alert(1)</script>",
  "]]><!--",
  "&amp;&#x3c;script&#x3e;",
  "javascript:alert(1)",
  "\u0000\u0001\uD800\uFFFE",
  "שלום עולם, זה שם ארוך מאוד של צומת",
  "‮gnp.exe",
  "👩‍👩‍👧‍👦 family of four and more than fits in a line of text under a node",
  "請求書を作成して送信するとても長い名前のノード",
  "x".repeat(5_000)
]

const named = (name: string) => ({
  name,
  nodes: [
    { id: "1", name, type: `${name}.${name}`, position: [0, 0], parameters: { [name]: name }, notes: name },
    { id: "2", name: "Note", type: "n8n-nodes-base.stickyNote", position: [0, 200], parameters: { content: name } }
  ],
  connections: { [name]: { [name]: [[{ node: name, type: name, index: 0 }]] } }
})

/** The names of all elements, and the names and values of all attributes. */
const contents = (svg: string) => {
  const names: Array<string> = []
  const attributes: Array<readonly [string, string]> = []
  const visit = (value: unknown, name: string): void => {
    if (Array.isArray(value)) return value.forEach((each) => visit(each, name))
    if (!name.startsWith("@") && !name.startsWith("#")) names.push(name)
    if (name.startsWith("@")) attributes.push([name.slice(1), String(value)])
    if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value)) visit(inner, key)
    }
  }
  visit(new XMLParser({ ignoreAttributes: false, attributeNamePrefix: "@" }).parse(svg), "")
  return { names: new Set(names.filter(Boolean)), attributes }
}

const allowed = new Set(["svg", "title", "style", "defs", "pattern", "circle", "rect", "path", "text", "g"])

describe("Svg", () => {
  for (const name of hostile) {
    it(`takes ${JSON.stringify(name.slice(0, 30))} for a name`, () => {
      const svg = Svg.render(Picture.make(named(name)))
      assert.strictEqual(XMLValidator.validate(svg), true)
      const { attributes, names } = contents(svg)
      for (const element of names) assert.isTrue(allowed.has(element), element)
      for (const [attribute, value] of attributes) {
        assert.notMatch(attribute, /^on|href/i)
        if (attribute !== "aria-label" && attribute !== "xmlns") assert.notMatch(value, /script|:\/\//i)
      }
      for (const sign of ["\u202E", "\u0000", "\u0001"]) assert.notInclude(svg, sign)
    })
  }

  it("shortens names by what a person sees as one character", () => {
    const svg = Svg.render(Picture.make(named("👩‍👩‍👧‍👦".repeat(40))))
    const lines = [...svg.matchAll(/class="mid name">([^<]*)</g)].map(([, line = ""]) => line)
    assert.isAtLeast(lines.length, 2)
    for (const line of lines) assert.match(line, /^(👩‍👩‍👧‍👦)+…?$/u)
  })

  it("has a size and a text even without nodes", () => {
    const svg = Svg.render(Picture.make({ name: "Empty", nodes: [], connections: {} }))
    assert.include(svg, "This workflow has no nodes")
    assert.strictEqual(XMLValidator.validate(svg), true)
  })

  it.effect("draws the README's pictures as they are in .github/images (vitest -u or node test/pictures/images.ts writes them)", () =>
    Effect.gen(function*() {
      const { expect } = yield* Effect.promise(() => import("vitest"))
      for (const [name, svg] of Object.entries(yield* images)) {
        yield* Effect.promise(() => expect(`${svg}\n`).toMatchFileSnapshot(folder + name))
      }
    }))
})
