import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Blocks from "../../src/executions/blocks.ts"
import { rounds } from "../support/seed.ts"

const block = 1024 * 1024

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** Around a boundary of blocks, or anywhere. */
const Position = Schema.Union([
  between(0, 100),
  between(block - 3, block + 3),
  between(2 * block - 3, 2 * block + 3),
  between(0, 3 * block)
])

/** Bytes that no compression makes smaller; each position has a value of its own. */
const noise = (length: number, seed = 0) => {
  const words = new Uint32Array(Math.ceil(length / 4))
  for (let index = 0; index < words.length; index++) {
    let word = Math.imul(index + 1 + seed, 0x9e3779b1)
    word = Math.imul(word ^ word >>> 15, 0x85ebca6b)
    words[index] = word ^ word >>> 13
  }
  return new Uint8Array(words.buffer, 0, length)
}

/** Writes the bytes cut at these positions; each chunk is overwritten as soon as it was written. */
const written = (bytes: Uint8Array, cuts: ReadonlyArray<number> = []) => {
  const writer = new Blocks.Writer()
  const ends = [...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length]
  let from = 0
  for (const end of ends) {
    const chunk = bytes.slice(from, end)
    writer.write(chunk)
    chunk.fill(0xff)
    from = end
  }
  return writer.end()
}

const isSame = (actual: Uint8Array, expected: Uint8Array) => Buffer.compare(actual, expected) === 0

describe("Blocks", () => {
  it.effect.prop(
    "reads any part of what was written in any chunks",
    { length: Position, cuts: Schema.Array(Position), parts: Schema.Array(Schema.Tuple([Position, Position])) },
    ({ cuts, length, parts }) =>
      Effect.sync(() => {
        const bytes = noise(length)
        const blocks = written(bytes, cuts)
        assert.strictEqual(blocks.length, length)
        for (const [start, end] of [[0, length] as const, [0, 5 * block] as const, ...parts]) {
          const part = blocks.read(start, end)
          // A part that ends before it starts is empty, here as in `subarray`.
          assert.isTrue(isSame(part, bytes.subarray(start, end)), `${start} to ${end}: ${part.length} bytes`)
        }
      }),
    { arbitrary: { runs: rounds(10) } }
  )

  it.each([0, 1, block - 1, block, block + 1, 2 * block, 2 * block + 1])(
    "reads around the end of %i bytes, and not beyond it",
    (length) => {
      const bytes = noise(length)
      const blocks = written(bytes)
      assert.strictEqual(blocks.length, length)
      for (const start of [0, length - 2, length - 1, length, length + 1, length + 2 * block]) {
        if (start < 0) continue
        for (const size of [0, 1, 2, 3, block, Infinity]) {
          const part = blocks.read(start, start + size)
          assert.isTrue(isSame(part, bytes.subarray(start, Math.min(length, start + size))), `${size} from ${start}`)
        }
      }
    }
  )

  it("takes less memory for JSON than its bytes, and hardly more for noise", () => {
    const item = { json: { id: 1, name: "Ada Lovelace", email: "ada@example.com" }, pairedItem: { item: 0 } }
    const json = new TextEncoder().encode(JSON.stringify(Array.from({ length: 25_000 }, (_, id) => ({ ...item, id }))))
    assert.isAbove(json.length, 2 * block)
    const packed = written(json)
    assert.isBelow(packed.size, json.length / 5)
    assert.isAbove(packed.size, 0)

    const random = written(noise(2 * block))
    assert.isBelow(Math.abs(random.size / (2 * block) - 1), 0.01)
    assert.isBelow((written(noise(100))).size, 150)
    assert.strictEqual((written(new Uint8Array(0))).size, 0)
  })

  it("keeps writers apart", () => {
    const [one, other] = [noise(block + 7, 1), noise(block + 9, 2)]
    const [first, second] = [new Blocks.Writer(), new Blocks.Writer()]
    for (const [from, to] of [[0, 5], [5, block], [block, block + 9]] as const) {
      first.write(one.subarray(from, to))
      second.write(other.subarray(from, to))
    }
    assert.isTrue(isSame(first.end().read(0, Infinity), one))
    assert.isTrue(isSame(second.end().read(0, Infinity), other))
  })
})
