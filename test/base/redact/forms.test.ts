import { assert, describe, it, vi } from "@effect/vitest"
import { marker, mayHold, redact, redactText } from "../../../src/base/Redact.ts"
import { forms } from "./forms.ts"

/** Maps the secrets of a form, which stand in `«…»`. */
const mapSecrets = (form: unknown, to: (secret: string) => string): unknown =>
  JSON.parse(JSON.stringify(form).replace(/«(.*?)»/gs, (_, secret: string) => to(secret)))

describe("forms", () => {
  it("cover many forms with and without secrets", () => {
    const secrets = forms.filter(([, form]) => JSON.stringify(form).includes("«"))
    assert.isAtLeast(secrets.length, 150)
    assert.isAtLeast(forms.length - secrets.length, 75)
  })

  it.each(forms.map(([name, form]) => [name, form] as const))("%s", (_, form) => {
    const redacted = redact(mapSecrets(form, (secret) => secret))
    assert.deepStrictEqual(redacted, mapSecrets(form, () => marker))
    assert.strictEqual(redact(redacted), redacted)
    const plain = mapSecrets(form, (secret) => secret)
    if (typeof plain === "string") assert.strictEqual(redactText(plain), redacted)
    const behindLines = JSON.parse(
      JSON.stringify(plain),
      (_, inner) => typeof inner === "string" ? `a\n${inner}\n` : inner
    )
    for (const value of [plain, behindLines]) {
      if (redact(value) !== value) assert.isTrue(mayHold(JSON.stringify(value)))
    }
  })
})

/** How deep unbounded repetition is nested in a pattern: from two on, time may grow beyond all bounds. */
const starHeight = (source: string): number => {
  const pattern = source.replace(/\\./g, "e").replace(/\[[^\]]*\]/g, "c")
  const heights: Array<number> = [0]
  for (let at = 0; at < pattern.length; at++) {
    const isGroup = pattern[at] === ")"
    if (pattern[at] === "(") heights.push(0)
    else if (isGroup || /[ec.]|\w/.test(pattern[at] ?? "")) {
      const inner = isGroup ? heights.pop() ?? 0 : 0
      const repeats = /^(?:[*+]|\{\d+,\})/.test(pattern.slice(at + 1))
      heights.push(Math.max(heights.pop() ?? 0, inner + (repeats ? 1 : 0)))
    }
  }
  return Math.max(...heights)
}

describe("patterns", () => {
  it("have no nested unbounded repetition", () => {
    assert.deepStrictEqual(["a+b*", "(a+)b", "(?:a|b+)+", "((a*)b)*", "(a+){0,5}"].map(starHeight), [1, 1, 2, 2, 1])
    const used = new Set<string>()
    const spies = [
      vi.spyOn(RegExp.prototype, Symbol.replace),
      vi.spyOn(RegExp.prototype, Symbol.matchAll),
      vi.spyOn(RegExp.prototype, "test")
    ]
    try {
      for (const [, form] of forms) redact(form)
      for (const spy of spies) for (const regexp of spy.mock.contexts) used.add((regexp as RegExp).source)
    } finally {
      for (const spy of spies) spy.mockRestore()
    }
    assert.isAbove(used.size, 20)
    assert.deepStrictEqual([...used].filter((source) => starHeight(source) > 1), [])
  })
})
