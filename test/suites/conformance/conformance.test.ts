/** `pnpm test:suite conformance`: the official MCP conformance suite against our HTTP, in both eras. */
import { assert, describe, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type Check, Conformance, verdict } from "./Conformance.ts"
import { all, exceptions, type Expected, fixtures, program } from "./expected.ts"

const problems = (checks: ReadonlyArray<Check>) =>
  checks.filter(({ status }) => status !== "SUCCESS").map(({ errorMessage = "", id, status }) =>
    `${status} ${id}: ${errorMessage}`
  )

layer(Conformance.layer, { timeout: "200 seconds", excludeTestServices: true })((it) => {
  it.effect("has an expectation for every scenario, and for nothing else", () =>
    Effect.gen(function*() {
      const { scenarios } = yield* Conformance
      assert.isNotEmpty(scenarios)
      const expected = new Set(all.map(({ scenario }) => scenario))
      assert.deepStrictEqual([...expected].toSorted(), scenarios.toSorted())
    }))

  const examine = (expected: Expected) =>
    it.effect(`${expected.scenario}${expected.at === undefined ? "" : ` at ${expected.at}`}`, () =>
      Effect.gen(function*() {
        const outcomes = (yield* Conformance).outcomes(expected)
        assert.isNotEmpty(outcomes)
        for (const { checks, version } of outcomes) {
          assert.isNotEmpty(checks, `${version}: nothing was looked at`)
          const told = [`${version}: ${expected.why ?? "it should pass"}`, ...problems(checks)].join("\n")
          assert.strictEqual(verdict(checks), expected.verdict, told)
        }
      }))

  describe("the program", () => {
    program.forEach(examine)
  })
  describe("fixtures", () => {
    fixtures.forEach(examine)
  })
  describe("exceptions", () => {
    exceptions.forEach(examine)
  })
})
