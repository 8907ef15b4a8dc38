import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Errors from "../../src/base/Errors.ts"
import type { Obj } from "../../src/base/Json.ts"
import * as NodeCatalogue from "../../src/catalogue/NodeCatalogue.ts"
import * as OutputNames from "../../src/catalogue/OutputNames.ts"
import { catalogue } from "../support/catalogue.ts"
import { namesOf } from "../support/outputNames.ts"

const base = (type: string) => `n8n-nodes-base.${type}`
const iff = base("if")
const loop = base("splitInBatches")
const sw = base("switch")
const filter = base("filter")
const webhook = base("webhook")
const ai = (type: string) => `@n8n/n8n-nodes-langchain.${type}`

const named = (outputKey: string) => ({ outputKey, renameOutput: true })
const rules = { values: [named("少ない"), named(""), {}] }
const switched = ["少ない", "1", "2"]
const categories = { categories: [{ category: "Bills" }, { category: "Spam" }] }

describe("names of outputs", () => {
  it.each<[names: ReadonlyArray<string | undefined> | undefined, type: string, version?: number, parameters?: Obj]>([
    [["true", "false"], iff, 2.2],
    // Turned round in version 3.
    [["done", "loop"], loop, 3],
    [["loop", "done"], loop, 2],
    [[undefined], loop, 1],
    [[undefined], loop],
    [["In A only", "Same", "Different", "In B only"], base("compareDatasets"), 2.3],
    [switched, sw, 3.2, { rules }],
    [["0", "b"], sw, 3.2, { rules: { values: [{ outputKey: "left from before" }, named("b")] } }],
    [[...switched, "Fallback"], sw, 3.2, { rules, options: { fallbackOutput: "extra" } }],
    [[...switched, "rest"], sw, 3.2, { rules, options: { fallbackOutput: "extra", renameFallbackOutput: "rest" } }],
    [switched, sw, 3.2, { rules, options: { fallbackOutput: 1 } }],
    [["0", "1"], sw, 3.2, { mode: "expression", numberOutputs: 2 }],
    [["0", "1", "2", "3"], sw, 3.2, { mode: "expression" }],
    [undefined, sw, 99],
    [["Positive", "Neutral", "Negative"], ai("sentimentAnalysis"), 1.1],
    [["Bills", "Spam"], ai("textClassifier"), 1.1, { categories }],
    [["Bills", "Spam", "Other"], ai("textClassifier"), 1.1, { categories, options: { fallback: "other" } }],
    // The only output has no name.
    [[undefined], webhook, 2, { httpMethod: "POST" }],
    [["GET", "POST"], webhook, 2, { multipleMethods: true, httpMethod: ["GET", "POST"] }],
    // What a Filter discards is in its runs.
    [["Kept", "Discarded"], filter, 1],
    [["Kept", "Discarded"], filter, 2.2],
    [undefined, "n8n-nodes-acme.none", 1]
  ])(
    "are %j of %s %s with %j",
    (names, type, version, parameters) =>
      assert.deepStrictEqual(namesOf({ type, ...version && { typeVersion: version }, parameters }), names)
  )

  it("are not those of discarded items where errors leave by that output", () => {
    assert.deepStrictEqual(namesOf({ type: filter, typeVersion: 2.2, onError: "continueErrorOutput" }), [undefined])
  })

  it("are read of any parameters", () => {
    for (const parameters of [undefined, null, 7, {}, { rules: null }, { rules: { values: [null] } }, { rules: {} }]) {
      assert.doesNotThrow(() => namesOf({ type: sw, typeVersion: 3.2, parameters }))
    }
  })

  const names = Effect.map(OutputNames.forNodes([{ type: iff }]), (of) => of({ type: iff, typeVersion: 2 }))

  it.effect("are looked up in the catalogue, and none without one", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Effect.provide(names, catalogue), ["true", "false"])
      const broken = Layer.mock(NodeCatalogue.NodeCatalogue, {
        find: () => Effect.fail(new Errors.ValidationError({ reason: "no data file", field: "nodes" }))
      })
      assert.isUndefined(yield* Effect.provide(names, broken))
    }))
})
