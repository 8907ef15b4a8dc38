import { assert, describe, it } from "@effect/vitest"
import { arr, obj, str } from "../../../src/base/Json.ts"
import { matches } from "../../../src/catalogue/parameters/ParameterValues.ts"
import * as nodeTypes from "../../support/nodeTypes.ts"

/** Every pattern of n8n's own node types: of resource locators, and of display conditions. */
const patterns = new Set<string>()
const collect = (value: unknown): void => {
  for (const each of arr(value)) collect(each)
  const { _cnd, properties, type } = obj(value) ?? {}
  const given = type === "regex" ? str(obj(properties)?.["regex"]) : undefined
  for (const pattern of [given && `^${given}$`, str(obj(_cnd)?.["regex"])]) if (pattern) patterns.add(pattern)
  for (const each of Object.values(obj(value) ?? {})) collect(each)
}
for (const { descriptions } of nodeTypes.all.values()) for (const { properties } of descriptions) collect(properties)

describe("patterns", () => {
  it("of n8n's node types end soon on any text", () => {
    assert.isAbove(patterns.size, 80)
    const seeds = ["/", "a", "-", "0", ".", "/d/", "a-", "/a", "@a.", "_0"]
    for (const pattern of patterns) {
      const begins = ["", ...pattern.replaceAll("\\", "").match(/https?:\/\/[\w.]+\/?/g) ?? []]
      for (const begin of begins) {
        for (const seed of seeds) {
          assert.isBoolean(matches(pattern, `${begin}${seed.repeat(2_000)}`.slice(0, 1_999) + "\n"), pattern)
        }
      }
    }
  })

  it("match, or do not; what cannot be judged is neither", () => {
    assert.isTrue(matches("^[a-z]+$", "abc"))
    assert.isFalse(matches("^[a-z]+$", "a1"))
    assert.isUndefined(matches("(", "abc"))
    assert.isUndefined(matches("^(a+)+$", `${"a".repeat(5_000)}!`))
  })
})
