import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as MapSvg from "../../src/pictures/MapSvg.ts"
import * as Picture from "../../src/pictures/Picture.ts"
import * as Pictures from "../../src/pictures/Pictures.ts"
import * as Svg from "../../src/pictures/Svg.ts"
import { node } from "../support/workflows.ts"
import * as workflows from "./workflows.ts"

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

interface Text extends Box {
  readonly line: string
  readonly classes: ReadonlyArray<string>
  readonly node: string | undefined
}

const unescaped = (text: string) => text.replace(/&#39;/g, "'").replace(/&quot;/g, "\"").replace(/&amp;/g, "&")

/** Widths of DejaVu Sans, a wide font, in em. */
const widths: ReadonlyArray<readonly [RegExp, number]> = [
  [/[\u3000-\uFFEF\u4E00-\u9FFF]/, 1],
  [/[ijlI.,:;'|]/, 0.29],
  [/[mwMW]/, 0.9],
  [/[A-Z]/, 0.67],
  [/[ ftr\-*]/, 0.38],
  [/./s, 0.6]
]
const em = (line: string) =>
  [...line].reduce((sum, sign) => sum + (widths.find(([signs]) => signs.test(sign))?.[1] ?? 0), 0)

/** Texts of a drawing with their boxes. */
const textsIn = (svg: string): ReadonlyArray<Text> => {
  let node: { readonly id: string; readonly x: number; readonly y: number } | undefined
  return [...svg.matchAll(
    /<g data-node="([^"]+)"[^>]*transform="translate\(([^ ]+) ([^)]+)\)"|<text x="([^"]+)" y="([^"]+)"([^>]*)>([^<]*)/g
  )].flatMap(([, id, dx, dy, x, y, attributes = "", line = ""]) => {
    if (id !== undefined) {
      node = { id, x: Number(dx), y: Number(dy) }
      return []
    }
    const classes = /class="([^"]*)"/.exec(attributes)?.[1]?.split(" ") ?? []
    // Notes come before all nodes, links' counts and the title after them.
    const own = classes.some((each) => ["name", "small"].includes(each)) ? node : undefined
    const size = Number(/font-size="(\d+)"/.exec(attributes)?.[1] ?? (classes.includes("small") ? 12 : 16))
    const content = unescaped(line)
    const width = size * em(content) * (attributes.includes("font-weight") ? 1.15 : 1)
    const at = { x: Number(x) + (own?.x ?? 0), y: Number(y) + (own?.y ?? 0) }
    const left = classes.includes("mid") ? at.x - width / 2 : classes.includes("end") ? at.x - width : at.x
    return [{ line: content, classes, node: own?.id, x: left, y: at.y - size * 0.75, width, height: size * 0.95 }]
  })
}

const overlap = (a: Box, b: Box) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

const collisions = (texts: ReadonlyArray<Text>) =>
  texts.flatMap((a, index) => texts.slice(index + 1).flatMap((b) => overlap(a, b) ? [`${a.line} and ${b.line}`] : []))

const labelsIn = (svg: string) => textsIn(svg).filter(({ classes }) => classes.join(" ").endsWith("small halo dim"))

