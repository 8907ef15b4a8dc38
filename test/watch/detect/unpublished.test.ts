import { assert, describe, it } from "@effect/vitest"
import { detect } from "../../../src/watch/detect/unpublished.ts"
import type { Entry } from "../../../src/watch/watchState.ts"

const now = Date.parse("2026-03-02T08:00:00Z")
const minute = 60_000

const entry = (name: string, more: Partial<Entry> = {}): Entry => ({
  name,
  isPublished: true,
  liveSince: 0,
  nodes: [],
  tags: [],
  credentials: [],
  round: 1,
  ...more
})

const all = (names: ReadonlyArray<string>, more: Partial<Entry> = {}) =>
  Object.fromEntries(names.map((name) => [name, entry(name, more)]))

const causes = (names: ReadonlyArray<string>, more: Partial<Entry>, outageEnd?: number) =>
  detect(all(names), all(names, { isPublished: false, ...more }), { gone: [], now, outageEnd }).map((
    { cause, count, what }
  ) => [what, count, cause?.slice(0, 36)])

describe("workflows that are no longer published", () => {
  it("were unpublished by n8n after three crashes, or as it came back, or else by hand", () => {
    const what = "'a' is no longer published"
    assert.deepStrictEqual(causes(["a"], { crashes: 3 }), [[what, 1, "n8n unpublishes a workflow after 3 c"]])
    assert.deepStrictEqual(causes(["a"], { crashes: 2 }), [[what, 1, "not by crashes or a restart of n8n, "]])
    assert.deepStrictEqual(causes(["a"], {}, now - 14 * minute), [[what, 1, "n8n was away just before; it unpubli"]])
    assert.deepStrictEqual(causes(["a"], {}, now - 16 * minute), [[what, 1, "not by crashes or a restart of n8n, "]])
  })

  it("are one incident from four on, which names ten of them in its text and all in its list", () => {
    assert.lengthOf(causes(["a", "b", "c"], {}), 3)
    assert.deepStrictEqual(causes(["a", "b", "c", "d"], {}), [
      ["4 workflows are no longer published: 'a', 'b', 'c', 'd'", 4, "not by crashes or a restart of n8n, "]
    ])
    const names = Array.from({ length: 12 }, (_, index) => `w${index}`)
    const [incident, ...more] = detect(all(names), {}, { gone: names, now, outageEnd: undefined })
    assert.deepStrictEqual(more, [])
    assert.match(incident?.what ?? "", /^12 workflows are no longer published: 'w0', .*'w9' and 2 more$/)
    assert.deepStrictEqual(incident?.workflows, names.map((name) => ({ id: name, name })))
  })

  it("were published before", () => {
    const unpublished = all(["a"], { isPublished: false })
    assert.deepStrictEqual(detect(unpublished, {}, { gone: ["a"], now, outageEnd: undefined }), [])
    assert.deepStrictEqual(detect(all(["a"]), all(["a"]), { gone: [], now, outageEnd: undefined }), [])
  })
})
