import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { obj, str } from "../../src/base/Json.ts"
import * as pins from "../../src/trials/pins.ts"
import { Key } from "../support/arbitrary.ts"

const node = { id: "n", name: "N", type: "x.any", position: [0, 0] }

/** Request that the added nodes bring their data along with. */
const requested = (isCopied: boolean) => {
  const carried: Array<pins.Carried> = []
  const added: pins.Added = Object.assign((role: string) => ({ id: role, name: `added ${role}` }), {
    isCopied,
    call: "the \"call\"",
    carry: (data: pins.Carried) => carried.push(data) - 1
  })
  /** Nodes of an expression or code that n8n runs. */
  const $ = (name: string) => ({ first: () => name === added.call ? { json: { body: { pins: carried } } } : undefined })
  return { added, $ }
}

type Items = ReadonlyArray<{ readonly json: unknown; readonly pairedItem?: unknown }>

type Request = ReturnType<typeof requested>

/** What a Code node returns in that run. */
const returned = (jsCode: unknown, { $ }: Request, run: number, inputs: number): Items =>
  // oxlint-disable-next-line no-new-func -- runs what n8n would run
  new Function("$", "$runIndex", "$input", str(jsCode) ?? "")($, run, { all: () => Array.from({ length: inputs }) })

/** What the nodes give, by output, in that run; a Set node copies all that it gets. */
const given = (pin: pins.Pin, run: number, inputs = 0, isV1 = false): ReadonlyArray<Items> => {
  const request = requested(isV1)
  const row = pins.nodes(node, pin, 1, request.added)
  assert.strictEqual(row.at(-1)?.name, node.name)
  const [code] = row
  const items = returned(obj(code?.parameters)?.["jsCode"], request, run, inputs)
  const last = row.at(-1)
  if (last?.type !== "n8n-nodes-base.switch") return [items]
  const { numberOutputs, output } = obj(last.parameters) ?? {}
  const [, expression = ""] = /^=\{\{(.*)\}\}$/s.exec(str(output) ?? "") ?? []
  // oxlint-disable-next-line no-new-func -- runs what n8n would run
  const outputOf = new Function("$", "$runIndex", "$itemIndex", `return ${expression}`)
  // n8n does not run a Switch node without items.
  const runs = pin.repeats ? run : pin.runs.slice(0, run).filter((outputs) => outputs.flat().length > 0).length
  return Array.from(
    { length: Number(numberOutputs) },
    (_, index) => items.filter((_, item) => outputOf(request.$, runs, item) === index)
  )
}

/** Without the empty outputs at the end. */
const trimmed = (outputs: ReadonlyArray<Items>) =>
  outputs.slice(0, outputs.findLastIndex((items) => items.length > 0) + 1)

// JSON has no negative zero.
const Whole = Schema.Int.check(Schema.isGreaterThan(0))

const Item = Schema.Struct({ json: Schema.Record(Key, Whole) })
const Runs = Schema.Array(Schema.Array(Schema.Array(Item)))

describe("pinned nodes", () => {
  it.prop("give every run and output what it gave, and nothing beyond the last run", { runs: Runs }, ({ runs }) => {
    const pin: pins.Pin = { runs, repeats: false, isMissing: false }
    runs.forEach((outputs, run) => assert.deepStrictEqual(trimmed(given(pin, run)), trimmed(outputs)))
    assert.deepStrictEqual(trimmed(given(pin, runs.length)), [])
  })

  it("give constant items in every run; plain objects are items too", () => {
    const pin = pins.constant([{ a: 1 }, { json: { a: 2 }, pairedItem: 5 }, { json: { b: "</script>\u2028" } }])
    for (const run of [0, 7]) {
      assert.deepStrictEqual(given(pin, run), [[
        { json: { a: 1 } },
        { json: { a: 2 } },
        { json: { b: "</script>\u2028" } }
      ]])
    }
  })

  it("give constant items by output in every run where they are lists", () => {
    const pin = pins.constant([[], [{ error: "x" }, { json: { error: "y" } }]])
    for (const run of [0, 7]) {
      assert.deepStrictEqual(given(pin, run), [[], [{ json: { error: "x" } }, { json: { error: "y" } }]])
    }
  })

  it("are of objects only", () => {
    for (const items of [[], [{}], [[], [{}]]]) assert.isTrue(pins.arePinnable(items))
    for (const items of [[1], [null], [{}, []], [[{}], {}], [["a"]]]) assert.isFalse(pins.arePinnable(items))
  })

  it("keep binary data, and links to those input items that are there", () => {
    const item = { json: { a: 1 }, binary: { file: { data: "aGk=", mimeType: "text/plain" } } }
    const linked = [1, { item: 0 }, { item: 9 }, { item: 0, input: 1 }].map((pairedItem) => ({ ...item, pairedItem }))
    const pin: pins.Pin = { runs: [[linked]], repeats: false, isMissing: false }
    assert.deepStrictEqual(given(pin, 0, 2), [[
      { ...item, pairedItem: 1 },
      { ...item, pairedItem: { item: 0 } },
      item,
      item
    ]])
    const request = requested(false)
    const [source] = pins.source(node, linked, request.added)
    assert.deepStrictEqual(returned(obj(source?.parameters)?.["jsCode"], request, 0, 0), [item, item, item, item])
  })

  it("fail in the runs that failed", () => {
    const pin: pins.Pin = { runs: [[[]], [[{ json: { a: 1 } }]]], repeats: false, isMissing: false, errors: ["no"] }
    assert.throws(() => given(pin, 0), "no")
    assert.deepStrictEqual(given(pin, 1), [[{ json: { a: 1 } }]])
  })

  it("are of a type that n8n 1.x can read later", () => {
    const typesOf = (pin: pins.Pin) =>
      pins.nodes(node, pin, 1, requested(true).added).map(({ name, type }) => `${name} ${type.slice(15)}`)
    assert.deepStrictEqual(typesOf(pins.constant([{ a: 1 }])), ["added pin N code", "N set"])
    assert.deepStrictEqual(typesOf(pins.constant([[], [{ a: 1 }]])), [
      "added pin added pin N code",
      "added pin N set",
      "N switch"
    ])
    assert.deepStrictEqual(typesOf(pins.missing), ["N code"])
  })
})