describe("a readable picture", () => {
  it.effect("has the names of parents in their boxes and pills", () =>
    Effect.gen(function*() {
      const picture = yield* Pictures.make(workflows.knowledge)
      const texts = textsIn(Svg.render(picture)).filter(({ classes }) => classes.includes("name"))
      const parents = picture.nodes.filter(({ inputs }) => inputs.some(({ type }) => type !== "main"))
      assert.includeMembers(parents.map(({ kind }) => kind), ["root", "sub"])
      for (const { id, kind, name, place = { x: 0, y: 0 } } of parents) {
        const lines = texts.filter(({ node }) => node === id)
        assert.isNotEmpty(lines, name)
        for (const { height, line, width, x, y } of lines) {
          assert.isAtLeast(x, place.x + 60, line)
          assert.isAtMost(x + width, place.x + 224, line)
          assert.isAtLeast(y, place.y, line)
          assert.isAtMost(y + height, place.y + (kind === "sub" ? 80 : 96), line)
        }
      }
    }).pipe(Effect.provide(workflows.world)))

  it.effect("has labels of ports that touch neither each other nor names", () =>
    Effect.gen(function*() {
      const picture = yield* Pictures.make(workflows.knowledge)
      const svg = Svg.render(picture)
      const labels = labelsIn(svg)
      const lines = labels.map(({ line }) => line)
      // Ports next to each other have their names in full.
      assert.includeMembers(lines, ["Embedding*", "Document*", "Chat Model*", "Fallback Model*", "Output Parser"])
      const boxes = textsIn(svg).filter(({ classes }) => classes.includes("name") || classes.includes("dim"))
      assert.deepStrictEqual(collisions(boxes), [])
      // However close the nodes are, labels are shortened or omitted instead.
      for (const distance of [0.9, 0.8, 0.7, 0.6]) {
        const nodes = picture.nodes.map((each) => ({
          ...each,
          place: { x: (each.place?.x ?? 0) * distance, y: (each.place?.y ?? 0) * distance }
        }))
        const close = labelsIn(Svg.render({ ...picture, nodes })).filter(({ line }) => line !== "post: message")
        assert.deepStrictEqual(collisions(close), [], String(distance))
        assert.isNotEmpty(close)
      }
    }).pipe(Effect.provide(workflows.world)))

  it("wraps headings of notes, loses nothing after blank lines, and marks what does not fit", () => {
    const svg = Svg.render(Picture.make(workflows.knowledge))
    const texts = textsIn(svg).filter(({ classes }) => classes.length === 0)
    const inLong = texts.filter(({ x }) => x < 320)
    assert.strictEqual(
      inLong.map(({ line }) => line).join(" "),
      "A very long heading of a sticky note that does not fit on one line First line The last line"
    )
    for (const { line, width, x } of inLong) assert.isAtMost(x + width, 320, line)
    const cut = texts.filter(({ x }) => x >= 400)
    assert.match(cut.at(-1)?.line ?? "", /…$/)
    for (const { height, line, width, x, y } of cut) {
      assert.isAtMost(x + width, 640, line)
      assert.isAtMost(y + height, -260, line)
    }
    assert.include(svg, "<g><title># Too much")
    assert.strictEqual(svg.match(/<g><title>/g)?.length, 1)
  })

  it("shows emphasis in notes in italics, across lines, and names with underlines as they are", () => {
    const content =
      "the _vector store_ and *this* of snake_case_name, 2 * 3 * 4\n_a rather long emphasis that goes on over lines_ end"
    const svg = Svg.render(
      Picture.make({ name: "A", nodes: [node("Note", "stickyNote", 1, { content })], connections: {} })
    )
    const italics = [...svg.matchAll(/<tspan font-style="italic">([^<]*)</g)].map(([, text]) => text)
    assert.deepStrictEqual(italics.slice(0, 2), ["vector store", "this"])
    assert.strictEqual(italics.slice(2).join(" "), "a rather long emphasis that goes on over lines")
    assert.isAbove(italics.length, 3)
    assert.include(svg, "snake_case_name")
    assert.notMatch(svg, /[\uE000\uE001]|_vector/)
  })

  it("wraps a long title, and moves the drawing down", () => {
    const nodes = [node("Only", "noOp")]
    const drawn = (name: string) => {
      const svg = Svg.render(Picture.make({ name, nodes, connections: {} }))
      const [x = 0, , width = 0, height = 0] = /viewBox="([^"]*)"/.exec(svg)?.[1]?.split(" ").map(Number) ?? []
      return { height, right: x + width, titles: textsIn(svg).filter(({ classes }) => classes.includes("title")) }
    }
    const [short, long] = [drawn("Short"), drawn(String(workflows.knowledge["name"]))]
    assert.strictEqual(long.titles.map(({ line }) => line).join(" "), workflows.knowledge["name"])
    assert.strictEqual(long.height - short.height, (long.titles.length - 1) * 26)
    for (const { line, width, x } of long.titles) assert.isAtMost(x + width * 1.25 * 1.15, long.right, line)
  })

  it("counts missing credentials apart from errors and warnings", () => {
    const picture = Picture.make(workflows.knowledge, {
      overlay: {
        _tag: "Problems",
        problems: [{ severity: "error", node: "Send", path: "nodes[14].parameters.text", message: "No text" }],
        missingCredentials: [{ node: "Embeddings", type: "openAiApi" }, { node: "Send", type: "slackApi" }]
      }
    })
    assert.strictEqual(picture.subtitle, "1 error · 0 warnings · 2 credentials missing")
    const [embeddings, send] = ["Embeddings", "Send"].map((name) => picture.nodes.find((each) => each.name === name))
    assert.deepStrictEqual([embeddings?.status, embeddings?.statusText], ["incomplete", "1 credential missing"])
    assert.deepStrictEqual([send?.status, send?.statusText], ["error", "1 problem · 1 credential missing"])
    assert.deepStrictEqual(embeddings?.sections[0], { title: "Missing credential", text: "openAiApi" })
    assert.strictEqual(picture.focus, send?.id)
    assert.include(Svg.render(picture), ">credential missing<")
    const onlyMissing = Picture.make(workflows.knowledge, {
      overlay: { _tag: "Problems", problems: [], missingCredentials: [{ node: "Embeddings", type: "openAiApi" }] }
    })
    assert.strictEqual(onlyMissing.subtitle, "0 errors · 0 warnings · 1 credential missing")
    assert.isUndefined(onlyMissing.focus)
  })

  describe("contrast", () => {
    const luminance = (colour: string) => {
      const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
        .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
    const contrast = (a: string, b: string) => {
      const [dark = 0, light = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y)
      return (light + 0.05) / (dark + 0.05)
    }
    const palettes = [...Svg.variables(".x").matchAll(/\.x[^{]*\{(--[^}]+)\}/g)].map(([, declarations = ""]) =>
      new Map(declarations.split(";").map((each) => each.slice(2).split(":") as [string, string]))
    )
    const notes = [1, 2, 3, 4, 5, 6, 7].map((number) => `note${number}`)

    it.each([["light", 0], ["dark", 1]] as const)("is at least 4.5 for text and signs, 3 for lines: %s", (_, index) => {
      const palette = palettes[index] ?? new Map<string, string>()
      const of = (name: string, on: string) => contrast(palette.get(name) ?? "", palette.get(on) ?? "")
      const ink = [...palette.keys()].filter((name) => !/^(bg|dot|box|line|edge|note\d)$/.test(name))
      assert.isAtLeast(ink.length, 15)
      for (const name of ink) for (const on of ["bg", "box"]) assert.isAtLeast(of(name, on), 4.5, `${name} on ${on}`)
      for (const name of ["text", "dim"]) {
        for (const on of notes) assert.isAtLeast(of(name, on), 4.5, `${name} on ${on}`)
      }
      for (const on of ["bg", "box", ...notes]) assert.isAtLeast(of("edge", on), 3, `edge on ${on}`)
    })

    it("is not reduced by transparency", () => {
      assert.notInclude(Svg.style, "opacity")
      assert.notInclude(MapSvg.style, "opacity")
    })
  })
})
