import { assert, describe, it } from "@effect/vitest"
import { XMLValidator } from "fast-xml-parser"
import * as Chart from "./chart.ts"

describe("chart", () => {
  it("draws bars as long as their share of the longest in the row, and leaves out what was not measured", () => {
    const svg = Chart.draw({
      title: "<measured>",
      note: "a & b",
      legend: ["ours", "theirs", "floor"],
      rows: [
        { what: "start-up", bars: [{ value: 10, text: "10" }, { value: 40, text: "40" }, { value: 20, text: "20" }] },
        { what: "tokens", bars: [{ value: 0, text: "0" }, { value: 5, text: "5" }, undefined] }
      ]
    })
    assert.strictEqual(XMLValidator.validate(svg), true)
    const bars = [...svg.matchAll(/class="c-\w+" x="452" y="\d+" width="(\d+)"/g)].map(([, width]) => Number(width))
    assert.deepStrictEqual(bars, [95, 380, 190, 1, 380])
    assert.include(svg, "&lt;measured&gt;: a &amp; b")
  })
})
