import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import type { Obj } from "../../../src/base/Json.ts"
import * as ReadableDiff from "../../../src/workflow/diff/ReadableDiff.ts"
import { Json } from "../../support/arbitrary.ts"
import { joined } from "../../support/workflows.ts"
import { base, flow, node, set } from "../edit/edits.ts"

const names: Readonly<Record<string, ReadonlyArray<string>>> = { [`${base}if`]: ["true", "false"] }
const namesOf = ({ parameters, type }: { readonly type: string; readonly parameters?: unknown }) =>
  names[type] ?? (parameters as { readonly outputs?: ReadonlyArray<string> }).outputs

/** Built, not written out. */
const canary = (salt: string) => `${salt}-${"c4nary".repeat(6)}`

describe("Comparison", () => {
  it("names outputs as they were and as they are; another index alone is not a change", () => {
    const many = (...outputs: ReadonlyArray<string>) =>
      flow(
        [node("S", "x.many", 1, { outputs }), ...outputs.map((name) => set(`to ${name}`))],
        joined(...outputs.map((name, index) => ["S", `to ${name}`, "main", index] as const))
      )
    const { connections } = ReadableDiff.make(many("a", "b", "rest"), many("b", "c", "rest"), { namesOf })
    assert.deepStrictEqual(connections, { added: ["S.c → to c"], removed: ["S.a → to a"] })
  })

  it("names the outputs of a renamed node, and of a removed one", () => {
    const from = (name: string, output: number) =>
      flow([node(name, `${base}if`, 2, {}, { id: "same" }), set("A")], joined([name, "A", "main", output]))
    assert.deepStrictEqual(ReadableDiff.make(from("Old", 0), from("New", 1), { namesOf }).connections, {
      added: ["New.false → A"],
      removed: ["New.true → A"]
    })
    assert.deepStrictEqual(ReadableDiff.make(from("Old", 1), flow([set("A")]), { namesOf }).connections.removed, [
      "Old.false → A"
    ])
  })

  it.prop("shows no secret, but that it changed", {
    json: Json,
    key: Schema.Literals(["password", "apiKey", "authorization", "client_secret"]),
    isPair: Schema.Boolean
  }, ({ isPair, json, key }) => {
    const made = (secret: string): Obj =>
      flow([set("A", { parameters: { json, more: isPair ? [{ name: key, value: secret }] : { [key]: secret } } })])
    const [before, after] = [made(canary("one")), made(canary("two"))]
    for (const node of [undefined, "A"]) {
      const view = ReadableDiff.make(before, after, { node })
      assert.isFalse(view.same)
      assert.strictEqual(view.nodes[0]?.fields?.length, 1)
      assert.notInclude(JSON.stringify(view), "c4nary")
      assert.include(JSON.stringify(ReadableDiff.make(before, after, { node, showsSecrets: true })), canary("two"))
    }
    assert.notInclude(JSON.stringify(ReadableDiff.make(flow([]), after, { node: "A" })), "c4nary")
  })
})
