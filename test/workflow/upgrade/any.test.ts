/** Upgrades of nodes with any parameters. */
import { assert, describe, it } from "@effect/vitest"
import { random } from "../../support/random.ts"
import { joined, node } from "../../support/workflows.ts"
import { lookups, short, types, upgrade, versionsOf } from "./upgrades.ts"

const scalars = [
  "",
  "=",
  "={{ $json.a }}",
  "={{",
  "=a{{ b }}",
  "equal",
  "1",
  "__proto__",
  "𝕏",
  "a",
  undefined,
  null,
  true,
  false,
  0,
  -1.5,
  1e9,
  [],
  {},
  [null]
]
const keys = (
  "values conditions string rules name value value1 operation options parameter parameters item interval operations " +
  "field mode unit fieldType fieldName multiselect redirect response returnValue batch batching thinking purpose"
).split(" ")

const garbage = (next: (limit: number) => number, depth = 3): unknown => {
  const pick = next(depth === 0 ? scalars.length : scalars.length + 8)
  if (pick < scalars.length) return scalars[pick]
  const list = Array.from({ length: next(4) }, () => garbage(next, depth - 1))
  return pick % 2 === 0 ? list : Object.fromEntries(list.map((value) => [keys[next(keys.length)] ?? "", value]))
}

describe("upgrades take any parameters", () => {
  it("of each type", () => {
    const next = random(11)
    for (const type of types) {
      const properties = lookups.find(type)?.descriptions.flatMap(({ properties }) => properties) ?? []
      const names = [...new Set(properties.map(({ name }) => name))]
      const versions = versionsOf(type)
      for (let round = 0; round < 8; round++) {
        const parameters = Object.fromEntries(names.filter(() => next(3) > 0).map((name) => [name, garbage(next)]))
        const before = [node("花", type, versions[round % versions.length], parameters)]
        const { after, upgraded } = upgrade(before, joined(["花", "花", "ai_outputParser"]))
        assert.strictEqual(upgraded.length === 0, after["nodes"] === before, short(type))
      }
    }
  })
})
