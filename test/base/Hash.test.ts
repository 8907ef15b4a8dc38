import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { sha256 } from "../../src/base/Hash.ts"

const texts = ["", "key", "キー", "x".repeat(1_000)]

describe("sha256", () => {
  it("is Node's, and the same without Node", () => {
    const { process } = globalThis
    for (const encoding of ["hex", "base64", "base64url"] as const) {
      const expected = texts.map((text) => createHash("sha256").update(text).digest(encoding))
      assert.deepStrictEqual(texts.map((text) => sha256(text, encoding)), expected)
      Object.defineProperty(globalThis, "process", { value: undefined, configurable: true, writable: true })
      try {
        assert.deepStrictEqual(texts.map((text) => sha256(text, encoding)), expected)
      } finally {
        Object.defineProperty(globalThis, "process", { value: process, configurable: true, writable: true })
      }
    }
  })
})
