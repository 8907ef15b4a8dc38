import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as JavaScript from "../../../src/base/JavaScript.ts"
import { ofJavaScript } from "../../../src/catalogue/code/Reach.ts"
import { escapes } from "../../support/escapes.ts"
import { harmless, senders } from "../../support/senders.ts"

describe("effects of a node's JavaScript", () => {
  it.effect("reaches outside in every way to send", () =>
    Effect.map(JavaScript.parser, (parse) => {
      for (const { code, name } of escapes("http://x")) assert.isTrue(ofJavaScript(code, parse).outside, name)
      for (const code of senders) assert.isTrue(ofJavaScript(`const url = 'http://x'\n${code}`, parse).outside, code)
    }))

  it.effect("stays inside where it only computes", () =>
    Effect.map(JavaScript.parser, (parse) => {
      for (const code of harmless) {
        assert.deepStrictEqual(ofJavaScript(code, parse), { outside: false, state: false }, code)
      }
    }))

  it.effect("is anything where it does not parse, is made by an expression, or is nested too deeply", () =>
    Effect.map(JavaScript.parser, (parse) => {
      for (const code of ["return {", "={{ $json.code }}", `return ${"[".repeat(50_000)}`]) {
        assert.isTrue(ofJavaScript(code, parse).outside, code.slice(0, 40))
      }
    }))

  it.effect("keeps state with static data of the workflow", () =>
    Effect.map(JavaScript.parser, (parse) => {
      for (
        const code of [
          "const data = $getWorkflowStaticData('global'); data.n = (data.n ?? 0) + 1; return [{ json: data }]",
          "const data = getWorkflowStaticData('node'); return data.items ?? []",
          "return [{ json: this.getWorkflowStaticData('global') }]",
          "const read = $getWorkflowStaticData; return [{ json: read('global') }]"
        ]
      ) assert.deepStrictEqual(ofJavaScript(code, parse), { outside: false, state: true }, code)
    }))
})
