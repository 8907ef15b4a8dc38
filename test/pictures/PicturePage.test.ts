import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import * as MapSvg from "../../src/pictures/MapSvg.ts"
import { metaKey } from "../../src/pictures/Message.ts"
import * as Picture from "../../src/pictures/Picture.ts"
import * as PicturePage from "../../src/pictures/PicturePage.ts"
import * as workflows from "./workflows.ts"

/** The texts of scripts or styles, as a browser takes them: up to the first end of the element. */
const texts = (html: string, pattern: RegExp) => [...html.matchAll(pattern)].map(([, text = ""]) => text)
const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`

const dataOf = (html: string) =>
  JSON.parse(texts(html, /<script type="application\/json" id="data">(.*?)<\/script>/gs)[0] ?? "")

describe("Page", () => {
  it.effect("is one file of at most 60 kB without the data, which allows its own script and styles alone", () =>
    Effect.gen(function*() {
      const template = yield* PicturePage.template
      assert.isBelow(Buffer.byteLength(template), 60_000)
      const html = PicturePage.html(template, Picture.make(workflows.orders))
      const [policy = ""] = texts(html, /http-equiv="Content-Security-Policy" content="([^"]*)"/g)
      assert.match(
        policy,
        /^default-src 'none'; script-src 'sha256-[^ ]+'; style-src 'sha256-[^ ]+'( 'sha256-[^ ]+'){2};/
      )
      const scripts = texts(html, /<script>(.*?)<\/script>/gs)
      const styles = texts(html, /<style>(.*?)<\/style>/gs)
      assert.deepStrictEqual([scripts.length, styles.length], [1, 2])
      for (const text of [...scripts, ...styles, MapSvg.style]) assert.include(policy, hash(text))
      assert.notMatch(html.replace("http://www.w3.org/2000/svg", ""), /(src|href)=|url\((?!#dots)|@import/)
    }))

  it.effect("embeds text that would end a script or a comment, or look like a placeholder", () =>
    Effect.gen(function*() {
      const template = yield* PicturePage.template
      const name = "</script><!--data--><script>$& $1 \u2028 ' \" `${x}`"
      const picture = Picture.make({
        name,
        nodes: [{ name, type: "x.y", position: [0, 0], parameters: { a: name, b: "\u2028\u2029" } }],
        connections: {}
      })
      const html = PicturePage.html(template, picture)
      assert.strictEqual(html.match(/<\/script>/g)?.length, 2)
      assert.notInclude(html, "\u2028")
      const data = dataOf(html)
      // What hides in text is shown.
      const shown = name.replace("\u2028", "\\u2028")
      assert.strictEqual(data.nodes[0].name, shown)
      assert.strictEqual(data.title, shown)
      assert.include(data.nodes[0].sections[0].text, JSON.stringify(shown).slice(1, -1))
    }))

  it("shortens each part of a large workflow, and everything shown exists", () => {
    const picture = Picture.make(workflows.withNodes(workflows.large(25), (node) => ({
      ...node,
      parameters: { text: "long ".repeat(2_000) }
    })))
    assert.isBelow(JSON.stringify(PicturePage.shown(picture, 200_000)).length, 200_000)
    assert.strictEqual(PicturePage.shown(picture, 1_000).nodes.length, 250)
    const message = PicturePage.message(picture)[metaKey]
    assert.isBelow(JSON.stringify(message.shown).length, 400_000)
  })

  it("lists what matters first: the change, the problems; an execution as it ran", () => {
    const names = (picture: Picture.Picture) => PicturePage.shown(picture).nodes.map(({ name }) => name)
    const nodes = ["A", "B", "C", "D"].map((name) => ({ name, type: "x.y", position: [0, 0], parameters: {} }))
    const workflow = { name: "W", nodes, connections: {} }
    const [a, b, c, d] = nodes
    const moved = [{ ...b, position: [9, 9] }, { ...c, disabled: true }, { ...d, name: "E" }]
    const before = { ...workflow, nodes: [a, ...moved] }
    const changed = { ...workflow, nodes: [a, b, c, { ...d, type: "x.z" }] }
    const difference = Picture.make(changed, { overlay: { _tag: "Difference", before } })
    assert.deepStrictEqual(names(difference), ["D", "E", "C", "B", "A"])
    const { focus, near, nodes: [first] } = PicturePage.shown(difference)
    assert.deepStrictEqual([focus, near?.length], [first?.id, 3])
    const of = (severity: "warning" | "error", node: string) => ({ severity, node, path: "", message: "m" })
    const problems = [of("warning", "B"), of("error", "D")]
    assert.deepStrictEqual(names(Picture.make(workflow, { overlay: { _tag: "Problems", problems } })), [
      "D",
      "B",
      "A",
      "C"
    ])
  })

  it.effect("waits for a picture in an MCP client", () =>
    Effect.gen(function*() {
      assert.isNull(dataOf(PicturePage.app(yield* PicturePage.template)))
    }))
})
