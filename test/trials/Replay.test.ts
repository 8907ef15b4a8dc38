import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Services from "../../src/app/Services.ts"
import * as JavaScript from "../../src/base/JavaScript.ts"
import { obj } from "../../src/base/Json.ts"
import { findAll } from "../../src/catalogue/NodeCatalogue.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as Replay from "../../src/trials/Replay.ts"
import type { Subject } from "../../src/trials/TestCopy.ts"
import * as fixtures from "../support/scenarios/recorded.ts"

const recorded = Layer.merge(FakeN8n.layer(fixtures.seed), Services.layerMemory)

const subject = (name: fixtures.Name) => fixtures.workflow(name) as unknown as Subject

const replay = Effect.fnUntraced(function*(name: fixtures.Name, more: Partial<Replay.Request> = {}) {
  const of = more.subject ?? subject(name)
  return yield* Replay.of({
    executionId: fixtures.executionId(name),
    subject: of,
    workflowId: fixtures.workflowId(name),
    startNode: undefined,
    hasTestData: false,
    running: new Set(),
    inside: new Set(),
    repeatsFailures: false,
    isTrigger: ({ type }) => type.endsWith("webhook"),
    find: yield* findAll(of.nodes.map(({ type }) => type)),
    parse: yield* JavaScript.parser,
    ...more
  })
})

const refusal = (...args: Parameters<typeof replay>) =>
  Effect.map(Effect.flip(replay(...args)), ({ message }) => message)

/** The workflow with nodes of that name changed. */
const changed = (name: fixtures.Name, node: string, change: object): Subject => {
  const { nodes, ...rest } = subject(name)
  return { ...rest, nodes: nodes.map((each) => each.name === node ? { ...each, ...change } : each) }
}

const sends = { parameters: { jsCode: "return await this.helpers.httpRequest({ url: 'https://example.com' })" } }

const pinOf = (of: Effect.Success<ReturnType<typeof replay>>, { nodes }: Subject, name: string) => {
  const node = nodes.find((each) => each.name === name)
  return node === undefined ? assert.fail(name) : of.pinOf(node)
}

describe("a replay", () => {
  it.effect("starts with what the trigger put out, and pins nothing that stays inside", () =>
    Effect.gen(function*() {
      const of = yield* replay("merge")
      assert.strictEqual(of.startNode, "Webhook")
      assert.hasAllKeys(obj(obj(of.startItems?.[0])?.["json"]), [
        "headers",
        "params",
        "query",
        "body",
        "webhookUrl",
        "executionMode"
      ])
      for (const { name, type } of subject("merge").nodes) {
        if (type !== "n8n-nodes-base.webhook") assert.isUndefined(pinOf(of, subject("merge"), name), name)
      }
    }).pipe(Effect.provide(recorded)))

  it.effect("pins what reaches outside, run by run and output by output, also after it was renamed", () =>
    Effect.gen(function*() {
      const loop = changed("loop", "Inside", { ...sends, name: "Renamed" })
      const inside = pinOf(yield* replay("loop", { subject: loop }), loop, "Renamed")
      assert.deepStrictEqual(inside?.runs.map((run) => run.map((items) => items.length)), [[4], [4], [4]])
      const risky = changed("contErr", "Risky", sends)
      const pin = pinOf(yield* replay("contErr", { subject: risky }), risky, "Risky")
      assert.deepStrictEqual(pin?.runs.map((run) => run.map((items) => items.length)), [[0, 1]])
      const asked = yield* replay("contErr", { subject: risky, running: new Set(["Risky"]) })
      assert.isUndefined(pinOf(asked, risky, "Risky"))
    }).pipe(Effect.provide(recorded)))

  it.effect.each(
    [
      ["continueErrorOutput", [[[], ["error"]]], [undefined]],
      ["continueRegularOutput", [[["error"]]], [undefined]],
      ["stopWorkflow", [[]], ["failed"]]
    ] as const
  )(
    "sends recorded errors the way of the changed version: %s",
    ([onError, expected, errors]) =>
      Effect.gen(function*() {
        const risky = changed("contErr", "Risky", { ...sends, onError })
        const pin = pinOf(yield* replay("contErr", { subject: risky, repeatsFailures: true }), risky, "Risky")
        const kinds = pin?.runs.map((outputs) =>
          outputs.map((items) =>
            items.flatMap((item) => Object.keys(obj(obj(item)?.["json"]) ?? {}).filter((key) => key === "error"))
          )
        )
        assert.deepEqual<unknown>(kinds, expected)
        assert.deepEqual<unknown>(pin?.errors?.map((each) => each === undefined ? each : "failed"), errors)
      }).pipe(Effect.provide(recorded))
  )

  it.effect("leaves out what failed, or did not run, then", () =>
    Effect.gen(function*() {
      const failed = pinOf(yield* replay("httpFail"), subject("httpFail"), "HTTP Request")
      assert.isTrue(failed?.isMissing)
      const { nodes, ...rest } = subject("fail")
      const added = { ...rest, nodes: [...nodes, { name: "New", type: "n8n-nodes-base.httpRequest" }] }
      assert.isTrue(pinOf(yield* replay("fail", { subject: added }), added, "New")?.isMissing)
    }).pipe(Effect.provide(recorded)))

  it.effect("starts in the middle with what that node received", () =>
    Effect.gen(function*() {
      const of = yield* replay("fail", { startNode: "Boom" })
      assert.strictEqual(of.startItems?.length, 120)
      assert.match(yield* refusal("merge", { startNode: "Merge" }), /'Merge' received items by several inputs/)
    }).pipe(Effect.provide(recorded)))

  it.effect("says why there is none", () =>
    Effect.gen(function*() {
      assert.match(yield* refusal("merge", { executionId: "999" }), /Execution '999' not found/)
      assert.match(yield* refusal("merge", { workflowId: "other" }), /is of another workflow/)
      assert.match(
        yield* refusal("merge", { subject: changed("merge", "Webhook", { id: "new", name: "New" }) }),
        /no node 'Webhook', which started execution/
      )
      const elsewhere = yield* replay("merge", { workflowId: "other", startNode: "Webhook" })
      assert.strictEqual(elsewhere.startItems?.length, 1)
    }).pipe(Effect.provide(recorded)))
})
