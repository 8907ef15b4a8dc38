import { assert, describe, it } from "@effect/vitest"
import { XMLValidator } from "fast-xml-parser"
import * as Curves from "./curves.ts"

describe("curves", () => {
  it("draws a line as steep as the grid's diagonal if each item costs the same, and labels apart", () => {
    const svg = Curves.draw({
      title: "<growth>",
      note: "a & b",
      panels: [{
        title: "by size",
        curves: [
          { name: "steady", points: [[10, 1], [100, 10], [1_000, 100]] },
          { name: "flat", points: [[10, 100], [1_000, 100]] }
        ]
      }]
    })
    assert.strictEqual(XMLValidator.validate(svg), true)
    const lines = [...svg.matchAll(/class="c-\w+" d="M([^"]+)"/g)].map(([, line = ""]) =>
      line.split("L").map((point) => point.split(" ").map(Number))
    )
    assert.deepStrictEqual(lines, [[[70, 310], [180, 200], [290, 90]], [[70, 90], [290, 90]]])
    const labels = [...svg.matchAll(/class="t-\w+" x="296" y="([\d.]+)"/g)].map(([, y]) => Number(y))
    assert.deepStrictEqual(labels, [94, 107])
    assert.include(svg, "&lt;growth&gt;: a &amp; b")
  })
})
