import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Errors from "../../src/base/Errors.ts"
import * as NodeCatalogue from "../../src/catalogue/NodeCatalogue.ts"
import * as OutputNames from "../../src/catalogue/OutputNames.ts"
import * as Connections from "../../src/n8n/model/Connections.ts"
import { catalogue } from "../support/catalogue.ts"
import { namesOf } from "../support/outputNames.ts"

const none = undefined

describe("names of outputs", () => {
  const names = (shape: Connections.NodeShape) =>
    [0, 1, 2, 3, 4].map((index) => Connections.outputName(shape, { type: "main", index }, namesOf))

  it("of If, and its error output behind them", () => {
    const shape = { type: "n8n-nodes-base.if", typeVersion: 2.2 }
    assert.deepStrictEqual(names(shape), ["true", "false", none, none, none])
    assert.deepStrictEqual(names({ ...shape, onError: "continueErrorOutput" }), ["true", "false", "error", none, none])
    assert.deepStrictEqual(names({ ...shape, onError: "continueRegularOutput" }), ["true", "false", none, none, none])
  })

  it("of SplitInBatches, which turned its outputs round in version 3", () => {
    const type = "n8n-nodes-base.splitInBatches"
    assert.deepStrictEqual(names({ type, typeVersion: 3 }), ["done", "loop", none, none, none])
    assert.deepStrictEqual(names({ type, typeVersion: 2 }), ["loop", "done", none, none, none])
    assert.deepStrictEqual(names({ type, typeVersion: 1 }), [none, none, none, none, none])
    assert.deepStrictEqual(names({ type }), [none, none, none, none, none])
  })

  it("of Compare Datasets", () => {
    const all = ["In A only", "Same", "Different", "In B only", none]
    assert.deepStrictEqual(names({ type: "n8n-nodes-base.compareDatasets", typeVersion: 2.3 }), all)
  })

  it("of a Switch's rules, the fallback behind them, and the error output behind that", () => {
    const shape = (parameters: object, more: object = {}) =>
      names({ type: "n8n-nodes-base.switch", typeVersion: 3.2, parameters, ...more })
    const named = (outputKey: string) => ({ outputKey, renameOutput: true })
    const rules = { values: [named("少ない"), named(""), {}] }
    assert.deepStrictEqual(shape({ rules }), ["少ない", "1", "2", none, none])
    const unnamed = { values: [{ outputKey: "left from before" }, named("b")] }
    assert.deepStrictEqual(shape({ rules: unnamed }), ["0", "b", none, none, none])
    assert.deepStrictEqual(shape({ rules, options: { fallbackOutput: "extra" } }), [
      "少ない",
      "1",
      "2",
      "Fallback",
      none
    ])
    const renamed = { rules, options: { fallbackOutput: "extra", renameFallbackOutput: "rest" } }
    assert.deepStrictEqual(shape(renamed, { onError: "continueErrorOutput" }), ["少ない", "1", "2", "rest", "error"])
    assert.deepStrictEqual(shape({ rules, options: { fallbackOutput: 1 } }), ["少ない", "1", "2", none, none])
  })

  it("of a Switch by expression", () => {
    const shape = (parameters: object) =>
      names({ type: "n8n-nodes-base.switch", typeVersion: 3.2, parameters, onError: "continueErrorOutput" })
    assert.deepStrictEqual(shape({ mode: "expression", numberOutputs: 2 }), ["0", "1", "error", none, none])
    assert.deepStrictEqual(shape({ mode: "expression" }), ["0", "1", "2", "3", "error"])
  })

  it("of AI nodes that sort items", () => {
    const ai = "@n8n/n8n-nodes-langchain."
    assert.deepStrictEqual(names({ type: `${ai}sentimentAnalysis`, typeVersion: 1.1 }), [
      "Positive",
      "Neutral",
      "Negative",
      none,
      none
    ])
    const categories = { categories: [{ category: "Bills" }, { category: "Spam" }] }
    const classifier = { type: `${ai}textClassifier`, typeVersion: 1.1 }
    assert.deepStrictEqual(names({ ...classifier, parameters: { categories } }), ["Bills", "Spam", none, none, none])
    const other = { categories, options: { fallback: "other" } }
    assert.deepStrictEqual(names({ ...classifier, parameters: other, onError: "continueErrorOutput" }), [
      "Bills",
      "Spam",
      "Other",
      "error",
      none
    ])
  })

  it("are absent for a node with one output", () => {
    const webhook = { type: "n8n-nodes-base.webhook", typeVersion: 2 }
    assert.deepStrictEqual(namesOf({ ...webhook, parameters: { httpMethod: "POST" } }), [none])
    const several = { multipleMethods: true, httpMethod: ["GET", "POST"] }
    assert.deepStrictEqual(namesOf({ ...webhook, parameters: several }), ["GET", "POST"])
  })

  it("are unknown for invalid parameters and for missing types and versions", () => {
    const type = "n8n-nodes-base.switch"
    const odd = [undefined, null, 7, {}, { rules: null }, { rules: { values: [null] } }, { rules: { rules: [] } }]
    for (const parameters of odd) assert.doesNotThrow(() => names({ type, typeVersion: 3.2, parameters }))
    assert.isUndefined(namesOf({ type, typeVersion: 99 }))
    assert.isUndefined(namesOf({ type: "n8n-nodes-acme.none", typeVersion: 1 }))
  })
})

describe("of a Filter", () => {
  it.effect("has the name of what it discards, unless errors leave by that output", () =>
    Effect.gen(function*() {
      const type = "n8n-nodes-base.filter"
      const namesOf = yield* OutputNames.forNodes([{ type }])
      for (const typeVersion of [1, 2.2]) {
        assert.deepStrictEqual(namesOf({ type, typeVersion }), ["Kept", "Discarded"])
        assert.deepStrictEqual(namesOf({ type, typeVersion, onError: "continueErrorOutput" }), [undefined])
      }
    }).pipe(Effect.provide(catalogue)))
})

describe("forNodes", () => {
  it.effect("looks the types up", () =>
    Effect.gen(function*() {
      const found = yield* OutputNames.forNodes([{ type: "n8n-nodes-base.if" }])
      assert.deepStrictEqual(found({ type: "n8n-nodes-base.if", typeVersion: 2 }), ["true", "false"])
      assert.isUndefined(found({ type: "n8n-nodes-base.switch", typeVersion: 3 }))
    }).pipe(Effect.provide(catalogue)))

  it.effect("names nothing without a catalogue", () =>
    Effect.gen(function*() {
      const found = yield* OutputNames.forNodes([{ type: "n8n-nodes-base.if" }])
      assert.isUndefined(found({ type: "n8n-nodes-base.if", typeVersion: 2 }))
    }).pipe(
      Effect.provide(
        Layer.mock(NodeCatalogue.NodeCatalogue, {
          find: () => Effect.fail(new Errors.ValidationError({ reason: "no data file", field: "nodes", hint: "" }))
        })
      )
    ))
})
