import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Minimize from "../../src/answer/Minimize.ts"
import * as Redact from "../../src/base/Redact.ts"
import * as Placeholders from "../../src/workflow/Placeholders.ts"

const headers = [
  { name: "Accept", value: "application/json" },
  { name: "Authorization", value: "Bearer abcdef123456ABC" },
  { name: "X-Api-Key", value: "abcdef123456ABCDEF" }
]
const parameters = {
  url: "https://api.test/?api_key=abcdef123456",
  password: "hunter2",
  headerParameters: { parameters: headers },
  jsCode: "x".repeat(30_000)
}
const stored = { nodes: [{ id: "1", name: "Call", parameters }] }

const back = (given: unknown) =>
  Result.getOrThrowWith(Placeholders.resolve(given, stored), ({ path }) => new Error(path))
const refused = (given: unknown, at: unknown = stored) => {
  const result = Placeholders.resolve(given, at)
  return Result.isFailure(result) ? result.failure : assert.fail("accepted")
}

describe("an answer that comes back", () => {
  it("is what is stored, where it was redacted", () => {
    const shown = Redact.redact(stored)
    assert.notDeepEqual(shown, stored)
    assert.deepStrictEqual(back(shown), stored)
  })

  it("is what is stored, where a string was cut", () => {
    const shown = Minimize.fit(stored, 4_000)
    assert.match(JSON.stringify(shown), /… \[\+\d+ chars\]/)
    assert.deepStrictEqual(back(shown), stored)
  })

  it("finds pairs by their names when they moved", () => {
    const [accept, authorization, key] = Redact.redact(headers)
    const moved = [key, accept, authorization, { name: "New", value: "1" }]
    const found = Placeholders.resolve({ headerParameters: { parameters: moved } }, parameters)
    const expected = [headers[2], headers[0], headers[1], moved[3]]
    assert.deepStrictEqual(found, Result.succeed({ headerParameters: { parameters: expected } }))
  })

  /** What is written where `list` comes back over what is stored; the message of a refusal otherwise. */
  const over = (before: ReadonlyArray<unknown>, list: ReadonlyArray<unknown>) =>
    Result.match(Placeholders.resolve({ list }, { list: before }), {
      onSuccess: (value) => (value as { readonly list: ReadonlyArray<unknown> }).list,
      onFailure: ({ what }) => what
    })

  const hosts = [{ host: "a", password: "PW-A" }, { host: "b", password: "PW-B" }]
  const shownHosts = Redact.redact(hosts)
  const tokens = [{ name: "token", value: "A1" }, { name: "token", value: "B2" }]
  const keys = { apiKeys: ["TOK-A1", "TOK-B2"] }
  const shownKeys = Redact.redact(keys).apiKeys

  it("never moves a secret to another element of a list", () => {
    assert.deepStrictEqual(over(hosts, shownHosts.toReversed()), hosts.toReversed())
    assert.deepStrictEqual(over(hosts, shownHosts.slice(1)), hosts.slice(1))
    assert.deepStrictEqual(over(hosts, [{ host: "new" }, ...shownHosts]), [{ host: "new" }, ...hosts])
    for (const list of [[{ host: "c", password: Redact.marker }], [{ password: Redact.marker }, shownHosts[1]]]) {
      assert.match(String(over(hosts, list)), /neither the id nor the name/)
      assert.match(String(over(hosts.slice(0, 1), list)), /neither the id nor the name/)
    }
  })

  it("matches equal elements by their order only if none was added or removed", () => {
    assert.deepStrictEqual(over(tokens, Redact.redact(tokens)), tokens)
    const added = { name: "Accept", value: "x" }
    assert.deepStrictEqual(over(tokens, [added, ...Redact.redact(tokens)]), [added, ...tokens])
    assert.match(String(over(tokens, Redact.redact(tokens).slice(1))), /neither the id nor the name/)
    const within = (list: ReadonlyArray<unknown>) => Placeholders.resolve({ apiKeys: list }, keys)
    assert.deepStrictEqual(within(shownKeys), Result.succeed(keys))
    assert.isTrue(Result.isFailure(within([Redact.marker, "TOK-NEW"])))
    assert.isTrue(Result.isFailure(within([Redact.marker])))
    const same = { apiKeys: ["TOK-A1", "TOK-A1"] }
    assert.deepStrictEqual(
      Placeholders.resolve({ apiKeys: [Redact.marker] }, same),
      Result.succeed({ apiKeys: ["TOK-A1"] })
    )
  })

  it.prop("a permutation of a list brings each element its own secrets", {
    order: Schema.Array(Schema.Struct({ host: Schema.String, rank: Schema.Int }))
  }, ({ order }) => {
    const before = order.map(({ host }, index) => ({ host: `${index} ${host}`, password: `PW-${index}` }))
    const permuted = before.toSorted((one, two) =>
      (order[before.indexOf(one)]?.rank ?? 0) - (order[before.indexOf(two)]?.rank ?? 0)
    )
    assert.deepStrictEqual(over(before, Redact.redact(permuted)), permuted)
  })

  it("is refused where a cut text was changed or continued", () => {
    const before = { jsCode: "x".repeat(100) }
    assert.deepStrictEqual(Placeholders.resolve({ jsCode: "xx… [+98 chars]" }, before), Result.succeed(before))
    assert.deepStrictEqual(
      Placeholders.resolve({ jsCode: "xx… [+90 chars] …xxxxxxxx" }, before),
      Result.succeed(before)
    )
    const codes = ["xx… [+97 chars]", "xy… [+98 chars]", "xx… [+90 chars] …xxxxxxxy", "xx… [+98 chars]\n// more"]
    for (const jsCode of [...codes, "[redacted]x"]) {
      assert.strictEqual(refused({ jsCode }, before).path, "jsCode")
    }
    const secret = { jsCode: `const token = "a1"; ${"x".repeat(100)}` }
    const shown = Redact.redactText(secret.jsCode)
    const cut = `${shown.slice(0, 50)}… [+${shown.length - 50} chars]`
    assert.include(cut, Redact.marker)
    assert.deepStrictEqual(Placeholders.resolve({ jsCode: cut }, secret), Result.succeed(secret))
  })

  it("is refused where nothing is stored, with its path", () => {
    assert.deepInclude(refused({ nodes: [{ name: "New", parameters: { password: "[redacted]" } }] }), {
      path: "nodes[0].parameters.password"
    })
    assert.strictEqual(refused({ a: "abc… [+12 chars]" }, { a: "abd123456789012" }).path, "a")
    assert.strictEqual(refused({ a: "Bearer [redacted] and more" }, { a: "something else" }).path, "a")
    assert.strictEqual(refused("[redacted]", 7).path, "")
  })

  it("is refused where a list or an object was cut, stored or not", () => {
    const cut = { nodes: [...stored.nodes, { _truncated: { path: "nodes", kept: 1, total: 9 } }] }
    assert.strictEqual(refused(cut).path, "nodes[1]")
    const [node] = stored.nodes
    const marked = { nodes: [{ ...node, parameters: { _truncated: { path: "p", kept: 1, total: 9 } } }] }
    assert.strictEqual(refused(marked).path, "nodes[0].parameters")
  })

  it.prop(
    "anything without placeholders comes back as it is",
    { value: Schema.Json, other: Schema.Json },
    ({ other, value }) => {
      const text = JSON.stringify(value)
      if (/\[redacted\]|_truncated|chars\]/.test(text)) return
      assert.deepStrictEqual(Result.getOrThrow(Placeholders.resolve(value, other)), value)
    }
  )
})
