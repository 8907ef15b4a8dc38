import { assert, describe, it } from "@effect/vitest"
import { pageOf, partsOf, sections, summaryOf } from "./sections.ts"

const output = `2 × CPU, 8 GB

| a | b |
| --- | --: |
| c | 1 |

- ok: c ≤ 2 (1)
- MISSED: d ≤ 2 (3)
- not measured: e ≤ 2
`

describe("the page of the benchmarks", () => {
  it("counts the criteria that are met, and lists the others", () => {
    assert.strictEqual(
      summaryOf(output),
      "2 × CPU, 8 GB\n\n| a | b |\n| --- | --: |\n| c | 1 |\n\nCriteria met: 1 of 3.\n- MISSED: d ≤ 2 (3)\n- not measured: e ≤ 2"
    )
  })

  it("repeats the parts that are not measured again", () => {
    const parts = new Map(
      sections.slice(1).map(({ name }) => [name, { measured: "2026-01-02, version 1", summary: summaryOf(output) }])
    )
    const page = pageOf(parts)
    assert.deepStrictEqual(new Map(partsOf(page)), parts)
    assert.strictEqual(page.match(/Not measured yet/g)?.length, 1)
  })
})
