import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Omission from "../../src/base/Omission.ts"

const bytes = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))
const part = Schema.String.check(Schema.isMaxLength(40))

/** Bytes that repeat, after the beginning of a PNG. */
const file = (seed: ReadonlyArray<number>, size: number) =>
  Buffer.from(Array.from({ length: size }, (_, index) =>
    [137, 80, 78, 71, 13, 10, 26, 10][index] ??
      ((seed[index % Math.max(1, seed.length)] ?? 7) * 31 + index * index) % 256)).toString("base64")

describe("Omission", () => {
  it.prop("a file in a text is its type and size, and the text around it stays", {
    before: part,
    after: part,
    seed: Schema.Array(bytes)
  }, ({ after, before, seed }) => {
    const image = file(seed, 3_000)
    for (
      const [whole, shown] of [
        [`${before}"${image}"${after}`, `${before}"${Omission.note(image.length, false, "image/png")}"${after}`],
        [
          `${before} data:image/webp;charset=x;base64,${image}"${after}`,
          `${before} data:image/webp;charset=x;base64,${Omission.note(image.length, false, "image/webp")}"${after}`
        ]
      ] as const
    ) {
      assert.strictEqual(Omission.files(whole), shown)
      assert.isTrue(Omission.isFormOf(shown, whole))
      assert.isFalse(Omission.isFormOf(shown, `${whole}.`))
    }
  })

  it("finds a file in lines of base64, and in nothing else", () => {
    const lines = file([1, 2, 3], 3_000).match(/.{1,76}/g)?.join("\n") ?? ""
    assert.strictEqual(
      Omission.files(`<img src='${lines}'>`),
      `<img src='${Omission.note(lines.length, false, "image/png")}'>`
    )
    for (
      const text of ["x".repeat(5_000), "deadbeef01".repeat(500), "word and word ".repeat(500), "/path/to".repeat(900)]
    ) {
      assert.strictEqual(Omission.files(text), text)
    }
  })

  it.prop(
    "a text from any character is a form of the whole text",
    { text: Schema.String, at: bytes },
    ({ at, text }) => {
      const shown = Omission.from(text, at)
      assert.isTrue(shown === text || Omission.isFormOf(shown, text))
      if (shown !== text) assert.isAtMost(at - Omission.start(shown), 1)
    }
  )
})
